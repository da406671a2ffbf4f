/* Where the facts go: the section .perfmap.pif of the object, and NAME.pif beside it.
 *
 * With -flto the early facts must go through the byte code, for the linker never sees the other
 * sections of such an object: they travel as a top-level asm. The object itself gets them too, so
 * that `perfmap pif foo.o` can tell.
 */
#include "facts.h"

extern "C" {
#include "../emit/facts_text.h"
}

/* --- the section --- */

static void section_text(const struct pm_facts *facts, struct pm_buf *text)
{
    pm_facts_section(facts, text);
    if (text->failed)
        pm_no_memory();
}

enum { MAX_TEXT_BYTES = INT_MAX - 1 };

static bool has_facts(const struct pm_facts *facts)
{
    return pm_pif_n_nouns(facts->pif) != 0;
}

/* All functions have been read; byte code is not written yet. */
static void put_into_byte_code(void *, void *)
{
    if (!in_lto_p && !seen_error()) {
        pm_fact_tables();
        pm_fortran_facts(pm_facts_early()->pif);
    }
    if (!flag_generate_lto || in_lto_p || seen_error() || !pm_options.section ||
        !has_facts(pm_facts_early()))
        return;
    struct pm_buf text = PM_BUF_INIT(MAX_TEXT_BYTES);
    section_text(pm_facts_early(), &text);
    symtab->finalize_toplevel_asm(build_string((int)text.len + 1, text.data));
    pm_buf_release(&text);
}

static void put_into_object(void)
{
    if (asm_out_file == NULL || !pm_options.section)
        return;
    bool slim = flag_generate_lto && !in_lto_p && !flag_fat_lto_objects;
    const struct pm_facts *facts = slim ? pm_facts_early() : pm_facts_late();
    if (!has_facts(facts))
        return;
    struct pm_buf text = PM_BUF_INIT((size_t)1 << 32);
    section_text(facts, &text);
    fwrite(text.data, 1, text.len, asm_out_file);
    pm_buf_release(&text);
}

/* --- the .pif file --- */

/* The arguments that the user gave the driver, which leaves them in the environment, each in ''
 * with '\'' for a quote. */
static std::vector<std::string> driver_arguments(void)
{
    std::vector<std::string> arguments;
    const char *p = getenv("COLLECT_GCC_OPTIONS");
    bool in_quotes = false, open = false;
    std::string argument;
    for (; p != NULL && *p != 0; p++) {
        if (*p == '\'') {
            in_quotes = !in_quotes;
            open = true;
        } else if (*p == '\\' && !in_quotes && p[1] != 0) {
            argument += *++p;
        } else if (*p == ' ' && !in_quotes) {
            if (open)
                arguments.push_back(argument);
            argument.clear();
            open = false;
        } else {
            argument += *p;
            open = true;
        }
    }
    if (open)
        arguments.push_back(argument);
    return arguments;
}

/* What the driver makes: the object's (or assembler file's) name; empty when none is kept. */
static std::string kept_output(void)
{
    bool keeps = false;
    std::string output;
    std::vector<std::string> arguments = driver_arguments();
    for (size_t i = 0; i < arguments.size(); i++) {
        if (arguments[i] == "-c" || arguments[i] == "-S")
            keeps = true;
        else if (arguments[i] == "-o" && i + 1 < arguments.size())
            output = arguments[++i];
    }
    if (!keeps || !output.empty() || main_input_filename[0] == '<') /* standard input */
        return keeps ? output : "";
    return lbasename(main_input_filename);
}

/* Not a warning() of GCC's: -Werror shall not fail a compilation for a full disk. */
static void write_pif(const struct pm_facts *facts)
{
    struct pm_buf warning = PM_BUF_INIT((size_t)1 << 20);
    if (!in_lto_p &&
        !pm_facts_keep(facts, &pm_options, main_input_filename, kept_output().c_str(), &warning))
        fprintf(stderr, "%s\n", warning.data);
    pm_buf_release(&warning);
}

/* The .pif file holds early and late facts, also where the section must keep them apart. */
static void join_late_facts(void)
{
    if (pm_facts_late() == pm_facts_early())
        return;
    struct pm_error err = PM_ERROR_INIT;
    if (pm_facts_join(pm_facts_early(), pm_facts_late(), &err) != PM_OK)
        fatal_error(UNKNOWN_LOCATION, "perfmap: %s", pm_error_text(&err));
}

static void write_facts(void *, void *)
{
    if (seen_error() || flag_syntax_only || flag_wpa)
        return;
    pm_fortran_call_facts(pm_facts_late()->pif);
    put_into_object();
    join_late_facts();
    write_pif(pm_facts_early());
}

void pm_facts_out_register(const char *plugin_name)
{
    register_callback(plugin_name, PLUGIN_ALL_IPA_PASSES_START, put_into_byte_code, NULL);
    register_callback(plugin_name, PLUGIN_FINISH_UNIT, write_facts, NULL);
}
