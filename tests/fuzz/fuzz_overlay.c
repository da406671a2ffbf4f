/* Overlays: what is read is sound, and when it is applied each sentence maps to one noun of it. */
#include "mapping/overlay/overlay.h"

#include "mapping/base/str.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static pm_index add(struct pm_graph *graph, const char *name, const char *kind, pm_index level,
                    pm_index parent)
{
    const struct pm_graph_noun noun = {.name = name,
                                       .kind = kind,
                                       .file = "heat.c",
                                       .line_no = 4,
                                       .level = level,
                                       .parent = parent};
    pm_index added = pm_graph_noun(graph, &noun);
    pm_index verb = pm_graph_verb(graph, "Executes", level);
    pm_graph_sentence(graph, verb, &added, 1);
    return added;
}

static struct pm_graph *make_graph(void)
{
    struct pm_graph *graph = pm_graph_new();
    pm_index base = pm_graph_level(graph, "Base"), source = pm_graph_level(graph, "Source");
    graph->levels[source].above = base;
    pm_index file = add(graph, "heat.c", "file", source, PM_NONE);
    pm_index sweep = add(graph, "sweep", "function", source, file);
    add(graph, "heat.c:4", "loop", source, sweep);
    add(graph, "sweep::u", "array", source, sweep);
    add(graph, "main", "function", source, file);
    add(graph, "memcpy", "symbol", base, PM_NONE);
    pm_graph_mapping(graph, 5, 1, 0, "debug");
    pm_graph_metric(graph, &(struct pm_graph_metric){"wall_ns", "ns", "time", "", PM_SUM});
    PM_ASSERT(pm_graph_seal(graph));
    return graph;
}

static void check(const struct pm_overlay *overlay)
{
    for (uint32_t i = 0; i < overlay->n_nouns; i++) {
        const struct pm_overlay_noun *noun = &overlay->nouns[i];
        PM_ASSERT(noun->parent == PM_NONE
                      ? noun->depth == 0
                      : noun->parent < i && noun->depth == overlay->nouns[noun->parent].depth + 1);
        PM_ASSERT(noun->first_pattern + noun->n_patterns <= overlay->n_patterns);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pm_overlay *overlay;
    struct pm_overlay_use use;
    struct pm_buf metrics = PM_BUF_INIT(1 << 20);
    struct pm_error err = PM_ERROR_INIT;
    if (pm_overlay_read_text("fuzz", (const char *)data, size, &err, &overlay) == PM_OK) {
        struct pm_graph *graph = make_graph();
        uint32_t n_sentences = graph->n_sentences;
        check(overlay);
        if (pm_overlay_apply(overlay, graph, &err, &use) == PM_OK)
            for (uint32_t s = 0; s < n_sentences; s++) /* each maps to one noun of it at most */
                PM_ASSERT(graph->out_first[s + 1] - graph->out_first[s] <= 2);
        (void)!pm_overlay_expand(overlay, graph, "time,wall_ns", &err, &metrics);
        pm_graph_free(graph);
        pm_overlay_free(overlay);
    }
    pm_buf_release(&metrics);
    pm_error_release(&err);
    return 0;
}
