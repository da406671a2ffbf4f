/* The late map of one function as assembler text: blocks of format/pm_map.h.
 *
 * Written after the function's own text, while its section is the current one, so that "?" puts the block into the function's
 * group, and never as a part of the function: nothing that decides about code sees it. "o" ties the section to the one that holds
 * the code, so that linkers collect both or none; blocks of code in one section share a section of blocks. The assembler works out
 * all lengths.
 */
#include "map_block.h"

/* --- positions in a block's tables: in the order of first use --- */

template <class key> struct table {
    std::vector<key> items;
    std::map<key, unsigned> positions;

    unsigned position_of(key item)
    {
        auto entry = positions.insert({item, (unsigned)items.size()});
        if (entry.second)
            items.push_back(item);
        return entry.first->second;
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
    std::map<int, unsigned> written; /* tuple -> its number in the block */
    int site;
    struct pm_point place;
    unsigned file, loop;
};

static void add_number(std::string *out, uint64_t number)
{
    char digits[24];
    snprintf(digits, sizeof digits, ",%llu", (unsigned long long)number);
    *out += digits;
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

/* 0 the function itself, else the number of the site and one. Those around it come first. */
static unsigned site_number(struct block *block, int site)
{
    if (site < 0)
        return 0;
    auto known = block->sites.positions.find(site);
    if (known != block->sites.positions.end())
        return known->second + 1;
    site_number(block, block->map->sites[(size_t)site].parent);
    function_position(block, block->map->sites[(size_t)site].function);
    return block->sites.position_of(site) + 1;
}

/* --- tuples --- */

static void add_objects(struct block *block, const std::vector<struct pm_access> &objects,
                        std::string *out)
{
    add_number(out, objects.size());
    for (const struct pm_access &object : objects)
        add_number(out, (uint64_t)block->objects.position_of(object.noun) << 3 | object.access);
}

/* The other statements' functions have their nouns from the early facts, for only there statements are. */
static void add_also(struct block *block, const struct pm_map_tuple *tuple, std::string *out)
{
    add_number(out, tuple->also.size());
    for (const struct pm_fused &also : tuple->also) {
        add_number(out, (uint64_t)also.reason << 1 | also.inferred);
        add_number(out, block->functions.position_of(also.function));
        add_number(out, file_position(block, &also.place));
        add_difference(out, also.place.line, tuple->place.line);
        add_number(out, also.place.column);
    }
}

static void add_tuple(struct block *block, const struct pm_map_tuple *tuple, std::string *out)
{
    unsigned flags = (unsigned)tuple->kind << PM_MAP_KIND_SHIFT;
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

/* One line a range: its length, and which tuple. */
static void add_ranges(struct block *block)
{
    const struct pm_map_part *part = block->part;
    std::string *out = &block->ranges;
    for (size_t i = 0; i < part->ranges.size(); i++) {
        const struct pm_map_range *range = &part->ranges[i];
        *out += "\t.uleb128 ";
        add_label(out, i + 1 < part->ranges.size() ? part->ranges[i + 1].label : part->end);
        *out += '-';
        add_label(out, range->label);
        auto entry = block->written.insert({range->tuple, block->n_tuples});
        if (entry.second) {
            block->n_tuples++;
            add_number(out, 0);
            add_tuple(block, &block->map->tuples[(size_t)range->tuple], out);
        } else {
            add_number(out, block->n_tuples - entry.first->second);
        }
        *out += '\n';
    }
}

/* --- the block --- */

static void write_ids(const char *what, const std::vector<pm_id> &ids)
{
    fprintf(asm_out_file, "\t.uleb128 %u%s%s\n", (unsigned)ids.size(), "\t# ", what);
    for (pm_id id : ids)
        fprintf(asm_out_file, "\t.8byte 0x%llx\n", (unsigned long long)id);
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

/* The section of code that a part lies in. */
static section *section_of(const struct pm_map_part *part)
{
    bool saved = in_cold_section_p;
    in_cold_section_p = part->is_cold;
    section *result = current_function_section();
    in_cold_section_p = saved;
    return result;
}

/* A label in the same section as the part's code, the same one for all of this section. */
static std::string link_label(const struct pm_map_part *part)
{
    static std::map<section *, std::string> labels;
    std::string *label = &labels[section_of(part)];
    if (label->empty())
        add_label(label, part->end);
    return *label;
}

static void write_header(const struct pm_map_part *part, pm_id symbol, unsigned number)
{
    std::string begin;
    add_label(&begin, part->begin);
    fprintf(asm_out_file, "\t.pushsection " PM_MAP_SECTION ",\"o?\",@progbits,%s\n",
            link_label(part).c_str());
    fprintf(asm_out_file, ".Lpm_map%u:\n\t.ascii \"" PM_MAP_MAGIC "\"\n\t.2byte %u,%u\n", number,
            PM_MAP_VERSION, part->is_cold ? PM_MAP_BLOCK_COLD : 0);
    fprintf(asm_out_file, "\t.4byte .Lpm_map_end%u-.Lpm_map%u\n\t.8byte %s,0x%llx\n", number,
            number, begin.c_str(), (unsigned long long)symbol);
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
    add_ranges(&block);
    std::string sites = site_text(&block);
    unsigned number = n_blocks++;
    write_header(part, pm_symbol_id(function_decl), number);
    write_ids("functions", block.functions.items);
    write_ids("files", block.files.items);
    write_ids("loops", block.loops.items);
    write_ids("objects", block.objects.items);
    fprintf(asm_out_file, "\t.uleb128 %u\n", (unsigned)block.sites.items.size());
    fputs(sites.c_str(), asm_out_file);
    fputs(block.ranges.c_str(), asm_out_file);
    fprintf(asm_out_file, ".Lpm_map_end%u:\n\t.popsection\n", number);
}

/* A local name for the symbol: a reference to the symbol itself could be bound to another definition. */
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
