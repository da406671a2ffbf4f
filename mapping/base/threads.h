/* Threads that do one piece of work together.
 *
 *     struct pm_threads *threads = pm_threads_start(pm_n_processors() - 1, take_work, pile);
 *     take_work(pile, 0);                                  // the caller is one of them
 *     pm_threads_join(threads);
 *
 * They take no signals: these are for the threads that the program has beside. How many there are
 * changes how long something takes, never what comes out, so fewer are no error.
 */
#ifndef PM_THREADS_H
#define PM_THREADS_H

/* Of those that this process may run on; at least 1. */
unsigned pm_n_processors(void);

struct pm_threads;
/* Starts threads that call work(context, 1), (context, 2), ... and end when it returns: n, or as
 * many as the system has. NULL: none. */
struct pm_threads *pm_threads_start(unsigned n, void (*work)(void *context, unsigned number),
                                    void *context);
/* Waits for their ends, and frees. NULL is fine. */
void pm_threads_join(struct pm_threads *threads);

#endif
