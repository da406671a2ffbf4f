/* Words that calls say (pm_called_from of perfmap.h): where they are said. */
#ifndef PM_COLLECT_SAID_H
#define PM_COLLECT_SAID_H

#include "active.h"

/* The code of all calls that say words, in names->calls: opens binaries, and makes nouns. */
PM_MUST_CHECK enum pm_status collect_locate_said(struct collector *c,
                                                 const struct pm_run_file *file,
                                                 const struct collect_names *names);
/* The code that says the node's word by a call; NULL: it is not known, or the node is none of a
 * word. Lent as by collect_code. */
const struct collect_code *collect_said_code(struct collector *c,
                                             const struct collect_where *where);
/* Down from where->context, which is that of the node above, to the functions that were inlined
 * around the call that says the node's word; or from that of a node further above, if the call
 * shows that those between have ended. nodes: what the thread's nodes before this one have become.
 * *ret_is_known: where it is said is known. */
PM_MUST_CHECK enum pm_status collect_said_context(struct collector *c,
                                                  const struct collect_where *where,
                                                  const struct collect_node *nodes,
                                                  bool *ret_is_known, uint32_t *ret_context);

#endif
