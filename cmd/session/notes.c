/* Lines for people (notes.h). */
#include "notes.h"

#include <stdarg.h>

/* Takes the text. */
static void add(struct session_notes *notes, enum session_note_kind kind, char *text)
{
    struct session_note *items = NULL;
    if (text)
        items = pm_grow_array(notes->items, notes->n, &notes->capacity, 8, sizeof *items);
    if (!items) {
        free(text);
        return;
    }
    notes->items = items;
    items[notes->n++] = (struct session_note){kind, text};
}

void session_note(struct session_notes *notes, enum session_note_kind kind, const char *format, ...)
{
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    va_list args;
    va_start(args, format);
    pm_buf_vprintf(&text, format, args);
    va_end(args);
    add(notes, kind, pm_buf_take(&text));
    pm_buf_release(&text);
}

void session_note_once(struct session_notes *notes, enum session_note_kind kind, const char *text)
{
    for (uint32_t i = 0; i < notes->n; i++)
        if (notes->items[i].kind == kind && !strcmp(notes->items[i].text, text))
            return;
    add(notes, kind, pm_strndup(text, strlen(text)));
}

const char *session_note_word(enum session_note_kind kind)
{
    static const char *const words[] = {"", "note: ", "warning: "};
    return words[kind];
}

void session_notes_release(struct session_notes *notes)
{
    for (uint32_t i = 0; i < notes->n; i++)
        free(notes->items[i].text);
    free(notes->items);
    *notes = (struct session_notes){0};
}
