#include "notes.h"

/* Below this much text more notes say nothing new. */
enum { NOTES_ENOUGH_BYTES = 2048, NOTE_MAX_BYTES = 1024 };

static void add_shown(struct pm_buf *text, const struct pm_buf *note)
{
    for (size_t i = 0; i < note->len; i++) {
        unsigned char byte = (unsigned char)note->data[i];
        if (byte < 0x20 || byte == 0x7f)
            pm_buf_printf(text, "\\x%02x", byte);
        else
            pm_buf_add_byte(text, byte);
    }
}

void pm_debug_note(struct pm_debug_notes *notes, const char *format, ...)
{
    if (notes->text.len > NOTES_ENOUGH_BYTES)
        return;
    struct pm_buf raw = PM_BUF_INIT(NOTE_MAX_BYTES), note = PM_BUF_INIT(4 * NOTE_MAX_BYTES);
    va_list args;
    va_start(args, format);
    pm_buf_vprintf(&raw, format, args);
    va_end(args);
    if (raw.data)
        add_shown(&note, &raw);
    if (note.data && !(notes->text.data && strstr(notes->text.data, note.data))) {
        if (notes->text.len != 0)
            pm_buf_add_str(&notes->text, "; ");
        pm_buf_add(&notes->text, note.data, note.len);
    }
    pm_buf_release(&raw);
    pm_buf_release(&note);
}

void pm_debug_notes_release(struct pm_debug_notes *notes)
{
    pm_buf_release(&notes->text);
}
