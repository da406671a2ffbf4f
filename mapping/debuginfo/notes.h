/* What could not be read, for people: each text once, joined by "; ".
 *
 *     struct pm_debug_notes notes = PM_DEBUG_NOTES_INIT;
 *     pm_debug_note(&notes, "'%s': sections are compressed with zstd: ...", path);
 *     puts(notes.text.data);      // NULL: nothing was noted
 *     pm_debug_notes_release(&notes);
 */
#ifndef PM_DEBUG_NOTES_H
#define PM_DEBUG_NOTES_H

#include "../base/str.h"

struct pm_debug_notes {
    struct pm_buf text;
};

#define PM_DEBUG_NOTES_INIT       \
    {                             \
        .text = PM_BUF_INIT(4096) \
    }

void pm_debug_note(struct pm_debug_notes *notes, const char *format, ...) PM_PRINTF(2, 3);
void pm_debug_notes_release(struct pm_debug_notes *notes);

#endif
