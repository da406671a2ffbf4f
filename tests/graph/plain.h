/* The plain model that lifting is compared with: matrices over a handful of sentences, straight
 * from the definitions in lift.h, with no thought of speed. */
#ifndef PLAIN_H
#define PLAIN_H

#include "mapping/graph/lift.h"

#include <string.h>

enum { PLAIN_MAX = 16 };

struct plain {
    uint32_t n;                         /* sentences */
    pm_index destination_of[PLAIN_MAX]; /* as in pm_lift_options; numbers below PLAIN_MAX */
    bool edge[PLAIN_MAX][PLAIN_MAX];
    double weight[PLAIN_MAX][PLAIN_MAX]; /* 0: not stated */
    bool way[PLAIN_MAX][PLAIN_MAX];      /* a way of mappings with no destination before its end */
    bool reaches[PLAIN_MAX][PLAIN_MAX];  /* [sentence][destination] */
    bool weighs_destinations; /* split: by weight_of_destination, not by weights of mappings */
    double weight_of_destination[PLAIN_MAX];
    double share[PLAIN_MAX][PLAIN_MAX]; /* split: [sentence][destination] */
    bool closed[PLAIN_MAX][PLAIN_MAX];  /* closed: [sentence][destination] */
};

static inline bool plain_is_source_of_way(const struct plain *p, uint32_t s)
{
    return p->destination_of[s] == PM_NONE;
}

static inline void plain_reach(struct plain *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        for (uint32_t k = 0; k < p->n; k++)
            p->way[i][k] = i == k || (plain_is_source_of_way(p, i) && p->edge[i][k]);
    for (uint32_t via = 0; via < p->n; via++)
        for (uint32_t i = 0; i < p->n; i++)
            for (uint32_t k = 0; k < p->n; k++)
                if (plain_is_source_of_way(p, via) && p->way[i][via] && p->way[via][k])
                    p->way[i][k] = true;
    memset(p->reaches, 0, sizeof p->reaches);
    for (uint32_t i = 0; i < p->n; i++)
        for (uint32_t k = 0; k < p->n; k++)
            if (p->way[i][k] && p->destination_of[k] != PM_NONE)
                p->reaches[i][p->destination_of[k]] = true;
}

static inline uint32_t plain_n_reached(const struct plain *p, uint32_t s)
{
    uint32_t n = 0;
    for (uint32_t d = 0; d < PLAIN_MAX; d++)
        n += p->reaches[s][d];
    return n;
}

static inline bool plain_same_circle(const struct plain *p, uint32_t a, uint32_t b)
{
    return p->way[a][b] && p->way[b][a];
}

/* A mapping that leads on: out of the circle of `in`, to something that reaches a destination. */
static inline bool plain_leads_on(const struct plain *p, uint32_t in, uint32_t from, uint32_t to)
{
    return plain_same_circle(p, in, from) && p->edge[from][to] && !plain_same_circle(p, in, to) &&
           plain_n_reached(p, to) > 0;
}

static inline bool plain_weights_known(const struct plain *p, uint32_t s)
{
    if (!plain_is_source_of_way(p, s))
        return false;
    for (uint32_t from = 0; from < p->n; from++)
        for (uint32_t to = 0; to < p->n; to++)
            if (plain_leads_on(p, s, from, to) &&
                (p->weight[from][to] > 0 || plain_weights_known(p, to)))
                return true;
    return false;
}

static inline void plain_share_by_destinations(const struct plain *p, uint32_t s, double *ret_share)
{
    double total = 0;
    for (uint32_t d = 0; d < PLAIN_MAX; d++)
        total += p->reaches[s][d] ? p->weight_of_destination[d] : 0;
    for (uint32_t d = 0; d < PLAIN_MAX; d++)
        if (p->reaches[s][d])
            ret_share[d] =
                total > 0 ? p->weight_of_destination[d] / total : 1.0 / plain_n_reached(p, s);
}

static inline void plain_share(const struct plain *p, uint32_t s, double amount, double *ret_share)
{
    if (!plain_weights_known(p, s)) {
        for (uint32_t d = 0; d < PLAIN_MAX; d++)
            if (p->reaches[s][d])
                ret_share[d] += amount / plain_n_reached(p, s);
        return;
    }
    double total = 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t from = 0; from < p->n; from++)
            for (uint32_t to = 0; to < p->n; to++) {
                if (!plain_leads_on(p, s, from, to))
                    continue;
                double weight = p->weight[from][to] > 0 ? p->weight[from][to] : 1;
                if (pass == 0)
                    total += weight;
                else
                    plain_share(p, to, amount * weight / total, ret_share);
            }
}

/* closed: a set grows by every measured set that it overlaps, until nothing changes. */
static inline void plain_close(struct plain *p, const bool *measured)
{
    memcpy(p->closed, p->reaches, sizeof p->closed);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t a = 0; a < p->n; a++)
            for (uint32_t b = 0; b < p->n; b++) {
                bool overlap = false;
                for (uint32_t d = 0; d < PLAIN_MAX; d++)
                    overlap |= p->closed[a][d] && p->closed[b][d];
                for (uint32_t d = 0; measured[a] && measured[b] && overlap && d < PLAIN_MAX; d++)
                    if (p->closed[b][d] && !p->closed[a][d])
                        p->closed[a][d] = changed = true;
            }
    }
}

#endif
