/* perfmap pif */
#include "cmd/core/cmd.h"
#include "pif.h"

#include "mapping/base/json.h"

#include <errno.h>
#include <libsmartcols/libsmartcols.h>

enum { OPT_SUMMARY = CMD_KEY_FIRST, OPT_CHECK, OPT_MAP, OPT_AT };
enum { MAX_KINDS = 256 };

struct pif_request {
    bool json, summary, check, map;
    const char *at;     /* part of the late map; NULL: all of it */
    const char *output; /* NULL: stdout */
    char **files;
    int n_files;
    struct pm_code_map *code_map; /* NULL: not asked for */
};

/* --- reading --- */

/* Adds one file's records. A binary without them says what to do. */
static enum pm_status read_one(struct pm_pif *pif, const char *path, struct pm_error *err,
                               uint64_t *n_sleds)
{
    size_t n = 0;
    enum pm_status status;
    if (cmd_file_kind(path) != CMD_FILE_BINARY) {
        status = pm_pif_read_file(pif, path, err);
        if (status == PM_ERR_FORMAT)
            cmd_add_file_hint(path, CMD_FILE_BINARY, err);
        return status;
    }
    status = pm_pif_read_elf(pif, path, err, &n);
    if (status == PM_ERR_NOT_FOUND)
        pm_error_add(err, "compile it with -fplugin=$(perfmap plugin-path)");
    else if (status == PM_OK)
        *n_sleds += n;
    return status;
}

/* --- --summary --- */

struct kind_count {
    const char *level, *kind; /* lent by the PIF */
    size_t n;
};

struct summary {
    struct kind_count kinds[MAX_KINDS];
    size_t n_kinds;
    size_t n_other; /* nouns of kinds beyond MAX_KINDS */
};

static void summary_add(struct summary *summary, const char *level, const char *kind)
{
    for (size_t i = 0; i < summary->n_kinds; i++)
        if (strcmp(summary->kinds[i].level, level) == 0 &&
            strcmp(summary->kinds[i].kind, kind) == 0) {
            summary->kinds[i].n++;
            return;
        }
    if (summary->n_kinds == MAX_KINDS)
        summary->n_other++;
    else
        summary->kinds[summary->n_kinds++] = (struct kind_count){level, kind, 1};
}

static int by_level_and_kind(const void *a, const void *b)
{
    const struct kind_count *x = a, *y = b;
    int order = strcmp(x->level, y->level);
    return order ? order : strcmp(x->kind, y->kind);
}

static void summary_make(const struct pm_pif *pif, struct summary *ret_summary)
{
    *ret_summary = (struct summary){0};
    for (size_t i = 0; i < pm_pif_n_nouns(pif); i++) {
        struct pm_pif_noun noun;
        pm_pif_get_noun(pif, i, &noun);
        summary_add(ret_summary, noun.level ? noun.level : "", noun.kind ? noun.kind : "");
    }
    qsort(ret_summary->kinds, ret_summary->n_kinds, sizeof *ret_summary->kinds, by_level_and_kind);
}

static void print_summary_json(const struct pm_pif *pif, const struct summary *summary,
                               uint64_t n_sleds, FILE *out)
{
    struct pm_json json;
    pm_json_init(&json, out);
    pm_json_object(&json, NULL);
    pm_json_string(&json, "producer", pm_pif_producer(pif));
    pm_json_u64(&json, "n_nouns", pm_pif_n_nouns(pif));
    pm_json_u64(&json, "n_verbs", pm_pif_n_verbs(pif));
    pm_json_u64(&json, "n_mappings", pm_pif_n_mappings(pif));
    pm_json_u64(&json, "n_sleds", n_sleds);
    pm_json_array(&json, "kinds");
    for (size_t i = 0; i < summary->n_kinds; i++) {
        pm_json_object(&json, NULL);
        pm_json_string(&json, "level", summary->kinds[i].level);
        pm_json_string(&json, "kind", summary->kinds[i].kind);
        pm_json_u64(&json, "n_nouns", summary->kinds[i].n);
        pm_json_end(&json);
    }
    pm_json_end(&json);
    pm_json_end(&json);
    (void)pm_json_done(&json); /* a failed write shows on the stream */
}

static bool add_row(struct libscols_table *table, const char *level, const char *kind, size_t n)
{
    char number[24];
    struct libscols_line *line = scols_table_new_line(table, NULL);
    snprintf(number, sizeof number, "%zu", n);
    return line && scols_line_set_data(line, 0, level) == 0 &&
           scols_line_set_data(line, 1, kind) == 0 && scols_line_set_data(line, 2, number) == 0;
}

static enum pm_status print_summary_table(const struct pm_pif *pif, const struct summary *summary,
                                          uint64_t n_sleds, FILE *out, struct pm_error *err)
{
    struct libscols_table *table = scols_new_table();
    bool ok = table && scols_table_new_column(table, "LEVEL", 0, 0) &&
              scols_table_new_column(table, "KIND", 0, 0) &&
              scols_table_new_column(table, "NOUNS", 0, SCOLS_FL_RIGHT);
    for (size_t i = 0; ok && i < summary->n_kinds; i++)
        ok = add_row(table, *summary->kinds[i].level ? summary->kinds[i].level : "-",
                     *summary->kinds[i].kind ? summary->kinds[i].kind : "-", summary->kinds[i].n);
    if (ok && summary->n_other)
        ok = add_row(table, "-", "(more kinds)", summary->n_other);
    if (ok) {
        fprintf(out, "producer: %s\n", *pm_pif_producer(pif) ? pm_pif_producer(pif) : "not stated");
        fprintf(out, "nouns: %zu, verbs: %zu, mappings: %zu, sleds: %llu\n", pm_pif_n_nouns(pif),
                pm_pif_n_verbs(pif), pm_pif_n_mappings(pif), (unsigned long long)n_sleds);
        scols_table_set_stream(table, out);
        ok = summary->n_kinds == 0 || scols_print_table(table) == 0;
    }
    scols_unref_table(table);
    return ok ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* --- --json --- */

static void json_id(struct pm_json *json, const char *key, pm_id id)
{
    char text[17]; /* as text: more than the 53 bits that JSON readers keep */
    snprintf(text, sizeof text, "%016llx", (unsigned long long)id);
    pm_json_string(json, key, text);
}

static void json_text(struct pm_json *json, const char *key, const char *text)
{
    if (text)
        pm_json_string(json, key, text);
}

static void json_number(struct pm_json *json, const char *key, uint32_t number)
{
    if (number)
        pm_json_u64(json, key, number);
}

static void json_noun(struct pm_json *json, const struct pm_pif *pif,
                      const struct pm_pif_noun *noun)
{
    pm_json_object(json, NULL);
    json_id(json, "id", noun->id);
    json_text(json, "name", noun->name);
    json_text(json, "level", noun->level);
    json_text(json, "kind", noun->kind);
    json_text(json, "description", noun->description);
    json_text(json, "type", noun->type);
    json_text(json, "linkage", noun->linkage);
    json_text(json, "file", noun->file);
    json_number(json, "line", noun->line);
    json_number(json, "column", noun->column);
    json_number(json, "end_line", noun->end_line);
    if (noun->parent)
        json_id(json, "parent", noun->parent);
    json_text(json, "address", noun->address);
    const char *key, *value;
    bool any = pm_pif_nth_attribute(pif, noun->id, 0, &key, &value);
    if (any)
        pm_json_object(json, "attributes");
    for (size_t n = 0; pm_pif_nth_attribute(pif, noun->id, n, &key, &value); n++)
        pm_json_string(json, key, value);
    if (any)
        pm_json_end(json);
    pm_json_end(json);
}

static void json_sentence(struct pm_json *json, const char *key,
                          const struct pm_pif_sentence *sentence)
{
    pm_json_object(json, key);
    json_id(json, "verb", sentence->verb);
    pm_json_array(json, "nouns");
    for (uint32_t i = 0; i < sentence->n_nouns && i < PM_PIF_MAX_NOUNS; i++)
        json_id(json, NULL, sentence->nouns[i]);
    pm_json_end(json);
    pm_json_end(json);
}

static void json_verbs(struct pm_json *json, const struct pm_pif *pif)
{
    pm_json_array(json, "verbs");
    for (size_t i = 0; i < pm_pif_n_verbs(pif); i++) {
        struct pm_pif_verb verb;
        pm_pif_get_verb(pif, i, &verb);
        pm_json_object(json, NULL);
        json_id(json, "id", verb.id);
        json_text(json, "name", verb.name);
        json_text(json, "level", verb.level);
        json_text(json, "description", verb.description);
        pm_json_end(json);
    }
    pm_json_end(json);
}

static void json_mappings(struct pm_json *json, const struct pm_pif *pif)
{
    pm_json_array(json, "mappings");
    for (size_t i = 0; i < pm_pif_n_mappings(pif); i++) {
        struct pm_pif_mapping mapping;
        pm_pif_get_mapping(pif, i, &mapping);
        pm_json_object(json, NULL);
        json_sentence(json, "source", &mapping.source);
        json_sentence(json, "destination", &mapping.destination);
        if (mapping.weight > 0)
            pm_json_double(json, "weight", mapping.weight);
        json_text(json, "origin", mapping.origin);
        pm_json_end(json);
    }
    pm_json_end(json);
}

static void print_json(const struct pm_pif *pif, uint64_t n_sleds, FILE *out)
{
    struct pm_json json;
    pm_json_init(&json, out);
    pm_json_object(&json, NULL);
    pm_json_string(&json, "producer", pm_pif_producer(pif));
    pm_json_u64(&json, "n_sleds", n_sleds);
    pm_json_array(&json, "levels");
    for (size_t i = 0; i < pm_pif_n_levels(pif); i++) {
        const char *name, *above;
        pm_pif_get_level(pif, i, &name, &above);
        pm_json_object(&json, NULL);
        pm_json_string(&json, "name", name);
        json_text(&json, "above", above);
        pm_json_end(&json);
    }
    pm_json_end(&json);
    pm_json_array(&json, "nouns");
    for (size_t i = 0; i < pm_pif_n_nouns(pif); i++) {
        struct pm_pif_noun noun;
        pm_pif_get_noun(pif, i, &noun);
        json_noun(&json, pif, &noun);
    }
    pm_json_end(&json);
    json_verbs(&json, pif);
    json_mappings(&json, pif);
    pm_json_end(&json);
    (void)pm_json_done(&json);
}

/* --- the command --- */

static enum pm_status print_pif(const struct pm_pif *pif, const struct pif_request *request,
                                uint64_t n_sleds, FILE *out, struct pm_error *err)
{
    if (request->code_map)
        return pif_map_print(request->files[0], request->code_map, pif, request->at, request->json,
                             out, err);
    if (request->summary) {
        struct summary summary;
        summary_make(pif, &summary);
        if (!request->json)
            return print_summary_table(pif, &summary, n_sleds, out, err);
        print_summary_json(pif, &summary, n_sleds, out);
    } else if (request->json) {
        print_json(pif, n_sleds, out);
    } else {
        struct pm_buf text = PM_BUF_INIT((size_t)4 << 30);
        pm_pif_write_text(pif, &text);
        bool failed = text.failed;
        if (!failed && text.len)
            fwrite(text.data, 1, text.len, out);
        pm_buf_release(&text);
        if (failed)
            return pm_error_set(err, PM_ERR_MEMORY, "out of memory for the text of %zu nouns",
                                pm_pif_n_nouns(pif));
    }
    return PM_OK;
}

/* Through memory, so that the file appears whole or not at all. */
static enum pm_status print_to_file(const struct pm_pif *pif, const struct pif_request *request,
                                    uint64_t n_sleds, struct pm_error *err)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return pm_error_system(err, errno, "cannot make text");
    enum pm_status status = print_pif(pif, request, n_sleds, out, err);
    bool failed = ferror(out) != 0;
    failed |= fclose(out) != 0;
    if (status == PM_OK && failed)
        status = pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    if (status == PM_OK)
        status = pm_file_write(request->output, text, len, err);
    free(text);
    return status;
}

static enum pm_status check_one(const char *path, struct pm_error *err)
{
    struct pm_pif *pif = pm_pif_new();
    uint64_t n_sleds = 0;
    enum pm_status status = pif ? read_one(pif, path, err, &n_sleds)
                                : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    if (status == PM_OK)
        printf("%s: sound; %zu nouns, %zu verbs, %zu mappings\n", path, pm_pif_n_nouns(pif),
               pm_pif_n_verbs(pif), pm_pif_n_mappings(pif));
    pm_pif_free(pif);
    return status;
}

/* Every file is checked, also after a bad one. */
static int check_all(struct cmd_parse *parse, const struct pif_request *request)
{
    int end = CMD_DONE;
    for (int i = 0; i < request->n_files; i++) {
        struct pm_error err = PM_ERROR_INIT;
        if (check_one(request->files[i], &err) != PM_OK) {
            fflush(stdout);
            end = cmd_fail(parse, &err);
        }
    }
    return cmd_stdout_done(parse, end);
}

static enum pm_status read_all(struct pm_pif *pif, const struct pif_request *request,
                               struct pm_error *err, uint64_t *n_sleds)
{
    for (int i = 0; i < request->n_files; i++) {
        enum pm_status status = read_one(pif, request->files[i], err, n_sleds);
        if (status != PM_OK)
            return status;
    }
    return pm_pif_failed(pif) ? pm_error_set(err, PM_ERR_MEMORY, "out of memory") : PM_OK;
}

/* The late map of the one file, and the facts that its names are in. */
static enum pm_status read_map(struct pm_pif *pif, struct pif_request *request,
                               struct pm_error *err)
{
    const char *path = request->files[0];
    enum pm_status status = pm_code_map_read_elf(path, err, &request->code_map);
    if (status == PM_ERR_NOT_FOUND)
        pm_error_add(err, "compile it with -fplugin=$(perfmap plugin-path)");
    if (status == PM_ERR_FORMAT)
        cmd_add_file_hint(path, CMD_FILE_BINARY, err);
    if (status != PM_OK)
        return status;
    size_t n_damaged;
    const char *problem = pm_code_map_problem(request->code_map, &n_damaged);
    if (problem)
        cmd_talk("warning: '%s': %zu damaged block%s left out of the late map; the first: %s", path,
                 n_damaged, n_damaged == 1 ? " was" : "s were", problem);
    struct pm_error facts_err = PM_ERROR_INIT;
    status = pm_pif_read_elf(pif, path, &facts_err, NULL);
    if (status == PM_ERR_MEMORY) {
        status = pm_error_set(err, status, "%s", pm_error_text(&facts_err));
    } else if (status != PM_OK) { /* the map stands without names */
        cmd_talk("warning: ids are shown instead of names: %s", pm_error_text(&facts_err));
        status = PM_OK;
    }
    pm_error_release(&facts_err);
    return status;
}

static int print_all(struct cmd_parse *parse, struct pif_request *request)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_pif *pif = pm_pif_new();
    uint64_t n_sleds = 0;
    enum pm_status status = !pif           ? pm_error_set(&err, PM_ERR_MEMORY, "out of memory")
                            : request->map ? read_map(pif, request, &err)
                                           : read_all(pif, request, &err, &n_sleds);
    if (status == PM_OK)
        status = request->output ? print_to_file(pif, request, n_sleds, &err)
                                 : print_pif(pif, request, n_sleds, stdout, &err);
    pm_pif_free(pif);
    pm_code_map_free(request->code_map);
    return status == PM_OK ? cmd_stdout_done(parse, CMD_DONE) : cmd_fail(parse, &err);
}

static int pif_main(struct cmd_parse *parse)
{
    struct pif_request request = {0};
    for (int key; (key = cmd_next(parse)) != CMD_END;)
        switch (key) {
        case CMD_KEY_JSON:
            request.json = true;
            break;
        case OPT_SUMMARY:
            request.summary = true;
            break;
        case OPT_CHECK:
            request.check = true;
            break;
        case OPT_MAP:
            request.map = true;
            break;
        case OPT_AT:
            request.at = parse->value;
            break;
        case 'o':
            request.output = parse->value;
            break;
        }
    if (parse->failed)
        return CMD_USAGE;
    if (parse->n_operands == 0)
        return cmd_usage_error(parse, "expected a binary, an object or a PIF file");
    if (request.at && !request.map)
        return cmd_usage_error(parse, "option '--at' goes with '--map'");
    if (request.map && (request.summary || request.check))
        return cmd_usage_error(parse, "option '--map' does not go with '--%s'",
                               request.summary ? "summary" : "check");
    if (request.map && parse->n_operands > 1)
        return cmd_usage_error(parse, "option '--map' takes one binary, not %d", parse->n_operands);
    if (request.check && (request.json || request.summary || request.output))
        return cmd_usage_error(parse, "option '--check' goes with no other option");
    request.files = parse->operands;
    request.n_files = parse->n_operands;
    return request.check ? check_all(parse, &request) : print_all(parse, &request);
}

static const struct cmd_option pif_options[] = {
    {OPT_SUMMARY, "summary", NULL,
     "instead of the records, how many nouns of each level and kind there are"},
    {OPT_CHECK, "check", NULL, "only read each file and say whether it is valid"},
    {OPT_MAP, "map", NULL,
     "the late map of a program or library instead. For each range of its code: the statement, "
     "inlined functions, innermost loop, what it reads and writes, and which other statements it "
     "implements too, and why"},
    {OPT_AT, "at", "ADDRESS|SYMBOL",
     "with --map: only the code at this address (0x...), or of this symbol or function"},
    {CMD_KEY_JSON, "json", NULL, "as JSON; ids are strings of 16 hexadecimal digits"},
    {'o', "output", "FILE",
     "write to this file instead of standard output; it is replaced as a whole"},
    {0}};

static const struct cmd_example pif_examples[] = {
    {"perfmap pif ./heat", "what the compiler said about the program"},
    {"perfmap pif --summary ./heat", "how many functions, loops, arrays, ... it named"},
    {"perfmap pif --map --at sweep ./heat", "which statements and arrays its code implements"},
    {"perfmap pif --check mine.pif", "is a file written by hand valid?"},
    {NULL, NULL}};

const struct cmd cmd_pif = {
    .name = "pif",
    .summary = "print the compiler's facts about a program",
    .usage = (const char *const[]){"pif [--summary] [--json] [-o FILE] FILE...",
                                   "pif --map [--at ADDRESS|SYMBOL] [--json] [-o FILE] BINARY",
                                   "pif --check FILE...", NULL},
    .description =
        "Prints the static facts that the compiler plugin left in a program, library or object: "
        "nouns (functions, loops, "
        "statements, arrays, ...), verbs, and the mappings between levels, in PIF, the text format "
        "of Irvin and Miller's "
        "paper with PerfMap's additions. PIF files are read too; several files join into one.",
    .options = pif_options,
    .examples = pif_examples,
    .main = pif_main};
