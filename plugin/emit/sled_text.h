/* The assembler text of one sled: the no-operation and its record.
 *
 *     struct pm_buf text = PM_BUF_INIT(PM_SLED_TEXT_MAX);
 *     pm_sled_text(&text, "%=", "main", true, PM_SLED_ENTRY, PM_SLED_SP_AT_CFA, must_save, id);
 *
 * For GNU and LLVM assemblers, AT&T and Intel syntax, x86-64. The text goes into one extended asm;
 * `unique` is what the compiler replaces by a number of its own for each copy ("%=" in GCC,
 * "${:uid}" in LLVM), so that each copy has its own labels and its own record.
 * docs/formats/sled-section.md says why each line is there.
 */
#ifndef PM_EMIT_SLED_TEXT_H
#define PM_EMIT_SLED_TEXT_H

#include "../../format/pm_sled.h"
#include "../../mapping/base/str.h"

enum {
    /* longer section symbols are not used: C++ has names of any length */
    PM_SLED_SYMBOL_MAX = 2048,
    PM_SLED_TEXT_MAX = 1024 + PM_SLED_SYMBOL_MAX,
};

/* section_symbol: a symbol that lies in the same section as the sled, the same one for all sleds of
 * a section where possible, for there is a record section for each (an object file with 7000
 * sections is large); NULL: the sled's own label. refers: this sled also does what one of each such
 * symbol has to do: it aligns the section and refers to it, or gold would drop the records. */
void pm_sled_text(struct pm_buf *out, const char *unique, const char *section_symbol, bool refers,
                  unsigned kind, unsigned flags, unsigned must_save, uint64_t id);

/* Only the first line of it, a comment: marks a place for portable mode. */
void pm_sled_text_mark(struct pm_buf *out, unsigned kind, unsigned flags, uint64_t id);

/* Is this the text of one of our sleds? Then the values come back; ret_ pointers may be NULL. */
bool pm_sled_text_parse(const char *text, unsigned *ret_kind, unsigned *ret_flags,
                        uint64_t *ret_id);

#endif
