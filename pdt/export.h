/* A program database for other tools.
 *
 *     struct pm_buf text = PM_BUF_INIT(SIZE_MAX / 2);
 *     if (pdt_export_pdb(pdb, &text, &err) == PM_OK)       // PDB 3.0
 *         fwrite(text.data, 1, text.len, stdout);
 *     pm_buf_release(&text);
 */
#ifndef PDT_EXPORT_H
#define PDT_EXPORT_H

#include "pdb.h"

PM_MUST_CHECK enum pm_status pdt_export_pdb(struct pm_database *pdb, struct pm_buf *out,
                                            struct pm_error *err);
/* The same nouns with the same ids as the compiler plugin's facts; docs/formats/pif.md. */
PM_MUST_CHECK enum pm_status pdt_export_pif(struct pm_database *pdb, struct pm_buf *out,
                                            struct pm_error *err);

#endif
