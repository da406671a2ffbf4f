/* Where functions were called from, around the calls that say words: FRAMEs of format/pm_words.h.
 */
#ifndef PM_COLLECT_FRAMES_H
#define PM_COLLECT_FRAMES_H

#include "active.h"

/* The code of all FRAMEs, in names->frames: opens binaries, and makes nouns. */
PM_MUST_CHECK enum pm_status collect_locate_frames(struct collector *c,
                                                   const struct pm_run_file *file,
                                                   struct collect_names *names);
/* The context where->context, in which the node's word is said by a call, as one below the calls
 * that led there: {code function Calls} stands above each function's context, and above the word
 * where what says it was inlined. nodes: what the thread's nodes before this one have become. */
PM_MUST_CHECK enum pm_status collect_frames_context(struct collector *c,
                                                    const struct collect_where *where,
                                                    const struct collect_node *nodes,
                                                    uint32_t *ret_context);
/* The sentence of the code that says the node's word by a call: where it touches data by
 * parameters, the data that its callers pass. */
PM_MUST_CHECK enum pm_status collect_said_sentence(struct collector *c,
                                                   const struct collect_where *where,
                                                   const struct collect_code *code,
                                                   uint32_t *ret_sentence);

#endif
