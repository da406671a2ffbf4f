/* Of each context the nouns by which a focus may have it: those of its sentence, and of all that
 * mappings between levels lead to from there. The same as mapping/view/focus.c finds from the
 * nouns' side. */
#include "page.h"

#include <stdlib.h>

struct looking {
    const struct pm_graph *graph;
    struct page_foci *foci;
    uint32_t *seen; /* per sentence: the round that met it */
    uint32_t *nouns_seen;
    pm_index *queue; /* sentences */
    pm_index *found; /* nouns */
    uint32_t round;
};

static int compare(const void *a_pointer, const void *b_pointer)
{
    uint32_t a = *(const uint32_t *)a_pointer, b = *(const uint32_t *)b_pointer;
    return (a > b) - (a < b);
}

static uint32_t add_nouns(struct looking *l, pm_index sentence, uint32_t n)
{
    const struct pm_graph_sentence *s = &l->graph->sentences[sentence];
    for (uint32_t i = 0; i < s->n_nouns; i++) {
        pm_index noun = l->graph->sentence_nouns[s->first_noun + i];
        if (l->nouns_seen[noun] == l->round)
            continue;
        l->nouns_seen[noun] = l->round;
        l->found[n++] = noun;
    }
    return n;
}

/* PM_SETS_FAILED: memory ended. */
static uint32_t set_of_sentence(struct looking *l, pm_index sentence)
{
    const struct pm_graph *graph = l->graph;
    uint32_t n = 0, n_found = 0;
    l->round++;
    l->seen[sentence] = l->round;
    l->queue[n++] = sentence;
    for (uint32_t at = 0; at < n; at++) {
        pm_index from = l->queue[at];
        n_found = add_nouns(l, from, n_found);
        for (uint32_t e = graph->out_first[from]; e < graph->out_first[from + 1]; e++) {
            pm_index to = graph->mappings[graph->out[e]].destination;
            if (l->seen[to] == l->round ||
                pm_graph_sentence_level(graph, to) == pm_graph_sentence_level(graph, from))
                continue;
            l->seen[to] = l->round;
            l->queue[n++] = to;
        }
    }
    qsort(l->found, n_found, sizeof *l->found, compare);
    return pm_sets_add(&l->foci->sets, l->found, n_found);
}

bool page_foci_find(const struct pm_view *view, struct page_foci *ret_foci)
{
    const struct pm_graph *graph = view->data->graph;
    uint32_t *of_sentence = pm_alloc_array(graph->n_sentences + 1u, sizeof *of_sentence);
    struct looking l = {
        .graph = graph,
        .foci = ret_foci,
        .seen = pm_alloc_array(graph->n_sentences + 1u, sizeof *l.seen),
        .nouns_seen = pm_alloc_array(graph->n_nouns + 1u, sizeof *l.nouns_seen),
        .queue = pm_alloc_array(graph->n_sentences + 1u, sizeof *l.queue),
        .found = pm_alloc_array(graph->n_nouns + 1u, sizeof *l.found),
    };
    *ret_foci = (struct page_foci){
        .set_of = pm_alloc_array(graph->n_contexts + 1u, sizeof *ret_foci->set_of)};
    bool good = of_sentence && l.seen && l.nouns_seen && l.queue && l.found && ret_foci->set_of &&
                pm_sets_init(&ret_foci->sets);
    for (pm_index c = 0; good && c < graph->n_contexts; c++) {
        pm_index sentence =
            view->sentence_of_focus ? view->sentence_of_focus[c] : graph->contexts[c].sentence;
        uint32_t *set = &of_sentence[sentence];
        if (!*set)
            *set = set_of_sentence(&l, sentence) + 1;
        good = *set - 1 != PM_SETS_FAILED;
        ret_foci->set_of[c] = *set - 1;
    }
    free(of_sentence);
    free(l.seen);
    free(l.nouns_seen);
    free(l.queue);
    free(l.found);
    return good;
}

/* Sets are numbered in the order of contexts, so equal foci have equal numbers. */
bool page_foci_are_equal(const struct page_foci *a, const struct page_foci *b, uint32_t n_contexts)
{
    return a->sets.n == b->sets.n && a->sets.n_words == b->sets.n_words &&
           !memcmp(a->set_of, b->set_of, n_contexts * sizeof *a->set_of) &&
           !memcmp(a->sets.words, b->sets.words, a->sets.n_words * sizeof *a->sets.words) &&
           !memcmp(a->sets.first, b->sets.first, a->sets.n * sizeof *a->sets.first);
}

void page_foci_put(struct page_chunk *out, const struct page_foci *foci, uint32_t n_contexts)
{
    page_column(out, PAGE_DELTAS, "focus_set");
    for (uint32_t c = 0; c < n_contexts; c++)
        page_put_delta(out, foci->set_of[c]);
    page_column(out, PAGE_NUMBERS, "focus_n");
    for (uint32_t set = 0; set < foci->sets.n; set++) {
        uint32_t n;
        (void)pm_sets_members(&foci->sets, set, &n);
        page_put(out, n);
    }
    page_column(out, PAGE_DELTAS, "focus_noun");
    for (uint32_t set = 0; set < foci->sets.n; set++) {
        uint32_t n;
        const uint32_t *members = pm_sets_members(&foci->sets, set, &n);
        for (uint32_t i = 0; i < n; i++)
            page_put_delta(out, members[i]);
    }
}

void page_foci_release(struct page_foci *foci)
{
    pm_sets_release(&foci->sets);
    free(foci->set_of);
    *foci = (struct page_foci){0};
}
