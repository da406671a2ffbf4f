/* The late map of one function as assembler text: blocks of format/pm_map.h.
 *
 * Written after the function's own text, while its section is the current one, so that "?" puts
 * the block into the function's group, and never as a part of the function: nothing that decides
 * about code sees it. "o" ties the section to the one that holds the code, so that linkers
 * collect both or none; blocks of code in one section share a section of blocks, and ids. The
 * assembler works out all lengths.
 */
#include "map_block.h"
#include "table.h"

/* --- positions in a block's tables: in the order of first use --- */

template <class key> struct table {
    std::vector<key> items;
    struct pm_table<key, unsigned> positions;

    unsigned position_of(key item)
    {
        bool is_new;
        unsigned position = *positions.add(item, (unsigned)items.size(), &is_new);
        if (is_new)
            items.push_back(item);
        return position;
    }
};

struct block {
    const struct pm_map_function *map;
    const struct pm_map_part *part;
    table<pm_id> functions, files, loops, objects;
    table<int> sites; /* indices of map->sites */
    std::string ranges;
    /* The newest tuple written, as the next one refers to it. */
    unsigned n_tuples;
    std::vector<unsigned> written; /* by tuple: its number in the block and one; 0: not yet */
    int site;
    struct pm_point place;
    unsigned file, loop;
};

static void add_number(std::string *out, uint64_t number)
{
    char digits[24], *p = digits + sizeof digits;
    do
        *--p = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    *--p = ',';
    out->append(p, (size_t)(digits + sizeof digits - p));
}

static uint64_t zigzag(int64_t number)
{
    return number < 0 ? ((uint64_t) - (number + 1) << 1) + 1 : (uint64_t)number << 1;
}

static void add_difference(std::string *out, unsigned line, unsigned from)
{
    add_number(out, zigzag((int64_t)line - (int64_t)from));
}

static void add_label(std::string *out, int number)
{
    char label[32];
    ASM_GENERATE_INTERNAL_LABEL(label, "L", (unsigned)number);
    *out += label[0] == '*' ? label + 1 : label;
}

/* --- nouns, which the facts must hold --- */

static unsigned function_position(struct block *block, const struct pm_source_function *function)
{
    size_t n = block->functions.items.size();
    unsigned position = block->functions.position_of(function->id);
    if (position == n)
        pm_fact_function(pm_facts_late(), function);
    return position;
}

static unsigned file_position(struct block *block, const struct pm_place *place)
{
    return block->files.position_of(pm_fact_file(pm_facts_late(), place->file, place->shown));
}

/* 0 the function itself, else the number of the site and one. */
static unsigned site_number(struct block *block, int site)
{
    return site >= 0 ? block->sites.position_of(site) + 1 : 0;
}

static unsigned site_depth(const struct pm_map_function *map, int site)
{
    unsigned depth = 0;
    for (; site >= 0; site = map->sites[(size_t)site].parent)
        depth++;
    return depth;
}

/* Those around a site come before it; then by line, for their lines are written as differences. */
static void number_sites(struct block *block)
{
    const struct pm_map_function *map = block->map;
    std::set<int> used;
    for (const struct pm_map_range &range : block->part->ranges) {
        for (int site = map->tuples[(size_t)range.tuple].site; site >= 0;
             site = map->sites[(size_t)site].parent)
            used.insert(site);
    }
    std::vector<std::pair<std::pair<unsigned, unsigned>, int>> order;
    for (int site : used)
        order.push_back({{site_depth(map, site), map->sites[(size_t)site].call.line}, site});
    std::sort(order.begin(), order.end());
    for (const auto &entry : order)
        site_number(block, entry.second);
}

/* What is touched by most tuples gets the small numbers: 1 % of the whole. */
static void number_objects(struct block *block)
{
    std::vector<bool> seen(block->map->tuples.size());
    std::vector<unsigned> counts;
    table<pm_id> nouns;
    for (const struct pm_map_range &range : block->part->ranges) {
        if (seen[(size_t)range.tuple])
            continue;
        seen[(size_t)range.tuple] = true;
        int set = block->map->tuples[(size_t)range.tuple].objects;
        for (const struct pm_access &object : block->map->objects[(size_t)set]) {
            unsigned at = nouns.position_of(object.noun);
            counts.resize(nouns.items.size());
            counts[at]++;
        }
    }
    std::vector<std::pair<unsigned, pm_id>> order;
    for (size_t i = 0; i < counts.size(); i++)
        order.push_back({UINT_MAX - counts[i], nouns.items[i]});
    std::sort(order.begin(), order.end());
    for (const auto &entry : order)
        block->objects.position_of(entry.second);
}

/* --- tuples --- */

/* What sleds and padding would say of place and loop means nothing: it stays what it was. */
static bool has_place(const struct pm_map_tuple *tuple)
{
    return tuple->kind != PM_MAP_SLED && tuple->kind != PM_MAP_PADDING;
}

static void add_objects(struct block *block, const std::vector<struct pm_access> &objects,
                        std::string *out)
{
    add_number(out, objects.size());
    for (const struct pm_access &object : objects)
        add_number(out, (uint64_t)block->objects.position_of(object.noun) << 3 | object.access);
}

/* A function of a system header of which all code is lost has no noun yet. */
static void add_also(struct block *block, const struct pm_map_tuple *tuple, std::string *out)
{
    add_number(out, tuple->also.size());
    for (const struct pm_fused &also : tuple->also) {
        add_number(out, (uint64_t)also.reason << 1 | also.inferred);
        add_number(out, function_position(block, also.function));
        add_number(out, file_position(block, &also.place));
        add_difference(out, also.place.line, tuple->place.line);
        add_number(out, also.place.column);
    }
}

static void add_tuple(struct block *block, const struct pm_map_tuple *tuple, std::string *out)
{
    unsigned flags = (unsigned)tuple->kind << PM_MAP_KIND_SHIFT;
    if (!has_place(tuple)) {
        add_number(out, flags);
        return;
    }
    struct pm_point place = {tuple->place.line, tuple->place.column};
    unsigned file = tuple->place.line != 0 ? file_position(block, &tuple->place) : block->file;
    unsigned loop = tuple->loop != 0 ? block->loops.position_of(tuple->loop) + 1 : 0;
    const std::vector<struct pm_access> &objects = block->map->objects[(size_t)tuple->objects];
    flags |= tuple->site != block->site ? PM_MAP_SITE : 0;
    flags |= !pm_point_same(place, block->place) ? PM_MAP_PLACE : 0;
    flags |= file != block->file ? PM_MAP_FILE : 0;
    flags |= loop != block->loop ? PM_MAP_LOOP : 0;
    flags |= !objects.empty() ? PM_MAP_OBJECTS : 0;
    flags |= !tuple->also.empty() ? PM_MAP_ALSO : 0;
    flags |= tuple->unnamed ? PM_MAP_UNNAMED : 0;
    add_number(out, flags);
    if (flags & PM_MAP_SITE)
        add_number(out, site_number(block, tuple->site));
    if (flags & PM_MAP_PLACE) {
        add_difference(out, place.line, block->place.line);
        add_number(out, place.column);
    }
    if (flags & PM_MAP_FILE)
        add_number(out, file);
    if (flags & PM_MAP_LOOP)
        add_number(out, loop);
    if (flags & PM_MAP_OBJECTS)
        add_objects(block, objects, out);
    if (flags & PM_MAP_ALSO)
        add_also(block, tuple, out);
    block->site = tuple->site;
    block->place = place;
    block->file = file;
    block->loop = loop;
}

/* Of each range its length, and which tuple. */
static void add_ranges(struct block *block)
{
    enum { RANGES_IN_LINE = 16 };
    const struct pm_map_part *part = block->part;
    std::string *out = &block->ranges;
    block->written.assign(block->map->tuples.size(), 0);
    for (size_t i = 0; i < part->ranges.size(); i++) {
        const struct pm_map_range *range = &part->ranges[i];
        *out += i % RANGES_IN_LINE == 0 ? (i == 0 ? "\t.uleb128 " : "\n\t.uleb128 ") : ",";
        add_label(out, i + 1 < part->ranges.size() ? part->ranges[i + 1].label : part->end);
        *out += '-';
        add_label(out, range->label);
        unsigned *written = &block->written[(size_t)range->tuple];
        if (*written == 0) {
            *written = ++block->n_tuples;
            add_number(out, 0);
            add_tuple(block, &block->map->tuples[(size_t)range->tuple], out);
        } else {
            add_number(out, block->n_tuples - *written + 1);
        }
    }
    *out += '\n';
}

/* --- sections --- */

/* The blocks of one section of code, and the ids that they share. */
struct block_section {
    std::string label; /* in the section of code */
    unsigned number;
    bool shares;                      /* its blocks are collected or kept as one */
    std::string anchor, anchor_label; /* see name_anchor */
    table<pm_id> ids;
};

static std::map<section *, struct block_section> block_sections;

/* The section of code that a part lies in. */
static section *section_of(const struct pm_map_part *part)
{
    bool saved = in_cold_section_p;
    in_cold_section_p = part->is_cold;
    section *result = current_function_section();
    in_cold_section_p = saved;
    return result;
}

/* gold refuses references from here to local symbols of code that it has dropped, to global ones
 * it does not. So the addresses of a section are distances from one global symbol: a function's,
 * or a hidden one made for it. A weak function that is in no group may be another object's. */
static void name_anchor(tree function_decl, const struct pm_map_part *part, bool is_first,
                        struct block_section *of)
{
    add_label(&of->anchor_label, part->begin);
    const char *name = XSTR(XEXP(DECL_RTL(function_decl), 0), 0);
    if (is_first && TREE_PUBLIC(function_decl) && name[0] != '*' &&
        (!DECL_WEAK(function_decl) || DECL_COMDAT_GROUP(function_decl) != NULL_TREE)) {
        of->anchor = name;
        return;
    }
    const char *options = getenv("COLLECT_GCC_OPTIONS");
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, part->is_cold ? "cold" : "hot");
    pm_id_hash_id(&hash, pm_symbol_id(function_decl));
    if (!in_lto_p) { /* there the symbol's name is enough: it is the only one in the program */
        pm_id_hash_string(&hash, get_src_pwd());
        pm_id_hash_string(&hash, options != NULL ? options : "");
    }
    char anchor[48];
    snprintf(anchor, sizeof anchor, "__perfmap_code_%016llx",
             (unsigned long long)pm_id_hash_done(&hash));
    of->anchor = anchor;
    /* Of no size, not the function's that the label is: debuggers show the symbol that has one. */
    fprintf(asm_out_file,
            "\t.weak %s\n\t.hidden %s\n\t.set %s,%s\n\t.type %s,@notype\n\t.size %s,0\n", anchor,
            anchor, anchor, of->anchor_label.c_str(), anchor, anchor);
}

static std::string address_text(const struct block_section *of, int label)
{
    std::string begin;
    add_label(&begin, label);
    return of->anchor + "+(" + begin + "-" + of->anchor_label + ")";
}

static struct block_section *block_section_of(tree function_decl, const struct pm_map_part *part,
                                              bool is_first)
{
    struct block_section *found = &block_sections[section_of(part)];
    if (found->label.empty()) {
        add_label(&found->label, part->end);
        found->number = (unsigned)block_sections.size();
        bool in_group = DECL_COMDAT_GROUP(function_decl) != NULL_TREE;
        found->shares = !flag_function_sections && !in_group;
        name_anchor(function_decl, part, is_first, found);
    }
    return found;
}

/* "o" ties it to the code, "?" puts it into the code's group. */
static void open_section(const struct block_section *of, const char *flags)
{
    fprintf(asm_out_file, "\t.pushsection " PM_MAP_SECTION ",\"%s\",@progbits,%s\n", flags,
            of->label.c_str());
}

static void write_header(const char *name, unsigned number, unsigned flags, const char *address,
                         pm_id symbol)
{
    fprintf(asm_out_file, ".Lpm_%s%u:\n\t.ascii \"" PM_MAP_MAGIC "\"\n\t.2byte %u,%u\n", name,
            number, PM_MAP_VERSION, flags);
    fprintf(asm_out_file, "\t.4byte .Lpm_%s_end%u-.Lpm_%s%u\n\t.8byte %s,0x%llx\n", name, number,
            name, number, address, (unsigned long long)symbol);
}

static void write_end(const char *name, unsigned number)
{
    fprintf(asm_out_file, ".Lpm_%s_end%u:\n\t.popsection\n", name, number);
}

static void write_ids(const std::vector<pm_id> &ids)
{
    fprintf(asm_out_file, "\t.uleb128 %u\n", (unsigned)ids.size());
    for (pm_id id : ids)
        fprintf(asm_out_file, "\t.8byte 0x%llx\n", (unsigned long long)id);
}

/* When all functions are written. */
static void write_shared_ids(void *, void *)
{
    for (const auto &entry : block_sections) {
        const struct block_section *of = &entry.second;
        if (of->ids.items.empty() || seen_error())
            continue;
        open_section(of, "o");
        write_header("ids", of->number, PM_MAP_BLOCK_IDS, "0", 0);
        write_ids(of->ids.items);
        write_end("ids", of->number);
    }
}

void pm_map_out_register(const char *plugin_name)
{
    register_callback(plugin_name, PLUGIN_FINISH_UNIT, write_shared_ids, NULL);
}

/* --- the block --- */

static void write_table(struct block_section *of, const std::vector<pm_id> &ids)
{
    if (!of->shares) {
        write_ids(ids);
        return;
    }
    fprintf(asm_out_file, "\t.uleb128 %u", (unsigned)ids.size());
    for (pm_id id : ids)
        fprintf(asm_out_file, ",%u", of->ids.position_of(id));
    fputc('\n', asm_out_file);
}

static std::string site_text(struct block *block)
{
    std::string text;
    unsigned line_before = 0;
    for (int index : block->sites.items) {
        const struct pm_map_site *site = &block->map->sites[(size_t)index];
        std::string numbers;
        add_number(&numbers, site_number(block, site->parent));
        add_number(&numbers, function_position(block, site->function));
        add_number(&numbers, site->call.line != 0 ? file_position(block, &site->call) : 0);
        add_difference(&numbers, site->call.line, line_before);
        add_number(&numbers, site->call.column);
        line_before = site->call.line;
        text += "\t.uleb128 " + numbers.substr(1) + '\n';
    }
    return text;
}

/* The ranges are worked out first: they say what is in the tables. */
static void write_part(tree function_decl, const struct pm_map_function *map,
                       const struct pm_map_part *part)
{
    static unsigned n_blocks;
    struct block block = {};
    block.map = map;
    block.part = part;
    block.site = -1;
    function_position(&block, pm_source_function_of(function_decl));
    number_sites(&block);
    number_objects(&block);
    add_ranges(&block);
    std::string sites = site_text(&block);
    struct block_section *of = block_section_of(function_decl, part, part == &map->parts.front());
    unsigned number = n_blocks++;
    std::string begin = address_text(of, part->begin);
    open_section(of, "o?");
    unsigned flags = part->is_cold ? PM_MAP_BLOCK_COLD : 0;
    flags |= of->shares ? PM_MAP_BLOCK_SHARED : 0;
    write_header("map", number, flags, begin.c_str(), pm_symbol_id(function_decl));
    if (of->shares)
        fprintf(asm_out_file, "\t.4byte .Lpm_ids%u-.Lpm_map%u\n", of->number, number);
    write_table(of, block.functions.items);
    write_table(of, block.files.items);
    write_table(of, block.loops.items);
    write_table(of, block.objects.items);
    fprintf(asm_out_file, "\t.uleb128 %u\n", (unsigned)block.sites.items.size());
    fputs(sites.c_str(), asm_out_file);
    fputs(block.ranges.c_str(), asm_out_file);
    write_end("map", number);
}

/* A local name for the symbol: a reference to the symbol itself could be bound to another
 * definition. */
static void name_begin(tree function_decl, int label)
{
    std::string name;
    add_label(&name, label);
    fprintf(asm_out_file, "\t.set %s,", name.c_str());
    assemble_name(asm_out_file, XSTR(XEXP(DECL_RTL(function_decl), 0), 0));
    fputc('\n', asm_out_file);
}

void pm_map_write(tree function_decl, const struct pm_map_function *map)
{
    switch_to_section(current_function_section()); /* of the function's group */
    for (size_t i = 0; i < map->parts.size(); i++) {
        if (i == 0)
            name_begin(function_decl, map->parts[i].begin);
        if (!map->parts[i].ranges.empty())
            write_part(function_decl, map, &map->parts[i]);
    }
}
