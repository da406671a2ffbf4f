/* Program databases: bytes as a group of records, and as a query or a routine to begin a tree at.
 * What is stored is read back by queries. */
#include "pdt/export.h"
#include "pdt/query.h"
#include "pdt/select.h"
#include "pdt/store.h"
#include "pdt/tree.h"

#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], path[128];

static void remove_folder(void)
{
    unlink(path);
    rmdir(folder);
}

static bool begin(void)
{
    snprintf(folder, sizeof folder, "%s/perfmap-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder))
        return false;
    snprintf(path, sizeof path, "%s/a.pdb", folder);
    return atexit(remove_folder) == 0;
}

/* Damaged groups are refused; what was read before them need not be a whole. */
static bool store(struct pm_str group)
{
    static const uint8_t hash[16];
    struct pm_database *pdb;
    struct pdt_store *made = NULL;
    int64_t id;
    if (pm_database_create(&pdt_kind, path, NULL, &pdb) != PM_OK)
        return false;
    bool good = pdt_store_new(pdb, NULL, &made) == PM_OK &&
                pdt_store_group(made, group, hash, NULL, &id) == PM_OK &&
                pdt_store_end(made, 0, "fuzz", NULL) == PM_OK;
    pdt_store_free(made);
    if (good)
        return pm_database_finish(pdb, NULL) == PM_OK;
    pm_database_discard(pdb);
    return false;
}

static void ask(struct pm_database *pdb, const char *query)
{
    struct pdt_rows *rows;
    if (pdt_query(pdb, query, 10, NULL, &rows) == PM_OK)
        pdt_rows_free(rows);
}

static void read_back(struct pm_database *pdb)
{
    struct pm_buf text = PM_BUF_INIT(1 << 24);
    for (int i = 0; pdt_query_nouns[i]; i++)
        ask(pdb, pdt_query_nouns[i]);
    if (pdt_export_pdb(pdb, &text, NULL) == PM_OK)
        pm_buf_clear(&text);
    if (pdt_export_pif(pdb, &text, NULL) != PM_OK)
        pm_buf_clear(&text);
    pm_buf_release(&text);
}

static void grow(struct pm_database *pdb, const char *root)
{
    struct pdt_tree *tree;
    for (int direction = PDT_CALLS_FROM; direction <= PDT_CALLS_TO; direction++)
        if (pdt_tree_make(pdb, root, (enum pdt_direction)direction, 3, NULL, &tree) == PM_OK)
            pdt_tree_free(tree);
}

/* Conditions, one a line, with a run of two functions. What is selected makes a list that reads. */
static void choose(struct pm_database *pdb, char *text)
{
    static struct pdt_run_row rows[] = {
        {.name = "f", .file = "/a.c", .line = 1, .n_calls = 3, .own_ns = 5, .inclusive_ns = 9},
        {.name = "ns::g(int)", .linkage = "_ZN2ns1gEi", .file = "", .calls_are_at_least = true}};
    static const struct pdt_run run = {"r.perfmap", rows, 2, 14};
    const char *conditions[16];
    struct pdt_selection_request request = {
        .conditions = conditions, .run = &run, .has_source = *text != '-'};
    struct pdt_selected *selected;
    for (char *line = strtok_r(text, "\n", &text); line && request.n_conditions < 16;
         line = strtok_r(NULL, "\n", &text))
        conditions[request.n_conditions++] = line;
    if (pdt_select(pdb, &request, NULL, &selected) != PM_OK)
        return;
    struct pm_buf list = PM_BUF_INIT(1 << 24);
    struct pm_selection *selection = pm_selection_new();
    pdt_selected_write(selected, true, &list);
    PM_ASSERT(selection && pm_selection_read(selection, (struct pm_str){list.data, list.len},
                                             "list", NULL) == PM_OK);
    pm_selection_free(selection);
    pm_buf_release(&list);
    pdt_selected_free(selected);
}

/* The first byte says which. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char file[] = {PDT_FILE, 4, '/', 'a', '.', 'c', 0};
    static bool begun;
    struct pm_database *pdb;
    if (!begun && !(begun = begin()))
        abort();
    if (size < 1)
        return 0;
    bool is_group = *data == 'g';
    struct pm_str group = is_group ? (struct pm_str){(const char *)data + 1, size - 1}
                                   : (struct pm_str){file, sizeof file};
    if (!is_group && access(path, R_OK) == 0)
        group.len = 0; /* whatever is there */
    if (group.len && !store(group))
        return 0;
    char *text = pm_strndup((const char *)data + 1, size - 1);
    if (text && pdt_open(path, NULL, &pdb) == PM_OK) {
        if (is_group)
            read_back(pdb);
        else if (*data == 't')
            grow(pdb, text);
        else if (*data == 's')
            choose(pdb, text);
        else
            ask(pdb, text);
        pm_database_close(pdb);
    }
    free(text);
    return 0;
}
