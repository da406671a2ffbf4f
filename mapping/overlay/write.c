/* An overlay of what an archive has: to be edited, or for another archive. */
#include "overlay.h"

#include "mapping/base/map.h"
#include "mapping/pif/pif.h"

#include <stdlib.h>

static bool is_kind(const struct pm_graph *graph, pm_index noun, const char *kind)
{
    const struct pm_graph_noun *n = &graph->nouns[noun];
    return !strcmp(n->kind, kind) && !strcmp(graph->levels[n->level].name, "Source");
}

struct writing {
    struct pm_pif *pif;
    const struct pm_graph *graph;
    const char *level;
    pm_id *ids; /* per noun; 0: not written */
};

/* As the name says, where no other has it, so that the text needs no ids. */
static pm_id id_for(const struct writing *w, pm_index noun)
{
    struct pm_pif_noun other;
    pm_id id = pm_pif_name_id(w->level, w->graph->nouns[noun].name);
    return pm_pif_find_noun(w->pif, id, &other) ? (pm_id)noun + 1 : id;
}

static bool add_noun(struct writing *w, pm_index noun)
{
    const struct pm_graph_noun *from = &w->graph->nouns[noun];
    pm_index file = from->parent == PM_NONE ? (pm_index)PM_NONE
                                            : pm_graph_ancestor(w->graph, from->parent, "file");
    struct pm_pif_noun to = {.id = id_for(w, noun),
                             .name = from->name,
                             .level = w->level,
                             .parent = file == PM_NONE ? 0 : w->ids[file]};
    struct pm_buf match = PM_BUF_INIT(1 << 20);
    pm_buf_printf(&match, "exact:%s", *from->linkage ? from->linkage : from->name);
    w->ids[noun] = to.id;
    bool good = !match.failed && pm_pif_noun(w->pif, &to);
    if (good)
        pm_pif_noun_attribute(w->pif, to.id, "match", match.data);
    pm_buf_release(&match);
    return good && !pm_pif_failed(w->pif);
}

/* Files come first, for functions lie in them. */
static bool add_all(struct writing *w, uint32_t *ret_n)
{
    static const char *const kinds[] = {"file", "function"};
    *ret_n = 0;
    for (int k = 0; k < 2; k++)
        for (pm_index noun = 0; noun < w->graph->n_nouns; noun++) {
            if (!is_kind(w->graph, noun, kinds[k]))
                continue;
            if (!add_noun(w, noun))
                return false;
            ++*ret_n;
        }
    return true;
}

enum pm_status pm_overlay_write(const struct pm_graph *graph, const char *level,
                                struct pm_error *err, struct pm_buf *out)
{
    struct writing w = {.pif = pm_pif_new(),
                        .graph = graph,
                        .level = level,
                        .ids = pm_alloc_array((size_t)graph->n_nouns + 1, sizeof *w.ids)};
    uint32_t n = 0;
    bool good = w.pif && w.ids;
    if (good) {
        pm_pif_set_producer(w.pif, "perfmap");
        pm_pif_level(w.pif, level, NULL);
        good = add_all(&w, &n);
    }
    if (good)
        pm_pif_write_text(w.pif, out);
    pm_pif_free(w.pif);
    free(w.ids);
    if (!good || out->failed)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    if (!n)
        return pm_error_set(err, PM_ERR_NOT_FOUND,
                            "the archive has no files and functions of a source");
    return PM_OK;
}
