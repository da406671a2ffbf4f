/* The late map of one function goes to the assembler file, in the form of plugin/emit/map_block.h.
 *
 * It is written after the function's own text, while its section is the current one, so that "?"
 * puts the block into the function's group, and never as a part of the function: nothing that
 * decides about code sees it. "o" ties the section to the one that holds the code, so that
 * linkers collect both or none; blocks of code in one section share a section of blocks, and ids.
 */
#include "map_lists.h"

static std::string label_name(int number)
{
    char label[32];
    ASM_GENERATE_INTERNAL_LABEL(label, "L", (unsigned)number);
    return label[0] == '*' ? label + 1 : label;
}

static void add_label(struct pm_buf *out, int number)
{
    pm_buf_add_str(out, label_name(number).c_str());
}

static void write_text(struct pm_buf *text)
{
    if (text->failed)
        pm_no_memory();
    fwrite(text->data, 1, text->len, asm_out_file);
    pm_buf_clear(text);
}

static struct pm_buf output = PM_BUF_INIT(INT_MAX);

/* --- sections --- */

static std::map<section *, struct pm_map_section *> sections;

/* The section of code that a part lies in. */
static section *section_of(const struct pm_map_part_list *part)
{
    bool saved = in_cold_section_p;
    in_cold_section_p = part->is_cold;
    section *result = current_function_section();
    in_cold_section_p = saved;
    return result;
}

/* The global symbol from which addresses of the section are written: a function's, or a hidden
 * one made for it. A weak function that is in no group may be another object's. */
static std::string anchor_of(tree function_decl, const struct pm_map_part_list *part, bool is_first,
                             const char *label)
{
    const char *name = XSTR(XEXP(DECL_RTL(function_decl), 0), 0);
    if (is_first && TREE_PUBLIC(function_decl) && name[0] != '*' &&
        (!DECL_WEAK(function_decl) || DECL_COMDAT_GROUP(function_decl) != NULL_TREE))
        return name;
    const char *options = getenv("COLLECT_GCC_OPTIONS");
    /* "gcc a.c b.c": of one call, and a function of a header may be the first of both. */
    std::string unit = options != NULL ? options : "";
    if (main_input_filename != NULL)
        unit += std::string(" ") + main_input_filename;
    char anchor[PM_MAP_ANCHOR_BYTES];
    /* In lto1 the symbol's name is enough: it is the only one in the program. */
    const char *folder = in_lto_p ? NULL : get_src_pwd();
    pm_map_anchor_name(pm_symbol_id(function_decl), part->is_cold, folder, unit.c_str(), anchor);
    pm_map_anchor_write(anchor, label, &output);
    write_text(&output);
    return anchor;
}

static struct pm_map_section *map_section_of(tree function_decl,
                                             const struct pm_map_part_list *part, bool is_first)
{
    struct pm_map_section **found = &sections[section_of(part)];
    if (*found != NULL)
        return *found;
    std::string begin = label_name(part->begin), end = label_name(part->end);
    std::string anchor = anchor_of(function_decl, part, is_first, begin.c_str());
    bool shares = !flag_function_sections && DECL_COMDAT_GROUP(function_decl) == NULL_TREE;
    *found = pm_map_section_new((unsigned)sections.size(), end.c_str(), anchor.c_str(),
                                begin.c_str(), shares);
    if (*found == NULL)
        pm_no_memory();
    return *found;
}

/* When all functions are written. */
static void write_shared_ids(void *, void *)
{
    for (const auto &entry : sections) {
        if (entry.second == NULL || seen_error())
            continue;
        pm_map_ids_write(entry.second, &output);
        write_text(&output);
    }
}

void pm_map_out_register(const char *plugin_name)
{
    register_callback(plugin_name, PLUGIN_FINISH_UNIT, write_shared_ids, NULL);
}

/* --- the function --- */

/* A local name for the symbol: a reference to the symbol itself could be bound to another
 * definition. */
static void name_begin(tree function_decl, int label)
{
    fprintf(asm_out_file, "\t.set %s,", label_name(label).c_str());
    assemble_name(asm_out_file, XSTR(XEXP(DECL_RTL(function_decl), 0), 0));
    fputc('\n', asm_out_file);
}

static void write_part(tree function_decl, const struct pm_map_function *map,
                       const struct pm_map_part_list *part, bool is_first)
{
    static struct pm_map_encoder *encoder;
    if (encoder == NULL)
        encoder = pm_map_encoder_new(pm_facts_late(), add_label);
    if (encoder == NULL)
        pm_no_memory();
    struct pm_map_part ranges = {part->is_cold, part->begin, part->end, part->ranges.data(),
                                 (uint32_t)part->ranges.size()};
    pm_map_block_write(encoder, map, &ranges, map_section_of(function_decl, part, is_first),
                       &output);
    write_text(&output);
}

void pm_map_write(tree function_decl, const struct pm_map_sets *sets,
                  const std::vector<struct pm_map_part_list> &parts)
{
    struct pm_map_function map = pm_map_sets_function(sets, pm_symbol_id(function_decl));
    switch_to_section(current_function_section()); /* of the function's group */
    for (size_t i = 0; i < parts.size(); i++) {
        const struct pm_map_part_list *part = &parts[i];
        if (i == 0)
            name_begin(function_decl, part->begin);
        if (!part->ranges.empty())
            write_part(function_decl, &map, part, i == 0);
    }
}
