#include "sled_text.h"

#include <inttypes.h>
#include <stdlib.h>

#define SLED_TEXT_HEAD "# perfmap sled "

void pm_sled_text_mark(struct pm_buf *out, unsigned kind, unsigned flags, uint64_t id)
{
    pm_buf_printf(out, SLED_TEXT_HEAD "%u %u 0x%" PRIx64 "\n", kind, flags, id);
}

/* Line by line:
 *   .reloc      a relocation without effect, from the code to its record: gold drops link-ordered
 *               sections under --gc-sections unless something in the kept code refers to them.
 *               One of a section does, and more are dear: as walks the list of all .reloc for
 *               each section that it writes (SQLite: a quarter of its time with one a sled)
 *   "ao?"       read-only; kept and dropped with the section of the symbol; in the group of the
 *               current section, if any
 *   .long x-.   relative, so that no relocation is left for the dynamic linker
 */
void pm_sled_text(struct pm_buf *out, const char *unique, const char *section_symbol, bool refers,
                  unsigned kind, unsigned flags, unsigned must_save, uint64_t id)
{
    pm_sled_text_mark(out, kind, flags, id);
    pm_buf_printf(out, ".Lpm_sled%s:\n\t.byte 0x0f,0x1f,0x44,0x00,0x00\n", unique);
    if (refers || !section_symbol)
        pm_buf_printf(out, "\t.reloc .Lpm_sled%s, R_X86_64_NONE, .Lpm_record%s\n", unique, unique);
    pm_buf_add_str(out, "\t.pushsection " PM_SLED_SECTION ",\"ao?\",@progbits,");
    if (section_symbol)
        pm_buf_printf(out, "%s\n", section_symbol);
    else
        pm_buf_printf(out, ".Lpm_sled%s\n", unique);
    pm_buf_add_str(out, "\t.balign 8\n");
    if (refers || !section_symbol)
        pm_buf_printf(out, ".Lpm_record%s:\n", unique);
    pm_buf_printf(out, "\t.long .Lpm_sled%s - .\n", unique);
    pm_buf_printf(out, "\t.byte %u,%u\n\t.short 0x%x\n\t.quad 0x%" PRIx64 "\n\t.popsection", kind,
                  flags, must_save, id);
}

bool pm_sled_text_parse(const char *text, unsigned *ret_kind, unsigned *ret_flags, uint64_t *ret_id)
{
    static const size_t head_len = sizeof SLED_TEXT_HEAD - 1;
    if (strncmp(text, SLED_TEXT_HEAD, head_len) != 0)
        return false;
    char *end;
    unsigned long kind = strtoul(text + head_len, &end, 10);
    unsigned long flags = strtoul(end, &end, 10);
    uint64_t id = strtoull(end, &end, 16);
    if (*end != '\n')
        return false;
    if (ret_kind)
        *ret_kind = (unsigned)kind;
    if (ret_flags)
        *ret_flags = (unsigned)flags;
    if (ret_id)
        *ret_id = id;
    return true;
}
