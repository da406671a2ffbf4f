/* What a question needs of a program: the facts of its files become an archive in which nothing
 * was measured, and its sentences say which code has to be followed (mapping/question/need.c). */
#include "need.h"
#include "libraries.h"

#include "format/pm_sled.h"
#include "mapping/collect/collect.h"
#include "mapping/archive/load.h"
#include "mapping/base/elf.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_SLED_BYTES = 1 << 30 };

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* --- files --- */

/* A file's sections; sleds are added to those of the files before, unsorted. */
struct look {
    struct need_files *files;
    bool has_facts;
    size_t capacity;
};

static enum pm_status add_sleds(struct look *look, struct pm_str bytes, struct pm_error *err)
{
    struct need_files *files = look->files;
    size_t n = bytes.len / sizeof(struct pm_sled_record);
    if (n == 0)
        return PM_OK;
    struct need_sled *sleds = pm_realloc_array(files->sleds, files->n_sleds + n, sizeof *sleds);
    if (!sleds)
        return no_memory(err);
    files->sleds = sleds;
    for (size_t i = 0; i < n; i++) {
        struct pm_sled_record record;
        memcpy(&record, bytes.p + i * sizeof record, sizeof record);
        sleds[files->n_sleds++] = (struct need_sled){record.id, 1};
    }
    files->n_copies += n;
    return PM_OK;
}

static enum pm_status look_at_section(void *context, const struct pm_elf_found *found,
                                      struct pm_error *err)
{
    struct look *look = context;
    struct pm_str bytes;
    look->has_facts |= !strcmp(found->name, PM_PIF_SECTION);
    look->files->has_words |= !strcmp(found->name, "__perfmap_words");
    look->files->is_portable |= !strcmp(found->name, PM_HOOK_SECTION);
    if (!found->has_bytes || strcmp(found->name, PM_SLED_SECTION) != 0)
        return PM_OK;
    enum pm_status status = pm_elf_load(found, MAX_SLED_BYTES, err, &bytes);
    return status == PM_OK ? add_sleds(look, bytes, err) : status;
}

static int compare_sleds(const void *a, const void *b)
{
    uint64_t x = ((const struct need_sled *)a)->id, y = ((const struct need_sled *)b)->id;
    return (x > y) - (x < y);
}

static void merge_sleds(struct need_files *files)
{
    size_t n = 0;
    if (files->n_sleds)
        qsort(files->sleds, files->n_sleds, sizeof *files->sleds, compare_sleds);
    for (size_t i = 0; i < files->n_sleds; i++)
        if (n && files->sleds[n - 1].id == files->sleds[i].id)
            files->sleds[n - 1].n += files->sleds[i].n;
        else
            files->sleds[n++] = files->sleds[i];
    files->n_sleds = n;
}

static uint32_t sleds_of(const struct need_files *files, uint64_t id)
{
    struct need_sled key = {id, 0};
    const struct need_sled *found = files->n_sleds ? bsearch(&key, files->sleds, files->n_sleds,
                                                             sizeof *files->sleds, compare_sleds)
                                                   : NULL;
    return found ? found->n : 0;
}

enum pm_status need_files_add(struct need_files *files, const char *path, struct pm_error *err)
{
    static const char *const sections[] = {PM_PIF_SECTION, PM_SLED_SECTION, PM_HOOK_SECTION,
                                           "__perfmap_words", NULL};
    struct look look = {.files = files};
    struct pm_error unread = PM_ERROR_INIT;
    for (size_t i = 0; i < files->n; i++)
        if (!strcmp(files->paths[i], path))
            return PM_OK;
    enum pm_status status = pm_elf_visit(path, sections, look_at_section, &look, &unread);
    pm_error_release(&unread); /* a script, a damaged library */
    if (status == PM_ERR_MEMORY)
        return no_memory(err);
    merge_sleds(files);
    if (!look.has_facts)
        return PM_OK;
    char **paths = pm_realloc_array(files->paths, files->n + 1, sizeof *paths);
    if (!paths)
        return no_memory(err);
    files->paths = paths;
    files->paths[files->n] = pm_strndup(path, strlen(path));
    return files->paths[files->n] && ++files->n ? PM_OK : no_memory(err);
}

enum pm_status need_files_add_program(struct need_files *files, const char *path,
                                      struct pm_error *err)
{
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    enum pm_status status = need_files_add(files, path, err);
    if (status == PM_OK)
        status = session_list_libraries(path, err, &text);
    char *rest = text.data;
    for (char *library; status == PM_OK && rest && (library = session_next_library(&rest)) != NULL;)
        status = need_files_add(files, library, err);
    pm_buf_release(&text);
    return status;
}

void need_files_release(struct need_files *files)
{
    for (size_t i = 0; i < files->n; i++)
        free(files->paths[i]);
    free(files->paths);
    free(files->sleds);
    *files = (struct need_files){0};
}

/* --- their facts as a graph --- */

static enum pm_status load_facts(const struct need_files *files, const char *path,
                                 struct pm_error *err, struct pm_archive_data **ret_data)
{
    static const char *const none[] = {NULL}; /* an unchanged program: its words are all there is */
    struct pm_collect_options options = {.size = sizeof options,
                                         .binary_paths =
                                             files->n ? (const char *const *)files->paths : none,
                                         .n_binary_paths = files->n};
    enum pm_status status = pm_collect(NULL, 0, path, &options, err, NULL);
    if (status == PM_OK)
        status = pm_archive_load(path, PM_ARCHIVE_LOAD_ALL | PM_ARCHIVE_LOAD_MERGED, err, ret_data);
    unlink(path);
    return status;
}

/* By way of a folder of our own for a moment. */
static enum pm_status read_facts(const struct need_files *files, struct pm_error *err,
                                 struct pm_archive_data **ret_data)
{
    const char *place = getenv("TMPDIR");
    struct pm_buf folder = PM_BUF_INIT(PATH_MAX), path = PM_BUF_INIT(PATH_MAX);
    pm_buf_printf(&folder, "%s/perfmap-facts-XXXXXX", place && *place ? place : "/tmp");
    enum pm_status status = folder.failed ? no_memory(err) : PM_OK;
    if (status == PM_OK && !mkdtemp(folder.data))
        status = pm_error_system(err, errno, "cannot make a folder '%s'", folder.data);
    else if (status == PM_OK) {
        pm_buf_printf(&path, "%s/facts.perfmap", folder.data);
        status = path.failed ? no_memory(err) : load_facts(files, path.data, err, ret_data);
        rmdir(folder.data);
    }
    pm_buf_release(&folder);
    pm_buf_release(&path);
    return status;
}

static bool *find_probes(const struct pm_graph *graph, const struct need_files *files)
{
    bool *has_probes = pm_alloc_array(graph->n_nouns + 1u, sizeof *has_probes);
    for (pm_index n = 0; has_probes && n < graph->n_nouns; n++)
        has_probes[n] = files->is_portable || sleds_of(files, (uint64_t)graph->nouns[n].id) != 0;
    return has_probes;
}

/* --- sentences that the code does not have --- */

static bool is_denied(const struct pm_question *question, uint32_t sentence)
{
    for (uint32_t n = 0; n < question->n_nodes; n++)
        if (question->nodes[n].kind == PM_QUESTION_SENTENCE && question->nodes[n].left == sentence)
            return question->nodes[n].denied;
    return false;
}

static enum pm_status look_at_unknown(const struct pm_question *question,
                                      const struct need_files *files, const struct pm_graph *graph,
                                      const struct pm_question_need *found, bool words_come,
                                      struct pm_error *err, struct need *need)
{
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    struct pm_arena arena = {0};
    uint32_t n = 0;
    enum pm_status status = PM_OK;
    for (uint32_t i = 0; i < question->n_sentences && status == PM_OK; i++) {
        const struct pm_question_sentence *sentence = &question->sentences[i];
        if (found->is_known[i] || is_denied(question, i) || (files->said && files->said[i]))
            continue;
        if (!words_come) {
            const char *why = pm_question_why_nothing(sentence, graph, &arena);
            status = why ? pm_error_set(err, PM_ERR_NOT_FOUND, "%s: %s", sentence->text, why)
                         : no_memory(err);
        }
        pm_buf_printf(&text, "%s%s", n++ ? ", " : "", sentence->text);
    }
    if (n && status == PM_OK) {
        pm_buf_printf(&text,
                      ": nothing in the code fits; what the program says of itself while it runs "
                      "may (--look-in FILE names libraries and programs that come later)");
        need->note = pm_buf_take(&text);
        status = need->note ? PM_OK : no_memory(err);
    }
    pm_buf_release(&text);
    pm_arena_release(&arena);
    return status;
}

/* --- the need --- */

static bool is_code(const struct pm_graph_noun *noun)
{
    return !strcmp(noun->kind, "symbol") || !strcmp(noun->kind, "loopcode");
}

static enum pm_status make_modes(const struct pm_graph *graph, const struct pm_question_need *found,
                                 const struct need_files *files, enum pm_run_mode mode,
                                 bool words_come, struct pm_error *err, struct need *need)
{
    for (pm_index n = 0; n < graph->n_nouns; n++) {
        uint64_t id = (uint64_t)graph->nouns[n].id;
        if (id == 0 || !is_code(&graph->nouns[n]))
            continue;
        bool follows = found->followed[n];
        struct mode_need item = {.id = id,
                                 .mode = follows ? mode : PM_RUN_MODE_OFF,
                                 .fixed = follows && found->by_name[n],
                                 .terms = found->terms[n],
                                 .inside = words_come || !follows ? 0 : found->inside[n]};
        if (!mode_needs_add(&need->modes, &item))
            return no_memory(err);
    }
    mode_needs_sort(&need->modes);
    need->n_sleds_all = files->n_copies;
    for (size_t i = 0; i < need->modes.n; i++)
        if (need->modes.items[i].mode != PM_RUN_MODE_OFF) {
            need->n_sleds += sleds_of(files, need->modes.items[i].id);
            need->n_followed++;
            need->n_inside += need->modes.items[i].inside != 0;
        }
    return PM_OK;
}

enum pm_status need_find_in(const struct pm_question *question, const struct pm_graph *graph,
                            struct need_files *files, enum pm_run_mode mode, bool words_come,
                            struct pm_error *err, struct need *ret_need)
{
    struct pm_question_need found = {0};
    struct need need = {0};
    bool *has_probes = find_probes(graph, files);
    enum pm_status status = has_probes
                                ? pm_question_find_need(question, graph, has_probes, err, &found)
                                : no_memory(err);
    if (status == PM_OK) /* what was not compiled with the plugin may be anything */
        status = look_at_unknown(question, files, graph, &found, words_come || files->n == 0, err,
                                 &need);
    if (status == PM_OK)
        status = make_modes(graph, &found, files, mode, words_come, err, &need);
    need.samples = found.samples || files->n == 0;
    free(has_probes);
    pm_question_need_release(&found);
    if (status == PM_OK)
        *ret_need = need;
    else
        need_release(&need);
    return status;
}

enum pm_status need_find(const struct pm_question *question, struct need_files *files,
                         enum pm_run_mode mode, bool words_come, struct pm_error *err,
                         struct need *ret_need)
{
    struct pm_archive_data *data = NULL;
    struct pm_graph *nothing = NULL; /* no file has facts: a script, a program that starts others */
    enum pm_status status = PM_OK;
    if (files->n != 0) {
        status = read_facts(files, err, &data);
    } else {
        nothing = pm_graph_new();
        status = nothing && pm_graph_seal(nothing) ? PM_OK : no_memory(err);
    }
    if (status == PM_OK)
        status = need_find_in(question, data ? data->graph : nothing, files, mode, words_come, err,
                              ret_need);
    pm_archive_data_free(data);
    pm_graph_free(nothing);
    return status;
}

void need_release(struct need *need)
{
    mode_needs_release(&need->modes);
    free(need->note);
    *need = (struct need){0};
}
