/* In what other ways a function may be entered below a context. */
#ifndef PM_COLLECT_ROUTES_H
#define PM_COLLECT_ROUTES_H

#include "format/pm_id.h"
#include "mapping/base/map.h"
#include "mapping/base/status.h"

struct collect_binary;
struct collect_names;
struct collect_way;
struct collector;
struct pm_run_file;

struct collect_route;

/* Of one binary. */
struct collect_routes {
    struct pm_map hidden;   /* symbols whose address is to be had -> 1 */
    struct pm_map followed; /* symbols that had contexts all the time, in this process -> 1 */
    struct pm_map ever_followed, ever_left;   /* had contexts in some process; had none, in some */
    uint64_t followed_sum, next_followed_sum; /* of that set; 0: none yet */
    bool has_hidden, has_ways;
    struct collect_way *ways; /* by callee */
    struct collect_route *list;
    struct pm_map by_callee; /* symbol -> position in list + 1 */
    uint32_t n_ways, ways_cap, n, cap;
};

/* A process begins: which functions are followed in it. */
PM_MUST_CHECK enum pm_status collect_routes_begin(struct collector *c,
                                                  const struct pm_run_file *file,
                                                  const struct collect_names *names);
/* All processes are there: from here on, only what was followed in each of them is. */
PM_MUST_CHECK enum pm_status collect_routes_join(struct collector *c);
/* What leads to the symbol without a context of its own. callee 0: to other binaries. Lent until
 * the next call. */
PM_MUST_CHECK enum pm_status collect_route(struct collector *c, struct collect_binary *binary,
                                           pm_id callee, const struct collect_route **ret_route);
/* Whether a call of it may become one of the route's end. callee 0: of what is not known. */
bool collect_leads(const struct collect_route *route, pm_id callee);
void collect_routes_release(struct collect_binary *binary);

#endif
