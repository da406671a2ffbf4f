#include "ahead.h"

#include "mapping/base/threads.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    LEAST_FILES = 8,             /* fewer are not worth a thread */
    MOST_AHEAD_BYTES = 32 << 20, /* of files that are read before their turn */
};

struct place {
    enum { FRESH, READING, READ, TAKEN } state;
    struct pm_run_file *file;
    enum pm_status status;
    struct pm_error err;
};

struct run_ahead {
    const struct run_ahead_file *files;
    size_t n, most_ahead;
    const struct pm_run_clock *clock;
    struct place *places;
    struct pm_threads *threads;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t next, wanted; /* the first that is fresh; the one whose turn it is */
    uint64_t ahead_bytes;
    bool stop;
};

static bool may_read_next(const struct run_ahead *a)
{
    if (a->next == a->n || a->next - a->wanted >= a->most_ahead)
        return false;
    return a->next == a->wanted ||
           (a->files[a->next].size_bytes <= MOST_AHEAD_BYTES &&
            a->ahead_bytes + a->files[a->next].size_bytes <= MOST_AHEAD_BYTES);
}

/* With the lock, which is not held meanwhile. */
static void read_next(struct run_ahead *a)
{
    size_t i = a->next++;
    struct place *place = &a->places[i];
    place->state = READING;
    a->ahead_bytes += a->files[i].size_bytes;
    pthread_mutex_unlock(&a->lock);
    place->status = pm_run_file_open(a->files[i].path, a->clock, &place->err, &place->file);
    pthread_mutex_lock(&a->lock);
    place->state = READ;
    pthread_cond_broadcast(&a->changed);
}

static void work(void *context, unsigned number)
{
    struct run_ahead *a = context;
    (void)number;
    pthread_mutex_lock(&a->lock);
    while (!a->stop)
        if (may_read_next(a))
            read_next(a);
        else
            pthread_cond_wait(&a->changed, &a->lock);
    pthread_mutex_unlock(&a->lock);
}

struct run_ahead *run_ahead_new(const struct run_ahead_file *files, size_t n,
                                const struct pm_run_clock *clock, unsigned n_threads)
{
    struct run_ahead *a = pm_alloc(sizeof *a);
    if (!a)
        return NULL;
    n_threads = n_threads ? n_threads : pm_n_processors();
    *a = (struct run_ahead){
        .files = files, .n = n, .clock = clock, .most_ahead = 2 * (size_t)n_threads + 2};
    a->places = pm_alloc_array(n, sizeof *a->places);
    if (!a->places) {
        free(a);
        return NULL;
    }
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    if (n >= LEAST_FILES)
        a->threads = pm_threads_start(n_threads - 1, work, a);
    return a;
}

enum pm_status run_ahead_take(struct run_ahead *a, size_t i, struct pm_error *err,
                              struct pm_run_file **ret_file)
{
    struct place *place = &a->places[i];
    pthread_mutex_lock(&a->lock);
    PM_ASSERT(place->state != TAKEN && i >= a->wanted);
    a->wanted = i;
    while (place->state != READ)
        if (may_read_next(a))
            read_next(a);
        else
            pthread_cond_wait(&a->changed, &a->lock);
    place->state = TAKEN;
    a->ahead_bytes -= a->files[i].size_bytes;
    a->wanted = i + 1;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    *ret_file = place->file;
    place->file = NULL;
    if (place->status != PM_OK)
        pm_error_set(err, place->status, "%s", pm_error_text(&place->err));
    return place->status;
}

void run_ahead_free(struct run_ahead *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->stop = true;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    pm_threads_join(a->threads);
    for (size_t i = 0; i < a->n; i++) {
        pm_run_file_free(a->places[i].file);
        pm_error_release(&a->places[i].err);
    }
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->changed);
    free(a->places);
    free(a);
}
