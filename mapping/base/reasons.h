/* Reasons of mappings that readers of an archive know by their words. */
#ifndef PM_REASONS_H
#define PM_REASONS_H

/* Of origin "possible": the code touches none of that data, but may work for it. Questions give a
 * bound of it; rows, lines and explanations leave it out. */
#define PM_REASON_MAY_SERVE "touches none, may work for it"

#endif
