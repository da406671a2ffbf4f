#include "sled_text.h"

#include <inttypes.h>
#include <stdlib.h>

#define SLED_TEXT_HEAD "# perfmap sled "

void pm_sled_text_mark(struct pm_buf *out, unsigned kind, unsigned flags, uint64_t id)
{
    pm_buf_printf(out, SLED_TEXT_HEAD "%u %u 0x%" PRIx64 "\n", kind, flags, id);
}

static void add_all(struct pm_buf *out, const char *a, const char *b, const char *c)
{
    pm_buf_add_str(out, a);
    pm_buf_add_str(out, b);
    pm_buf_add_str(out, c);
}

/* Line by line:
 *   .reloc      a relocation without effect, from the code to its record: gold drops link-ordered
 *               sections under --gc-sections unless something in the kept code refers to them.
 *               One of a section does, and more are dear: as walks the list of all .reloc for
 *               each section that it writes (SQLite: a quarter of its time with one a sled)
 *   .balign     sets the section's alignment once: records have twice that size
 *   "ao?"       read-only; kept and dropped with the section of the symbol; in the group of the
 *               current section, if any
 *   .long x-.   relative, so that no relocation is left for the dynamic linker
 */
void pm_sled_text(struct pm_buf *out, const char *unique, const char *section_symbol, bool refers,
                  unsigned kind, unsigned flags, unsigned must_save, uint64_t id)
{
    bool begins = refers || !section_symbol;
    pm_sled_text_mark(out, kind, flags, id);
    add_all(out, ".Lpm_sled", unique, ":\n\t.byte 0x0f,0x1f,0x44,0x00,0x00\n");
    if (begins) {
        add_all(out, "\t.reloc .Lpm_sled", unique, ", R_X86_64_NONE, .Lpm_record");
        add_all(out, unique, "\n", "");
    }
    pm_buf_add_str(out, "\t.pushsection " PM_SLED_SECTION ",\"ao?\",@progbits,");
    if (section_symbol)
        add_all(out, "", section_symbol, "\n");
    else
        add_all(out, ".Lpm_sled", unique, "\n");
    if (begins)
        add_all(out, "\t.balign 8\n.Lpm_record", unique, ":\n");
    add_all(out, "\t.long .Lpm_sled", unique, " - .\n");
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
