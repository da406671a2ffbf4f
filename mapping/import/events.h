/* Events of threads in any order: kept, sorted, and made a tree and a trace of. However many there
 * are, no more than some megabytes are in memory: the rest is in a temporary file.
 *
 *     struct import_events *events = import_events_new(im, 0);
 *     status = import_events_add(events, &event);       // any number
 *     status = import_events_begin(events);
 *     while (import_events_thread(events, &thread))
 *         status = import_events_walk(events, process, row);
 *     import_events_tell(events);
 *     import_events_free(events);
 */
#ifndef PM_IMPORT_EVENTS_H
#define PM_IMPORT_EVENTS_H

#include "reader.h"

enum import_event_kind { IMPORT_ENTER, IMPORT_LEAVE, IMPORT_WHOLE };

struct import_event {
    int64_t time_ns, duration_ns; /* duration_ns: IMPORT_WHOLE, not negative */
    uint32_t thread;              /* the reader's number */
    uint32_t frame;               /* 0: a leave of whatever is open */
    enum import_event_kind kind;
};

struct import_events;

/* most_in_memory: 0: as many as take 64 MiB. NULL: memory. */
struct import_events *import_events_new(struct import *im, uint32_t most_in_memory);
void import_events_free(struct import_events *events);
PM_MUST_CHECK enum pm_status import_events_add(struct import_events *events,
                                               const struct import_event *event);
/* Frames of events are positions in this list, from 1: for names that come behind their events.
 * Lent, before the walk. */
void import_events_frames(struct import_events *events, const uint32_t *frames);
/* No more will come. */
PM_MUST_CHECK enum pm_status import_events_begin(struct import_events *events);
/* The next thread that has events, by number. False: there is none. */
bool import_events_thread(const struct import_events *events, uint32_t *ret_thread);
/* All events of that thread: contexts, calls, times and a trace of the sink's thread. */
PM_MUST_CHECK enum pm_status import_events_walk(struct import_events *events, uint32_t process,
                                                uint32_t thread);
/* When they were, and what was made up or left out. */
void import_events_tell(struct import_events *events);

#endif
