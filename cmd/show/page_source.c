/* Sources: a chunk for each file of the program that contexts lead to. */
#include "page.h"

#include "mapping/view/annotation.h"

#include <stdlib.h>
#include <sys/stat.h>

/* Interned names: equal ones are one address. */
static int compare_files(const void *a_pointer, const void *b_pointer)
{
    return strcmp(*(const char *const *)a_pointer, *(const char *const *)b_pointer);
}

/* Files of the nouns that contexts are mapped to, by name, each once. False: memory ended. */
bool page_sources_list(struct show_page *page)
{
    const struct pm_graph *graph = page->first.data->graph;
    const struct pm_sets *sets = &page->foci.sets;
    uint32_t n = 0;
    page->files = pm_alloc_array((size_t)sets->n_words + 1, sizeof *page->files);
    bool *is_seen = pm_alloc_array(graph->n_nouns + 1u, sizeof *is_seen);
    if (!page->files || !is_seen) {
        free(is_seen);
        return false;
    }
    for (uint32_t i = 0; i < sets->n_words; i++) {
        const struct pm_graph_noun *noun = &graph->nouns[sets->words[i]];
        bool is_place = *noun->file && noun->line_no && !pm_noun_is_data(noun);
        if (is_place && !is_seen[sets->words[i]])
            page->files[n++] = noun->file;
        is_seen[sets->words[i]] = true;
    }
    free(is_seen);
    if (n)
        qsort(page->files, n, sizeof *page->files, compare_files);
    for (uint32_t i = 0; i < n; i++)
        if (page->n_files == 0 || strcmp(page->files[page->n_files - 1], page->files[i]) != 0)
            page->files[page->n_files++] = page->files[i];
    return true;
}

static void put_lines(struct page_chunk *out, const char *text)
{
    page_column(out, PAGE_TEXTS, "lines");
    while (*text) {
        size_t len = strcspn(text, "\n");
        size_t shown = len && text[len - 1] == '\r' ? len - 1 : len;
        page_put_bytes(out, text, shown);
        text += len + (text[len] == '\n');
    }
}

/* An archive may name any file, and pages are passed on: only what looks like source is shown. */
static bool is_source(const char *path)
{
    static const char *const ends[] = {
        ".c",   ".h",   ".cc",  ".hh",  ".cpp", ".hpp", ".cxx", ".hxx", ".c++",  ".h++",
        ".C",   ".H",   ".inc", ".inl", ".ipp", ".tcc", ".tpp", ".ixx", ".cppm", ".def",
        ".y",   ".l",   ".f",   ".F",   ".for", ".f77", ".f90", ".F90", ".f95",  ".F95",
        ".f03", ".F03", ".f08", ".F08", ".s",   ".S",   ".rs",  ".go",  ".d",    ".lua"};
    static const char *const folders[] = {"/usr/include/", "/usr/lib/gcc/", "/usr/lib/llvm-"};
    struct stat st;
    bool is = false;
    if (!path || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends && !is; i++)
        is = pm_str_ends_with(path, ends[i]);
    for (size_t i = 0; i < sizeof folders / sizeof *folders && !is; i++)
        is = strncmp(path, folders[i], strlen(folders[i])) == 0 && !strstr(path, "/../");
    return is;
}

void page_source_write(struct show_page *page, uint32_t number, struct page_chunk *out)
{
    const char *file = page->files[number];
    char *path, *text;
    pm_annotation_read_source(&page->first, file, &path, &text);
    if (!is_source(path)) {
        free(text);
        text = NULL;
    }
    pm_json_string(&out->json, "file", file);
    pm_json_string(&out->json, "path", path);
    pm_json_bool(&out->json, "is_there", text != NULL);
    pm_json_bool(&out->json, "is_changed", pm_annotation_source_is_changed(&page->first, path));
    if (text)
        put_lines(out, text);
    free(path);
    free(text);
}
