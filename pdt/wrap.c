#include "wrap.h"
#include "wrap_roles.h"
#include "wrap_text.h"

#include "mapping/base/names.h"

#include <ctype.h>

enum way { WAY_FORWARD, WAY_V_FORM, WAY_COUNT, WAY_NONE };

struct making {
    const struct pdt_header *header;
    struct pdt_wrap *wrap;
    bool has_stub;
};

static void note(const struct pdt_wrap *wrap, const char *format, ...) PM_PRINTF(2, 3);
static void note(const struct pdt_wrap *wrap, const char *format, ...)
{
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (wrap->note)
        wrap->note(wrap->context, text);
}

/* --- which functions, and how --- */

static bool is_wanted(const struct pdt_wrap *wrap, const char *name)
{
    for (size_t i = 0; i < wrap->n_patterns; i++) {
        const struct pm_name_pattern pattern = {.text = wrap->patterns[i], .is_plain_too = true};
        if (pm_name_fits_code(&pattern, name))
            return true;
    }
    return wrap->n_patterns == 0;
}

static bool is_exported(const struct pdt_wrap *wrap, const char *symbol)
{
    return !wrap->is_exported || wrap->is_exported(wrap->context, symbol);
}

/* By name, as compilers know setjmp; by attributes, what the header says. */
static const char *refusal(const struct pdt_function *function)
{
    static const char twice[] = "it returns twice, the second time to a wrapper that is gone";
    static const char caller[] = "it looks at who calls it, and would find the wrapper";
    static const char memory[] = "its memory would be gone with the wrapper";
    static const struct {
        const char *name, *why;
    } refused[] = {{"setjmp", twice},
                   {"sigsetjmp", twice},
                   {"savectx", twice},
                   {"vfork", twice},
                   {"getcontext", twice},
                   {"dlsym", caller},
                   {"dlvsym", caller},
                   {"dlopen", caller},
                   {"dlmopen", caller},
                   {"alloca", memory},
                   {"errno_location", "every wrapper needs it to keep errno"}};
    const char *plain = function->name + strspn(function->name, "_");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (!strcmp(plain, refused[i].name))
            return refused[i].why;
    if (function->unwrappable)
        return function->unwrappable;
    return function->is_noreturn ? "does not return, so it would never be left" : NULL;
}

/* "sqlite3_vmprintf" of "sqlite3_mprintf": with one v more. */
static bool is_v_name(const char *plain, const char *with_v)
{
    size_t at = 0;
    while (plain[at] && plain[at] == with_v[at])
        at++;
    return with_v[at] == 'v' && !strcmp(plain + at, with_v + at + 1);
}

/* The function that takes as a list what this one takes one by one: of the same types otherwise. */
static const struct pdt_function *v_form(const struct making *making,
                                         const struct pdt_function *function)
{
    for (uint32_t i = 0; i < making->header->n_functions; i++) {
        const struct pdt_function *other = &making->header->functions[i];
        if (!is_v_name(function->name, other->name) || other->is_variadic || other->unwritable ||
            other->unwrappable || other->is_defined ||
            other->n_parameters != function->n_parameters + 1 ||
            strcmp(other->result, function->result) != 0 ||
            !strstr(other->parameters[function->n_parameters].type, "va_list") ||
            !is_exported(making->wrap, other->symbol))
            continue;
        uint32_t k = 0;
        while (k < function->n_parameters &&
               !strcmp(function->parameters[k].type, other->parameters[k].type))
            k++;
        if (k == function->n_parameters)
            return other;
    }
    return NULL;
}

/* Glibc has two names for one where sizes of files have 64 bits. */
static const char *earlier_of_symbol(const struct pdt_header *header,
                                     const struct pdt_function *function)
{
    for (const struct pdt_function *other = header->functions; other < function; other++)
        if (!other->is_defined && !strcmp(other->symbol, function->symbol))
            return other->name;
    return NULL;
}

/* What `ld --wrap` calls the function behind; what is not wrapped keeps its name. */
static bool is_wrapped(const struct making *making, const struct pdt_function *function)
{
    const struct pdt_role *role = pdt_roles_find(making->wrap->roles, function->name);
    return !function->is_defined && is_wanted(making->wrap, function->name) &&
           is_exported(making->wrap, function->symbol) && !refusal(function) &&
           !earlier_of_symbol(making->header, function) && !(role && role->is_skipped);
}

static enum way way_of(const struct making *making, const struct pdt_function *function,
                       const struct pdt_function **ret_behind)
{
    const struct pdt_wrap *wrap = making->wrap;
    const struct pdt_role *role = pdt_roles_find(wrap->roles, function->name);
    const char *why = refusal(function);
    const char *same = earlier_of_symbol(making->header, function);
    *ret_behind = function;
    if (why)
        note(wrap, "left out: %.200s: %s", function->name, why);
    else if (same)
        note(wrap, "left out: %.200s: the same symbol as %.200s", function->name, same);
    else if (role && role->is_skipped)
        note(wrap, "left out: %.200s: its annotation says so", function->name);
    if (why || same || (role && role->is_skipped))
        return WAY_NONE;
    if (!function->is_variadic && !function->unwritable && function->has_prototype)
        return WAY_FORWARD;
    const struct pdt_function *list = role && role->forward
                                          ? pdt_header_find(making->header, role->forward)
                                          : v_form(making, function);
    if (function->is_variadic && function->n_parameters && list && !function->unwritable) {
        *ret_behind = list;
        return WAY_V_FORM;
    }
    if (!wrap->include)
        return WAY_COUNT;
    why = function->has_prototype ? function->unwritable : "no prototype";
    if (function->is_variadic)
        why = "any number of parameters, which no wrapper can hand on";
    note(wrap, "counted only: %.200s: %s: its time is that of its caller%s", function->name, why,
         role ? ", and its annotation does not apply" : "");
    return WAY_COUNT;
}

/* --- text --- */

/* The level's name is written into C. */
static void add_quoted(struct pm_buf *out, const char *text)
{
    pm_buf_add_byte(out, '"');
    for (; *text; text++)
        if (strchr("\"\\", *text) || iscntrl((unsigned char)*text))
            pm_buf_printf(out, "\\%03o", (unsigned char)*text);
        else
            pm_buf_add_byte(out, (unsigned char)*text);
    pm_buf_add_byte(out, '"');
}

/* As PIF has it, whose escapes are others. */
static void add_quoted_pif(struct pm_buf *out, const char *text)
{
    pm_buf_add_byte(out, '"');
    for (; *text; text++)
        if (strchr("\"\\", *text))
            pm_buf_printf(out, "\\%c", *text);
        else if (iscntrl((unsigned char)*text))
            pm_buf_printf(out, "\\x%02x", (unsigned char)*text);
        else
            pm_buf_add_byte(out, (unsigned char)*text);
    pm_buf_add_byte(out, '"');
}

/* How it becomes a library, or an object. */
static void add_how(const struct pdt_wrap *wrap)
{
    static const char library[] =
        " *     cc -O2 -shared -fPIC -fexceptions $(pkg-config --cflags perfmap) FILE.c -o "
        "FILE.so\n"
        " *     perfmap run --adapter ./FILE.so PROGRAM\n"
        " */\n";
    static const char object[] =
        " *     cc -O2 -c -fPIC -fexceptions $(pkg-config --cflags perfmap) FILE.c -o FILE.o\n"
        " *\n"
        " * and FILE.o to the program, with -Wl,--wrap=NAME of each.\n"
        " */\n"
        "#define WRAP_LINK 1\n";
    pm_buf_add_str(wrap->out, wrap->is_link ? object : library);
}

static void add_head(const struct pdt_wrap *wrap, const char *lines)
{
    const char *from = wrap->include ? wrap->include : wrap->library;
    struct pm_buf *out = wrap->out;
    pm_buf_printf(out,
                  "/* Made by `perfmap wrap`: which functions of %s run, as {function Executes}.\n"
                  " *\n",
                  from);
    add_how(wrap);
    pm_buf_add_str(out, "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n"
                        "#pragma GCC diagnostic ignored \"-Wpragmas\"\n"
                        "#pragma GCC diagnostic ignored \"-Wunknown-warning-option\"\n"
                        "#pragma GCC diagnostic ignored \"-Wdeprecated-declarations\"\n"
                        "#pragma GCC diagnostic ignored \"-Warray-parameter\"\n"
                        "#pragma GCC diagnostic ignored \"-Wnonnull-compare\"\n");
    if (lines)
        pm_buf_printf(out, "%s\n", lines);
    pm_buf_add_str(out, "#define WRAP_LEVEL ");
    add_quoted(out, wrap->level);
    pm_buf_add_str(out, "\n\n");
    pm_buf_add_str(out, pdt_wrap_head);
    if (wrap->roles)
        pm_buf_add_str(out, pdt_wrap_role);
}

/* "__typeof__(int) a0, ...". typeof: types of functions and arrays have their names inside. */
static void add_parameters(struct pm_buf *out, const struct pdt_function *function, bool has_names)
{
    for (uint32_t i = 0; i < function->n_parameters; i++) {
        pm_buf_printf(out, "%s__typeof__(%s)", i ? ", " : "", function->parameters[i].type);
        if (has_names)
            pm_buf_printf(out, " a%u", i);
    }
    if (function->is_variadic)
        pm_buf_add_str(out, ", ...");
    if (!function->n_parameters)
        pm_buf_add_str(out, "void");
}

/* Through a pointer without the attributes of the function: a call of what is declared pure might
 * move out of enter and leave. */
static void add_call(struct pm_buf *out, const struct pdt_function *function,
                     const struct pdt_function *behind)
{
    pm_buf_printf(out, "((__typeof__(%s) (*)(", behind->result);
    add_parameters(out, behind, false);
    pm_buf_printf(out, "))wrap_%s.real)(", function->name);
    for (uint32_t i = 0; i < function->n_parameters; i++)
        pm_buf_printf(out, i ? ", a%u" : "a%u", i);
    pm_buf_add_str(out, behind != function ? ", list);\n" : ");\n");
}

/* Names in parentheses are no macros'. */
static void add_prototype(struct pm_buf *out, const struct pdt_function *function,
                          const char *prefix)
{
    pm_buf_printf(out, "WRAP_EXPORT __typeof__(%s) (%s%s)(", function->result, prefix,
                  function->name);
    add_parameters(out, function, true);
    pm_buf_add_str(out, ")");
}

static void add_wrapper(const struct pdt_wrap *wrap, const struct pdt_function *function,
                        const struct pdt_function *behind)
{
    struct pm_buf *out = wrap->out;
    const struct pdt_role *role = pdt_roles_find(wrap->roles, function->name);
    bool is_void = !strcmp(function->result, "void"), is_list = behind != function;
    bool has_other_name = wrap->is_link || function->has_complex;
    if (has_other_name) {
        add_prototype(out, function, "wrapper_");
        pm_buf_printf(out, " __asm__(\"%s%s\");\n", wrap->is_link ? "__wrap_" : "",
                      function->symbol);
    }
    add_prototype(out, function, has_other_name ? "wrapper_" : "");
    pm_buf_add_str(out, "\n{\n");
    wrap_roles_enter(out, function, role);
    pm_buf_printf(out, "    struct pm_sentence sentence = wrap_enter(&wrap_%s);\n", function->name);
    wrap_roles_begin(out, function, role);
    if (is_list)
        pm_buf_printf(out, "    __builtin_va_list list;\n    __builtin_va_start(list, a%u);\n",
                      function->n_parameters - 1);
    pm_buf_add_str(out, "    ");
    if (!is_void)
        pm_buf_printf(out, "__typeof__(%s) result = ", function->result);
    add_call(out, function, behind);
    if (is_list)
        pm_buf_add_str(out, "    __builtin_va_end(list);\n");
    wrap_roles_end(out, function, role);
    pm_buf_add_str(out, "    wrap_leave(sentence);\n");
    wrap_roles_leave(out, role);
    pm_buf_add_str(out, is_void ? "}\n" : "    return result;\n}\n");
}

static void add_stub(struct making *making, const struct pdt_function *function)
{
    struct pm_buf *out = making->wrap->out;
    pm_buf_printf(out,
                  "static __attribute__((used)) void *wrap_count_%s(void)\n{\n"
                  "    return wrap_count(&wrap_%s);\n}\n"
                  "WRAP_STUB(\"%s%s\", \"wrap_count_%s\");\n",
                  function->id, function->id, making->wrap->is_link ? "__wrap_" : "",
                  function->symbol, function->id);
}

/* As it is included: lzma.h, lzma/base.h; a path where it is elsewhere. */
static void add_file(const struct pdt_wrap *wrap, const struct pdt_function *function)
{
    if (function->file && *function->file == '/') {
        add_quoted(wrap->out, function->file);
        return;
    }
    struct pm_buf path = PM_BUF_INIT(1 << 16);
    struct pm_str whole = pm_str_of(wrap->library);
    if (wrap->include)
        whole = (struct pm_str){wrap->include + 1, strlen(wrap->include) - 2};
    const char *slash = function->file ? memrchr(whole.p, '/', whole.len) : NULL;
    if (function->file)
        whole.len = slash ? (size_t)(slash - whole.p) + 1 : 0;
    pm_buf_printf(&path, "%.*s%s", (int)whole.len, whole.p, function->file ? function->file : "");
    add_quoted(wrap->out, path.data ? path.data : "");
    wrap->out->failed |= path.failed;
    pm_buf_release(&path);
}

static void add_facts(struct making *making, const struct pdt_function *function,
                      const struct pdt_function *behind)
{
    struct pdt_wrap *wrap = making->wrap;
    const char *name = function->id;
    pm_buf_printf(wrap->out, "\n#undef %s\n", name);
    if (wrap->is_link) {
        pm_buf_printf(wrap->out, "void wrap_real_%s(void) __asm__(\"%s%s\");\n", name,
                      is_wrapped(making, behind) ? "__real_" : "", behind->symbol);
        pm_buf_printf(wrap->options, "-Wl,--wrap=%s\n", function->symbol);
    }
    pm_buf_printf(wrap->out, "static struct wrap_function wrap_%s = {", name);
    pm_buf_printf(wrap->out, wrap->is_link ? "(void *)wrap_real_%s" : "0", name);
    pm_buf_printf(wrap->out, ", {0}, %u, ", function->line_no);
    add_quoted(wrap->out, function->name);
    pm_buf_printf(wrap->out, ", \"%s\", ", behind->symbol);
    add_file(wrap, function);
    pm_buf_add_str(wrap->out, "};\n");
}

static void wrap_function(struct making *making, const struct pdt_function *function)
{
    struct pdt_wrap *wrap = making->wrap;
    const struct pdt_function *behind;
    if (function->is_defined || !is_wanted(wrap, function->name))
        return;
    if (!is_exported(wrap, function->symbol)) {
        wrap->n_not_exported++;
        return;
    }
    enum way way = way_of(making, function, &behind);
    wrap->n_wrapped += way != WAY_NONE;
    wrap->n_left_out += way == WAY_NONE;
    if (way == WAY_NONE)
        return;
    if (way == WAY_COUNT && !making->has_stub)
        pm_buf_add_str(wrap->out, pdt_wrap_stub);
    making->has_stub |= way == WAY_COUNT;
    add_facts(making, function, behind);
    if (way == WAY_COUNT)
        add_stub(making, function);
    else
        add_wrapper(wrap, function, behind);
}

/* What was done for the header to be read at all. */
static void note_reading(const struct pdt_header *header, const struct pdt_wrap *wrap)
{
    if (header->has_usual)
        note(wrap,
             "%.300s does not compile alone: stdio.h, stddef.h, stdint.h and such are included "
             "before it",
             wrap->include);
    if (header->is_of_others)
        note(wrap, "%.300s declares no function: those of the headers that it includes are taken",
             wrap->include);
}

static enum pm_status finish(const struct pdt_wrap *wrap, struct pm_error *err)
{
    if (wrap->out->failed || (wrap->is_link && wrap->options->failed))
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory for the wrappers");
    if (wrap->n_not_exported && !wrap->n_wrapped && !wrap->n_left_out)
        return pm_error_set(err, PM_ERR_NOT_FOUND,
                            "the library exports none of the functions that %s declares",
                            wrap->include);
    if (wrap->n_wrapped || wrap->n_left_out)
        return PM_OK;
    if (!wrap->include)
        return pm_error_set(err, PM_ERR_NOT_FOUND,
                            "'%s' exports no such function of C++ (patterns are of names without "
                            "parameters)",
                            wrap->library);
    return pm_error_set(err, PM_ERR_NOT_FOUND,
                        wrap->n_patterns ? "%s declares no function of C whose name fits"
                                         : "%s declares no function of C",
                        wrap->include);
}

enum pm_status pdt_wrap_make(const struct pdt_header *header, struct pdt_wrap *wrap,
                             struct pm_error *err)
{
    struct making making = {.header = header, .wrap = wrap};
    if (wrap->roles) {
        enum pm_status status = wrap_roles_check(wrap->roles, header, err);
        if (status != PM_OK)
            return status;
    }
    note_reading(header, wrap);
    add_head(wrap, header->lines);
    for (uint32_t i = 0; i < header->n_functions; i++)
        wrap_function(&making, &header->functions[i]);
    return finish(wrap, err);
}

/* --- of sleds --- */

/* The source has no record here, so that it is the function that the compiler's facts name. */
static void map_function(const struct pdt_wrap *wrap, const struct pdt_function *function)
{
    struct pm_buf *out = wrap->out;
    pm_buf_printf(out, "NOUN\n  name = %s\n  abstraction = ", function->name);
    add_quoted_pif(out, wrap->level);
    pm_buf_add_str(out, "\n  kind = function\n  file = ");
    add_file(wrap, function);
    pm_buf_printf(out,
                  "\n  line = %u\nMAPPING\n  source = {Source::%s, Source::Executes}\n"
                  "  destination = {",
                  function->line_no, function->name);
    add_quoted_pif(out, wrap->level);
    pm_buf_printf(out, "::%s, ", function->name);
    add_quoted_pif(out, wrap->level);
    pm_buf_add_str(out, "::Executes}\n  origin = user\n");
}

enum pm_status pdt_wrap_make_pif(const struct pdt_header *header, struct pdt_wrap *wrap,
                                 struct pm_error *err)
{
    note_reading(header, wrap);
    pm_buf_add_str(wrap->out, "PIF 1 perfmap-wrap\nLEVEL\n  name = ");
    add_quoted_pif(wrap->out, wrap->level);
    pm_buf_add_str(wrap->out, "\n  above = Source\n");
    for (uint32_t i = 0; i < header->n_functions; i++) {
        const struct pdt_function *function = &header->functions[i];
        const struct pdt_role *role = pdt_roles_find(wrap->roles, function->name);
        bool is_skipped = role && role->is_skipped;
        if (function->is_defined || !is_wanted(wrap, function->name))
            continue;
        wrap->n_not_exported += !is_exported(wrap, function->symbol);
        wrap->n_left_out += is_skipped;
        if (is_skipped || !is_exported(wrap, function->symbol))
            continue;
        map_function(wrap, function);
        wrap->n_wrapped++;
    }
    return finish(wrap, err);
}
