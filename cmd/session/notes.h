/* What a session has to say to people, in order. It prints nothing: verbs do.
 *
 *     struct session_notes notes = {0};
 *     status = session_prepare(&request, &notes, err, &session, &exit);
 *     for (size_t i = 0; i < notes.n; i++)
 *         cmd_talk("%s%s", session_note_word(notes.items[i].kind), notes.items[i].text);
 *     session_notes_release(&notes);
 *
 * One thread.
 */
#ifndef PM_SESSION_NOTES_H
#define PM_SESSION_NOTES_H

#include "mapping/base/status.h"
#include "mapping/base/str.h"

enum session_note_kind { SESSION_TELLS, SESSION_NOTES, SESSION_WARNS };

struct session_note {
    enum session_note_kind kind;
    char *text; /* owned; one line, lower case, no full stop */
};

struct session_notes {
    struct session_note *items;
    uint32_t n, capacity;
};

/* Adds a line. Without memory it is left out. */
void session_note(struct session_notes *notes, enum session_note_kind kind, const char *format, ...)
    PM_PRINTF(3, 4);
/* The same, unless it is there already. */
void session_note_once(struct session_notes *notes, enum session_note_kind kind, const char *text);
/* What stands in front of the text: "", "note: " or "warning: ". */
const char *session_note_word(enum session_note_kind kind);
/* Empties them, to be used again. */
void session_notes_release(struct session_notes *notes);

#endif
