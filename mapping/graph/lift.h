/* Lifting: costs of measured sentences become rows at another level, through the mapping graph
 * (design.md section 6).
 *
 *     pm_lift_at_level(graph, source_level, destination_of);       // or the caller's own
 *     struct pm_lift_options options = {.rule = PM_RULE_MERGE,
 *                                       .destination_of = destination_of,
 *                                       .n_destinations = graph->n_sentences};
 *     pm_lift_new(graph, &options, sources, n_sources, &err, &lift);
 *     pm_lift_costs(lift, PM_SUM, samples, n_samples, &err, amounts);    // amounts[lift->n_rows]
 *     pm_lift_free(lift);
 *
 * A sentence is a destination when destination_of[sentence] is not PM_NONE; the number there is
 * what it counts as, so that several sentences may be one destination (all loops of a function: the
 * function). D(s) of a measured sentence s is the set of destinations that are met first on any way
 * along mappings that starts at s, s itself included: what is measured at the level is there
 * already, and a way ends where it arrives. Circles of mappings are harmless: sentences that map to
 * each other in a circle reach the same. Rows:
 *
 *   merge    one for each distinct D(s); sources with the same set aggregate
 *   closed   sets that overlap are one row (the paper's many-to-many)
 *   split    one for each destination. The aggregate of the sources with equal D(s) is divided:
 * equally as long as no mapping on the ways from s has a stated weight, else step by step, at each
 * sentence in proportion to the weights of the mappings that lead on (not stated: 1; a circle is
 * one step); or by weights of the destinations, where the caller gives them. Sums are divided into
 * whole units that add up to what was divided.
 *   all      D(s) empty: one for each such s, unmapped
 *
 * Whatever the rule, amounts over all rows aggregate to that of all samples: exactly for sums,
 * minima and maxima; averages carry the number of samples (which a split divides), so their mean
 * over rows is right to rounding.
 *
 * The graph must be sealed and must not change while a lift lives. Time and memory are linear in
 * the part of the graph that the sources reach plus the size of distinct sets. Any number of
 * readers.
 */
#ifndef PM_LIFT_H
#define PM_LIFT_H

#include "graph.h"

enum pm_rule { PM_RULE_MERGE, PM_RULE_CLOSED, PM_RULE_SPLIT };

struct pm_lift_row {
    pm_index source;                            /* unmapped: the measured sentence; else PM_NONE */
    uint32_t first_destination, n_destinations; /* in lift->destinations, rising */
};

struct pm_lift_part {
    uint32_t row;
    /* at most 1, above 0 (0: only by destination_weights); those of a class add up to 1 */
    double share;
};

struct pm_lift_private;
struct pm_lift {
    struct pm_lift_row *rows;
    uint32_t *destinations;
    /* Sources of one class go to the same rows by the same shares: parts[class_first[c]] ..
     * parts[class_first[c + 1]). class_of[s] is PM_NONE for sentences that are not sources. */
    uint32_t *class_of, *class_first;
    struct pm_lift_part *parts;
    uint32_t n_rows, n_classes;
    struct pm_lift_private *own;
};

struct pm_lift_options {
    enum pm_rule rule;
    const pm_index *destination_of; /* per sentence; lent only during pm_lift_new */
    uint32_t n_destinations;        /* all numbers in destination_of are smaller */
    /* Per mapping of the graph: true = not followed (a view that asks for arrays leaves out the
     * ways to statements). NULL: all are followed. Lent only during pm_lift_new. */
    const bool *leaves_out;
    /* Rule split: [n_destinations], finite and not negative. A shared cost is divided in
     * proportion to these, equally where all of a set are 0; weights of mappings are not looked
     * at. NULL: by the mappings. Lent only during pm_lift_new. */
    const double *destination_weights;
};

/* What was measured: one cost of one sentence. */
struct pm_lift_sample {
    pm_index sentence;
    int64_t value;
};

/* Sum, minimum or maximum in value; average: value / n. n is the number of samples, 0 when there is
 * none. */
struct pm_amount {
    int64_t value;
    double n;
};

/* Bounds of a destination: the cost that maps to it alone, and that which may map to it. */
struct pm_bounds {
    int64_t at_least, at_most;
};

/* Every sentence of the level is a destination of its own; n_destinations is then
 * graph->n_sentences. */
void pm_lift_at_level(const struct pm_graph *graph, pm_index level, pm_index *ret_destination_of);

/* sources: measured sentences, repetitions allowed. Errors: PM_ERR_MEMORY, PM_ERR_LIMIT (sets of
 * more than 2^28 members in all). */
PM_MUST_CHECK enum pm_status pm_lift_new(const struct pm_graph *graph,
                                         const struct pm_lift_options *options,
                                         const pm_index *sources, size_t n_sources,
                                         struct pm_error *err, struct pm_lift **ret_lift);
void pm_lift_free(struct pm_lift *lift);

/* Aggregates samples (of sources only) into ret_amounts[n_rows]. PM_ERR_LIMIT: a sum leaves 64
 * bits. */
PM_MUST_CHECK enum pm_status pm_lift_costs(const struct pm_lift *lift,
                                           enum pm_aggregation aggregation,
                                           const struct pm_lift_sample *samples, size_t n_samples,
                                           struct pm_error *err, struct pm_amount *ret_amounts);

/* The same of one class: divides its amount, and adds to ret_amounts[n_rows]. False: a sum leaves
 * 64 bits. */
PM_MUST_CHECK bool pm_lift_divide(const struct pm_lift *lift, uint32_t class,
                                  enum pm_aggregation aggregation, const struct pm_amount *whole,
                                  struct pm_amount *ret_amounts);

/* Bounds of sums, whatever the rule: ret_bounds[n_destinations]. */
PM_MUST_CHECK enum pm_status pm_lift_bounds(const struct pm_lift *lift,
                                            const struct pm_lift_sample *samples, size_t n_samples,
                                            struct pm_error *err, struct pm_bounds *ret_bounds);

/* D(s) of a source: destinations, rising. */
const uint32_t *pm_lift_reached(const struct pm_lift *lift, pm_index source, uint32_t *ret_n);

/* Adds b to a: PM_SUM adds, and so on. False when a sum leaves 64 bits. Start from {0}. */
PM_MUST_CHECK bool pm_amount_add(struct pm_amount *a, enum pm_aggregation aggregation,
                                 const struct pm_amount *b);

/* The same graph downward: all sentences from which `sentence` is reached along mappings, itself
 * included, in the order they were met. ret_sentences: room for graph->n_sentences. Returns their
 * number, PM_NONE when memory ends. */
uint32_t pm_lift_down(const struct pm_graph *graph, pm_index sentence, pm_index *ret_sentences);

#endif
