#include "wrap.h"

#include "mapping/base/names.h"

#include <ctype.h>

enum { MAX_PARAMETERS = 64 };

/* A function's type as libclang writes it: "int (z_streamp, int)". */
struct signature {
    struct pm_str result, parameters[MAX_PARAMETERS];
    uint32_t n_parameters;
};

struct making {
    struct pdt_wrap *wrap;
    struct pm_error *err;
    struct pm_buf own; /* path of the header */
};

/* --- types --- */

static struct pm_str trim(struct pm_str text)
{
    while (text.len && *text.p == ' ')
        text = (struct pm_str){text.p + 1, text.len - 1};
    while (text.len && text.p[text.len - 1] == ' ')
        text.len--;
    return text;
}

/* The opening one of the parenthesis at the text's end; NULL: there is none. */
static const char *find_opening(const char *text)
{
    int depth = 0;
    for (const char *p = text + strlen(text); p-- > text;) {
        depth += (*p == ')') - (*p == '(');
        if (depth == 0)
            return *p == '(' ? p : NULL;
    }
    return NULL;
}

/* Where lists of arguments are arrays, the compiler's own name of their elements is no C. */
static struct pm_str type_text(struct pm_str type)
{
    return memmem(type.p, type.len, "__va_list_tag", 13) ? PM_STR("__builtin_va_list") : type;
}

/* NULL: it can be wrapped; else why not. */
static const char *take_parameters(const char *from, struct signature *signature)
{
    int depth = 0;
    const char *start = from;
    for (const char *p = from;; p++) {
        bool is_end = depth == 0 && *p == ')';
        depth += (*p == '(' || *p == '[') - (*p == ')' || *p == ']');
        if (!is_end && !(depth == 0 && *p == ','))
            continue;
        if (signature->n_parameters == MAX_PARAMETERS)
            return "more than 64 parameters";
        struct pm_str one = trim((struct pm_str){start, (size_t)(p - start)});
        if (pm_str_is(one, "..."))
            return "any number of parameters, which no wrapper can hand on";
        if (!one.len)
            return "no prototype";
        signature->parameters[signature->n_parameters++] = type_text(one);
        start = p + 1;
        if (is_end)
            break;
    }
    if (signature->n_parameters == 1 && pm_str_is(signature->parameters[0], "void"))
        signature->n_parameters = 0;
    return NULL;
}

static const char *read_signature(const char *type, struct signature *ret_signature)
{
    *ret_signature = (struct signature){0};
    if (strstr(type, "noreturn"))
        return "does not return, so it would never be left";
    if (strstr(type, "unnamed") || strstr(type, "anonymous") || strstr(type, "__attribute__"))
        return "its type has no name";
    const char *opening = find_opening(type);
    if (!opening || opening == type)
        return "its type is not known";
    ret_signature->result = trim((struct pm_str){type, (size_t)(opening - type)});
    if (memchr(ret_signature->result.p, '(', ret_signature->result.len))
        return "it returns a pointer to a function";
    return take_parameters(opening + 1, ret_signature);
}

/* --- text --- */

static void add_str(struct pm_buf *out, struct pm_str text)
{
    pm_buf_add(out, text.p, text.len);
}

/* Names in parentheses are no macros'. typeof: types of functions and arrays have
 * their names inside. */
static void add_wrapper(struct pm_buf *out, const char *name, uint32_t line,
                        const struct signature *signature)
{
    bool is_void = pm_str_is(signature->result, "void");
    pm_buf_printf(out, "\n#undef %s\n", name);
    pm_buf_printf(out, "static __typeof__(%s) *real_%s;\n", name, name);
    pm_buf_printf(out, "static struct pm_sentence sentence_%s;\n", name);
    pm_buf_add_str(out, "WRAP_EXPORT __typeof__(");
    add_str(out, signature->result);
    pm_buf_printf(out, ") (%s)(", name);
    for (uint32_t i = 0; i < signature->n_parameters; i++) {
        pm_buf_add_str(out, i ? ", __typeof__(" : "__typeof__(");
        add_str(out, signature->parameters[i]);
        pm_buf_printf(out, ") a%u", i);
    }
    pm_buf_add_str(out, signature->n_parameters ? ")\n{\n" : "void)\n{\n");
    pm_buf_printf(out,
                  "    wrap_find((void **)&real_%s, \"%s\");\n"
                  "    struct pm_sentence sentence = wrap_sentence(&sentence_%s, \"%s\", %u);\n"
                  "    pm_enter(sentence);\n    ",
                  name, name, name, name, line);
    if (!is_void) {
        pm_buf_add_str(out, "__typeof__(");
        add_str(out, signature->result);
        pm_buf_add_str(out, ") result = ");
    }
    pm_buf_printf(out, "real_%s(", name);
    for (uint32_t i = 0; i < signature->n_parameters; i++)
        pm_buf_printf(out, i ? ", a%u" : "a%u", i);
    pm_buf_add_str(out, ");\n    pm_leave(sentence);\n");
    pm_buf_add_str(out, is_void ? "}\n" : "    return result;\n}\n");
}

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

/* Without <> or quotes. */
static void add_file(struct pm_buf *out, const char *header)
{
    pm_buf_add_byte(out, '"');
    pm_buf_add(out, header + 1, strlen(header) - 2);
    pm_buf_add_byte(out, '"');
}

static void add_head(const struct pdt_wrap *wrap)
{
    struct pm_buf *out = wrap->out;
    pm_buf_printf(
        out,
        "/* Made by `perfmap wrap`: which functions of %s run, as {function Executes}.\n"
        " *\n"
        " *     cc -O2 -shared -fPIC -fexceptions $(pkg-config --cflags perfmap) FILE.c -o "
        "FILE.so\n"
        " *     perfmap run --adapter ./FILE.so PROGRAM\n"
        " */\n"
        "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n"
        "#pragma GCC diagnostic ignored \"-Wpragmas\"\n"
        "#pragma GCC diagnostic ignored \"-Wunknown-warning-option\"\n"
        "#pragma GCC diagnostic ignored \"-Wdeprecated-declarations\"\n"
        "#pragma GCC diagnostic ignored \"-Warray-parameter\"\n"
        "#include %s\n\n"
        "#include <dlfcn.h>\n#include <errno.h>\n#include <perfmap.h>\n#include <stdio.h>\n"
        "#include <unistd.h>\n\n"
        "#define WRAP_EXPORT __attribute__((visibility(\"default\")))\n"
        "#define WRAP_LEVEL ",
        wrap->header, wrap->header);
    add_quoted(out, wrap->level);
    pm_buf_add_str(out, "\n#define WRAP_FILE ");
    add_file(out, wrap->header);
    pm_buf_add_str(
        out, "\n\n"
             "/* The function behind this one. A program that asks whether there is one finds "
             "this: calling\n"
             " * what its library lacks ends it, as the loader does. */\n"
             "static void wrap_find(void **real, const char *name)\n"
             "{\n"
             "    void *found = __atomic_load_n(real, __ATOMIC_RELAXED);\n"
             "    if (found)\n"
             "        return;\n"
             "    int kept = errno;\n"
             "    found = dlsym(RTLD_NEXT, name);\n"
             "    errno = kept;\n"
             "    if (!found) {\n"
             "        dprintf(2, \"wrapper: the library has no function '%s'\\n\", name);\n"
             "        _exit(127);\n"
             "    }\n"
             "    __atomic_store_n(real, found, __ATOMIC_RELAXED);\n"
             "}\n\n"
             "/* Made once; equal ones have one id, so threads may do it at the same time. */\n"
             "static struct pm_sentence wrap_sentence(struct pm_sentence *kept, const char *name,\n"
             "                                        uint32_t line_no)\n"
             "{\n"
             "    struct pm_sentence sentence = {__atomic_load_n(&kept->id, __ATOMIC_RELAXED)};\n"
             "    if (sentence.id || !pm_words_of_runtime())\n"
             "        return sentence;\n"
             "    struct pm_level level = pm_define_level(WRAP_LEVEL, \"Source\");\n"
             "    struct pm_noun_facts facts = {name, \"function\", WRAP_FILE, 0, line_no, 0, 0};\n"
             "    struct pm_noun noun = pm_define_noun_at(level, &facts);\n"
             "    sentence = pm_define_sentence(pm_define_verb(level, \"Executes\"), &noun, 1);\n"
             "    __atomic_store_n(&kept->id, sentence.id, __ATOMIC_RELAXED);\n"
             "    return sentence;\n"
             "}\n");
}

/* --- functions --- */

static bool is_wanted(const struct pdt_wrap *wrap, const char *name)
{
    for (size_t i = 0; i < wrap->n_patterns; i++) {
        const struct pm_name_pattern pattern = {.text = wrap->patterns[i], .is_plain_too = true};
        if (pm_name_fits_code(&pattern, name))
            return true;
    }
    return wrap->n_patterns == 0;
}

/* The header, or one in the folder of its name beside it: lzma/base.h of lzma.h. */
static bool is_own(const struct making *making, const char *file)
{
    const char *own = making->own.data;
    size_t len = making->own.len, stem = len;
    while (stem > 0 && own[stem - 1] != '.' && own[stem - 1] != '/')
        stem--;
    return !strcmp(own, file) || (stem > 1 && own[stem - 1] == '.' &&
                                  !strncmp(own, file, stem - 1) && file[stem - 1] == '/');
}

static enum pm_status keep_own(void *context, sqlite3_stmt *row)
{
    struct making *making = context;
    pm_buf_add_str(&making->own, pm_database_text(row, 0));
    return PM_OK;
}

/* 0 name, 1 type, 2 line, 3 file */
static enum pm_status wrap_function(void *context, sqlite3_stmt *row)
{
    struct making *making = context;
    struct pdt_wrap *wrap = making->wrap;
    struct signature signature;
    const char *name = pm_database_text(row, 0);
    if (!is_wanted(wrap, name) || !is_own(making, pm_database_text(row, 3)))
        return PM_OK;
    const char *why = read_signature(pm_database_text(row, 1), &signature);
    if (!why) {
        add_wrapper(wrap->out, name, (uint32_t)sqlite3_column_int64(row, 2), &signature);
        wrap->n_wrapped++;
        return PM_OK;
    }
    char text[400];
    snprintf(text, sizeof text, "%.200s: %s", name, why);
    wrap->n_left_out++;
    if (wrap->note)
        wrap->note(wrap->context, text);
    return PM_OK;
}

static enum pm_status wrap_all(struct pm_database *pdb, struct making *making)
{
    struct pdt_wrap *wrap = making->wrap;
    enum pm_status status = pm_database_each(
        pdb,
        "SELECT f.name FROM main.units u JOIN main.includes i ON i.file = u.file JOIN main.files f "
        "ON f.id = i.included ORDER BY i.line LIMIT 1",
        0, keep_own, making, making->err);
    if (status != PM_OK)
        return status;
    if (!making->own.len)
        return pm_error_set(making->err, PM_ERR_NOT_FOUND, "%s was not read", wrap->header);
    add_head(wrap);
    return pm_database_each(
        pdb,
        "SELECT r.name, (SELECT t.name FROM main.types t WHERE t.id = r.type), r.line, f.name FROM "
        "main.routines r JOIN main.files f ON f.id = r.file WHERE NOT r.is_system AND NOT "
        "r.is_defined AND NOT r.is_inline AND r.linkage = 'external' AND r.kind = 'function' ORDER "
        "BY f.name, r.line, r.id",
        0, wrap_function, making, making->err);
}

enum pm_status pdt_wrap_make(struct pm_database *pdb, struct pdt_wrap *wrap, struct pm_error *err)
{
    struct making making = {.wrap = wrap, .err = err, .own = PM_BUF_INIT(1 << 16)};
    enum pm_status status = wrap_all(pdb, &making);
    bool failed = wrap->out->failed || making.own.failed;
    pm_buf_release(&making.own);
    if (status != PM_OK)
        return status;
    if (failed)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory for the wrappers");
    return wrap->n_wrapped || wrap->n_left_out
               ? PM_OK
               : pm_error_set(err, PM_ERR_NOT_FOUND, "%s declares no such function of C",
                              wrap->header);
}
