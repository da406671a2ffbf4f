/* Adapters: libraries of ours that say in the words of another library what it does
 * (docs/ADAPTERS.md). Which of them a program needs. */
#include "adapters.h"
#include "libraries.h"

#include "format/pm_adapters.h"

#include "cmd/core/paths.h"

#include "mapping/base/elf.h"
#include "mapping/base/suggest.h"
#include "mapping/question/question.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define MEMORY "memory" /* stands on --heap: malloc is wrapped once */

/* As format/pm_adapters.h has them. */
static const struct adapter {
    const char *name, *library, *symbol, *cost, *level;
    const char *verbs; /* between blanks */
} adapters[] = {
#define WORD(NAME, word) word " "
#define ADAPTER(name, library, symbol, cost, level, verbs, what) \
    {#name, library, symbol, cost, level, " " verbs(WORD)},
    PM_ADAPTERS(ADAPTER)
#undef ADAPTER
#undef WORD
};
enum { N_ADAPTERS = sizeof adapters / sizeof *adapters };
_Static_assert((int)N_ADAPTERS <= (int)SESSION_MAX_ADAPTERS, "room for all");

static const struct option {
    const char *adapter, *name, *variable, *value;
} options[] = {
#define OPTION(adapter, name, variable, value) {adapter, name, variable, value},
    PM_ADAPTER_OPTIONS(OPTION)
#undef OPTION
};
enum { N_OPTIONS = sizeof options / sizeof *options };
_Static_assert((int)N_OPTIONS <= (int)SESSION_MAX_ADAPTER_OPTIONS, "room for all");

/* Adds the library of an adapter that is built; others are left out without a word, unless they
 * were asked for. */
static enum pm_status add(const struct adapter *adapter, bool asked, struct pm_error *err,
                          struct session_adapters *found)
{
    char name[64];
    char *path = NULL;
    found->memory |= !strcmp(adapter->name, MEMORY);
    snprintf(name, sizeof name, "libperfmap-%s.so", adapter->name);
    struct pm_error missing = PM_ERROR_INIT;
    enum pm_status status = cmd_find_library(name, asked ? err : &missing, &path);
    pm_error_release(&missing);
    if (status == PM_OK)
        found->paths[found->n++] = path;
    return asked || status == PM_ERR_MEMORY ? status : PM_OK;
}

static enum pm_status no_such(const char *word, const char *const *known, struct pm_error *err)
{
    const char *near = pm_suggest(word, known);
    char names[256] = "";
    for (size_t i = 0, at = 0; i < N_ADAPTERS && at < sizeof names; i++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", i ? ", " : "", known[i]);
    return pm_error_set(err, PM_ERR_USAGE,
                        "option '--adapter': there is no adapter '%s'%s%s%s; there are %s, and the "
                        "words auto and none",
                        word, near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "",
                        names);
}

static bool is_shared_library(const char *path)
{
    Elf64_Ehdr head = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, &head, sizeof head) : -1;
    if (fd >= 0)
        close(fd);
    return n == (ssize_t)sizeof head && !memcmp(head.e_ident, ELFMAG, SELFMAG) &&
           head.e_type == ET_DYN;
}

/* One of the user's own, as `perfmap wrap` makes them. */
static enum pm_status add_file(struct pm_str word, struct pm_error *err,
                               struct session_adapters *found)
{
    char *path = pm_strndup(word.p, word.len);
    char *whole = path ? realpath(path, NULL) : NULL;
    bool is_full = found->n == SESSION_MAX_ADAPTERS;
    enum pm_status status = PM_OK;
    if (!path)
        status = pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    else if (!whole || access(whole, R_OK) != 0)
        status = pm_error_system(err, errno, "option '--adapter': cannot read '%s'", path);
    else if (!is_shared_library(whole))
        status = pm_error_set(err, PM_ERR_USAGE,
                              "option '--adapter': '%s' is no shared library; 'perfmap wrap' makes "
                              "one with -o NAME.so",
                              path);
    else if (strpbrk(whole, " \t\n:;"))
        status = pm_error_set(err, PM_ERR_USAGE,
                              "option '--adapter': the loader takes no path with blanks or colons, "
                              "as '%s'",
                              whole);
    else if (is_full)
        status = pm_error_set(err, PM_ERR_LIMIT, "option '--adapter': more than %d adapters",
                              SESSION_MAX_ADAPTERS);
    else
        found->paths[found->n++] = whole;
    if (status != PM_OK)
        free(whole);
    free(path);
    return status;
}

static enum pm_status no_such_option(const char *adapter, struct pm_str word, struct pm_error *err)
{
    char names[256] = "", given[64];
    for (size_t i = 0, at = 0; i < N_OPTIONS && at < sizeof names; i++)
        if (!strcmp(options[i].adapter, adapter))
            at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", at ? ", " : "",
                                   options[i].name);
    snprintf(given, sizeof given, "%.*s", (int)word.len, word.p);
    if (!*names)
        return pm_error_set(err, PM_ERR_USAGE,
                            "option '--adapter': '%s' has no options, and so no '%s'", adapter,
                            given);
    return pm_error_set(err, PM_ERR_USAGE, "option '--adapter': '%s' has no option '%s'; it has %s",
                        adapter, given, names);
}

/* "" or ":lines:..." */
static enum pm_status add_options(const char *adapter, struct pm_str text, struct pm_error *err,
                                  struct session_adapters *found)
{
    while (text.len > 0) {
        const char *end = memchr(text.p + 1, ':', text.len - 1);
        struct pm_str word = {text.p + 1, (end ? (size_t)(end - text.p) : text.len) - 1};
        size_t i = 0;
        while (i < N_OPTIONS &&
               (strcmp(options[i].adapter, adapter) != 0 || !pm_str_is(word, options[i].name)))
            i++;
        if (i == N_OPTIONS)
            return no_such_option(adapter, word, err);
        found->options[i] = true;
        text = (struct pm_str){word.p + word.len, text.len - word.len - 1};
    }
    return PM_OK;
}

void session_add_adapter_options(const struct session_adapters *adapters_found,
                                 struct pm_buf *texts)
{
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (adapters_found->options[i])
            pm_buf_printf(texts, "%s=%s%c", options[i].variable, options[i].value, 0);
}

/* choice: NAME[:OPTION...][,...] */
static enum pm_status add_named(const char *choice, struct pm_error *err,
                                struct session_adapters *found)
{
    const char *known[N_ADAPTERS + 1] = {NULL};
    for (size_t i = 0; i < N_ADAPTERS; i++)
        known[i] = adapters[i].name;
    for (const char *p = choice; *p;) {
        size_t len = strcspn(p, ","), name_len = strcspn(p, ",:"), i = 0;
        if (memchr(p, '/', len)) {
            enum pm_status status = add_file((struct pm_str){p, len}, err, found);
            if (status != PM_OK)
                return status;
            p += len + (p[len] == ',');
            continue;
        }
        while (i < N_ADAPTERS && !pm_str_is((struct pm_str){p, name_len}, known[i]))
            i++;
        if (i == N_ADAPTERS) {
            char word[64];
            snprintf(word, sizeof word, "%.*s", (int)name_len, p);
            return no_such(word, known, err);
        }
        enum pm_status status =
            add_options(known[i], (struct pm_str){p + name_len, len - name_len}, err, found);
        if (status != PM_OK)
            return status;
        status = found->n < SESSION_MAX_ADAPTERS ? add(&adapters[i], true, err, found) : PM_OK;
        if (status != PM_OK)
            return status;
        p += len + (p[len] == ',');
    }
    return PM_OK;
}

struct search {
    const char *symbol;
    bool found;
};

static enum pm_status look_for_symbol(void *context, const struct pm_elf_found *section,
                                      struct pm_error *err)
{
    struct search *search = context;
    struct pm_str bytes;
    enum pm_status status = pm_elf_load(section, 1 << 26, err, &bytes);
    if (status == PM_OK)
        search->found |=
            memmem(bytes.p, bytes.len, search->symbol, strlen(search->symbol) + 1) != NULL;
    return status;
}

static bool exports(const char *program, const char *symbol)
{
    static const char *const sections[] = {".dynstr", NULL};
    struct search search = {.symbol = symbol};
    return symbol && pm_elf_visit(program, sections, look_for_symbol, &search, NULL) == PM_OK &&
           search.found;
}

/* --- for a question --- */

static bool has_verb(const struct adapter *adapter, const struct pm_question_word *verb)
{
    char word[64];
    snprintf(word, sizeof word, " %.60s ", verb->pattern);
    return strcasestr(adapter->verbs, word) != NULL;
}

static bool is_of_level(const struct adapter *adapter, const struct pm_question_word *word)
{
    return word->level && !strcasecmp(word->level, adapter->level);
}

/* Does the sentence ask for words of that adapter: by a verb, where others have its level as well,
 * or by its level? */
static bool names_words(const struct pm_question_sentence *sentence, const struct adapter *adapter)
{
    bool of_level = is_of_level(adapter, &sentence->verb);
    for (uint32_t i = 0; i < sentence->n_nouns; i++)
        of_level |= is_of_level(adapter, &sentence->nouns[i]);
    return strcmp(adapter->level, PM_BASE_LEVEL) == 0 ? has_verb(adapter, &sentence->verb)
                                                      : of_level;
}

/* Could its words fit? Not when a level is named that is another's. */
static bool may_fit(const struct pm_question_sentence *sentence, const struct adapter *adapter)
{
    bool may = !sentence->verb.level || is_of_level(adapter, &sentence->verb);
    for (uint32_t i = 0; i < sentence->n_nouns; i++)
        may &= !sentence->nouns[i].level || is_of_level(adapter, &sentence->nouns[i]);
    return may;
}

static bool any_sentence(const struct pm_question *question, const struct adapter *adapter,
                         bool (*test)(const struct pm_question_sentence *, const struct adapter *))
{
    for (uint32_t i = 0; i < question->n_sentences; i++)
        if (test(&question->sentences[i], adapter))
            return true;
    return false;
}

/* --- by itself --- */

/* "mpirun" of /usr/bin/mpirun.openmpi */
static bool launches(const char *program, const struct adapter *adapter)
{
#define LAUNCHERS(adapter, names) {adapter, names},
    static const struct {
        const char *adapter, *names;
    } launchers[] = {PM_ADAPTER_LAUNCHERS(LAUNCHERS)};
#undef LAUNCHERS
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (!strcmp(launchers[i].adapter, adapter->name) &&
            session_is_among(launchers[i].names, name, strcspn(name, ".")))
            return true;
    return false;
}

static enum pm_status find_needed(const char *program, struct pm_error *err,
                                  bool needed[N_ADAPTERS])
{
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    enum pm_status status =
        session_needs_only_basics(program) ? PM_OK : session_list_libraries(program, err, &text);
    char *rest = text.data;
    for (char *path; rest && (path = session_next_library(&rest)) != NULL;) {
        const char *name = strrchr(path, '/') + 1;
        for (size_t i = 0; i < N_ADAPTERS; i++)
            needed[i] |= session_is_among(adapters[i].library, name, strlen(name));
    }
    pm_buf_release(&text);
    for (size_t i = 0; i < N_ADAPTERS && status == PM_OK; i++)
        needed[i] |= exports(program, adapters[i].symbol) || launches(program, &adapters[i]);
    return status;
}

static enum pm_status add_needed(const char *program, const struct pm_question *question,
                                 struct pm_error *err, struct session_adapters *found)
{
    bool needed[N_ADAPTERS] = {false};
    enum pm_status status = find_needed(program, err, needed);
    for (size_t i = 0; i < N_ADAPTERS && status == PM_OK; i++) {
        const struct adapter *adapter = &adapters[i];
        if (question && any_sentence(question, adapter, names_words))
            status = add(adapter, true, err, found);
        else if (!needed[i] || (question && !any_sentence(question, adapter, may_fit)))
            continue;
        else if (!adapter->cost)
            status = add(adapter, false, err, found);
        else if (!question) {
            found->offered = adapter->name;
            found->offered_cost = adapter->cost;
        }
    }
    return status;
}

enum pm_status session_find_adapters(const char *choice, const char *program,
                                     const struct pm_question *question, struct pm_error *err,
                                     struct session_adapters *ret_adapters)
{
    struct session_adapters found = {.n = 0};
    enum pm_status status = !strcmp(choice, "none")       ? PM_OK
                            : strcmp(choice, "auto") != 0 ? add_named(choice, err, &found)
                            : program ? add_needed(program, question, err, &found)
                                      : PM_OK;
    if (status == PM_OK)
        *ret_adapters = found;
    else
        session_release_adapters(&found);
    return status;
}

static bool is_found(const struct session_adapters *found, const char *name)
{
    char library[64];
    snprintf(library, sizeof library, "/libperfmap-%s.so", name);
    for (size_t i = 0; i < found->n; i++)
        if (pm_str_is(pm_str_of(strrchr(found->paths[i], '/')), library))
            return true;
    return false;
}

enum pm_status session_need_adapter(const char *name, struct pm_error *err,
                                    struct session_adapters *found)
{
    return is_found(found, name) ? PM_OK : add_named(name, err, found);
}

void session_adapters_for(const struct session_adapters *found, const struct pm_question *question,
                          bool *ret_said, struct pm_buf *names)
{
    for (uint32_t i = 0; i < question->n_sentences; i++)
        ret_said[i] = false;
    for (size_t k = 0; k < N_ADAPTERS; k++) {
        if (!is_found(found, adapters[k].name))
            continue;
        if (any_sentence(question, &adapters[k], names_words))
            pm_buf_printf(names, "%s%s", names->len ? ", " : "", adapters[k].name);
        for (uint32_t i = 0; i < question->n_sentences; i++)
            ret_said[i] |= names_words(&question->sentences[i], &adapters[k]);
    }
}

const char *session_adapter_of_level(const char *level)
{
    for (size_t i = 0; i < N_ADAPTERS; i++)
        if (!strcasecmp(adapters[i].name, level))
            return adapters[i].name;
    return NULL;
}

void session_release_adapters(struct session_adapters *found)
{
    for (size_t i = 0; i < found->n; i++)
        free(found->paths[i]);
    found->n = 0;
}
