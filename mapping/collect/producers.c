#include "producers.h"

#include "binaries.h"
#include "collector.h"
#include "process.h"
#include "writer.h"

#include "mapping/debuginfo/producers.h"
#include "mapping/pif/pif.h"

#include <stdlib.h>

enum { MOST_NAMES = 4, MOST_BINARIES = 16 };

/* Different ones, in the order of their texts. */
struct names {
    char texts[MOST_NAMES][48];
    uint32_t n;
};

struct found {
    struct names compilers, opts;
};

static void add_name(struct names *names, const char *text)
{
    uint32_t at = 0;
    while (at < names->n && strcmp(names->texts[at], text) < 0)
        at++;
    if (names->n == MOST_NAMES || (at < names->n && !strcmp(names->texts[at], text)))
        return;
    memmove(names->texts[at + 1], names->texts[at], (names->n - at) * sizeof *names->texts);
    snprintf(names->texts[at], sizeof *names->texts, "%.47s", text);
    names->n++;
}

/* "12.2.0" of "GNU C17 12.2.0 -O2"; empty where there is none. */
static struct pm_str version_in(const char *text)
{
    for (const char *p = text; *p; p++)
        if ((p == text || p[-1] == ' ') && *p >= '0' && *p <= '9')
            return (struct pm_str){p, strspn(p, "0123456789.")};
    return (struct pm_str){"", 0};
}

static void add_compiler(struct names *names, const char *word, struct pm_str version)
{
    char text[48];
    int len = version.len < 20 ? (int)version.len : 20;
    snprintf(text, sizeof text, "%s%s%.*s", word, len ? " " : "", len, version.p);
    add_name(names, text);
}

/* "O2" of the last of its options -O...; the first is preset. */
static void find_opt(const char *options, char ret_opt[8])
{
    for (const char *p = options; (p = strstr(p, " -O")) != NULL; p += 3) {
        size_t len = strcspn(p + 2, " ");
        if (len < 8)
            snprintf(ret_opt, 8, "%.*s", (int)len, p + 2);
    }
    if (!strcmp(ret_opt, "O"))
        snprintf(ret_opt, 8, "O1");
}

/* GCC notes its options always, Clang when it is asked to. Assembler has no level. */
static bool visit(void *context, const char *producer)
{
    struct found *found = context;
    const char *clang = strstr(producer, "clang version"), *flang = strstr(producer, "flang");
    bool is_gcc = !strncmp(producer, "GNU ", 4) && strncmp(producer, "GNU AS", 6) != 0;
    char opt[8] = "";
    snprintf(opt, sizeof opt, "%s", is_gcc ? "O0" : "");
    if (!is_gcc && !clang && !flang)
        return true;
    const char *other = clang ? "Clang" : "Flang";
    add_compiler(&found->compilers, is_gcc ? "GCC" : other, version_in(producer));
    find_opt(producer, opt);
    if (*opt)
        add_name(&found->opts, opt);
    return true;
}

/* "perfmap-gcc12 0.1": what the plugin ran in. */
static void add_by_facts(struct found *found, const struct collect_binary *binary)
{
    const char *producer = pm_pif_producer(binary->pif);
    if (!strncmp(producer, "perfmap-gcc", 11))
        add_compiler(&found->compilers, "GCC", version_in(producer + 11));
    else if (!strncmp(producer, "perfmap-clang", 13))
        add_compiler(&found->compilers, "Clang", version_in(producer + 13));
}

static enum pm_status look_at(const struct collect_binary *binary, struct found *found,
                              struct pm_error *err)
{
    char build_id[129] = "";
    for (size_t i = 0; i < binary->build_id.len && i < 64; i++)
        snprintf(build_id + 2 * i, 3, "%02x", (unsigned char)binary->build_id.p[i]);
    uint32_t n = found->compilers.n;
    enum pm_status status = pm_debug_producers(binary->path, build_id, visit, found, err);
    if (status == PM_ERR_MEMORY)
        return status;
    pm_error_release(err); /* what cannot be read was told by who looks up code in it */
    if (found->compilers.n == n && binary->pif)
        add_by_facts(found, binary);
    return PM_OK;
}

static bool has_facts(const struct collect_binary *binary)
{
    return binary->row && binary->same && binary->n_sleds && !strcmp(binary->pif_state, "read");
}

/* Those with facts; without any the program, which is the first that was met. */
static uint32_t choose(const struct collect_binaries *all,
                       const struct collect_binary *ret_chosen[MOST_BINARIES])
{
    const struct collect_binary *program = NULL;
    uint32_t n = 0;
    for (const struct collect_binary *b = all->first; b; b = b->next) {
        if (b->row && b->same && !b->is_runtime)
            program = b;
        if (has_facts(b) && n < MOST_BINARIES)
            ret_chosen[n++] = b;
    }
    if (!n && program)
        ret_chosen[n++] = program;
    return n;
}

static enum pm_status write(struct collector *c, uint32_t execution, const char *key,
                            const char *value)
{
    sqlite3_stmt *insert = c->writer->statements[INSERT_ATTRIBUTE];
    bind_number(insert, 1, execution);
    bind_text(insert, 2, key);
    bind_text(insert, 3, value);
    return collect_insert(c, INSERT_ATTRIBUTE);
}

static enum pm_status write_names(struct collector *c, const char *key, const struct names *names)
{
    struct pm_buf text = PM_BUF_INIT(4096);
    enum pm_status status = PM_OK;
    for (uint32_t i = 0; i < names->n; i++)
        pm_buf_printf(&text, "%s%s", i ? "+" : "", names->texts[i]);
    if (text.failed)
        status = collect_no_memory(c);
    for (uint32_t x = 1; x <= c->processes->n_executions && names->n && !status; x++)
        status = write(c, x, key, text.data);
    pm_buf_release(&text);
    return status;
}

enum pm_status collect_producers_end(struct collector *c)
{
    const struct collect_binary *chosen[MOST_BINARIES];
    struct found found = {0};
    uint32_t n = choose(c->binaries, chosen);
    for (uint32_t i = 0; i < n; i++) {
        enum pm_status status = look_at(chosen[i], &found, c->err);
        if (status != PM_OK)
            return status;
    }
    enum pm_status status = write_names(c, "compiler", &found.compilers);
    return status != PM_OK ? status : write_names(c, "opt", &found.opts);
}
