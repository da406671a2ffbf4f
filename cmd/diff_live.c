/* perfmap diff --live: a run that goes on, interval by interval, against archives, or against
 * another one. */
#include "diff.h"

#include "cmd/session/live.h"
#include "mapping/archive/load.h"
#include "mapping/view/interval.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { INTERVAL_MS = 1500 };

struct watched {
    uint64_t pid;
    struct live_run run;
    int64_t begin_ns, end_ns; /* of the interval, from the start of the run: what is known of it */
    char from[32];
    char label[96];
    const char *paths[1];
};

struct watching {
    struct cmd_parse *parse;
    const struct diff_live *live;
    struct watched watched[2];
    struct pm_error err;
    sigset_t signals;
    uint64_t waited_ms;
    bool interrupted, ended;
};

/* Ctrl-C ends it, and leaves nothing behind. */
static void wait_interval(struct watching *w, uint64_t ms)
{
    struct timespec rest = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    w->interrupted = sigtimedwait(&w->signals, NULL, &rest) > 0;
    w->waited_ms += ms;
    for (uint32_t i = 0; i < w->live->n; i++)
        if (kill((pid_t)w->watched[i].pid, 0) != 0) {
            cmd_talk("process %" PRIu64 " has ended: 'perfmap run' writes its archive",
                     w->watched[i].pid);
            w->ended = true;
        }
}

/* What there is, and where in it the interval begins: where the last one ended. Processes hand
 * their samples over every now and then, so it is not where the clock is. */
static enum pm_status collect(struct watching *w, struct watched *watched)
{
    struct pm_archive_data *data;
    enum pm_status status = live_run_collect(&watched->run, &w->err);
    if (status != PM_OK)
        return status;
    status = pm_archive_load(watched->run.archive, PM_ARCHIVE_LOAD_TABLES, &w->err, &data);
    if (status != PM_OK)
        return status;
    watched->begin_ns = watched->end_ns;
    watched->end_ns = pm_view_run_ns(data);
    pm_archive_data_free(data);
    snprintf(watched->from, sizeof watched->from, "%.3f ms", (double)watched->begin_ns / 1e6);
    snprintf(watched->label, sizeof watched->label, "process %" PRIu64 ", %.2f s to %.2f s",
             watched->pid, (double)watched->begin_ns / 1e9, (double)watched->end_ns / 1e9);
    watched->paths[0] = watched->run.archive;
    return PM_OK;
}

static enum pm_status collect_all(struct watching *w)
{
    enum pm_status status = PM_OK;
    for (uint32_t i = 0; i < w->live->n && !status; i++)
        status = collect(w, &w->watched[i]);
    return status;
}

static bool has_news(const struct watching *w)
{
    for (uint32_t i = 0; i < w->live->n; i++)
        if (w->watched[i].end_ns <= w->watched[i].begin_ns)
            return false;
    return true;
}

static int compare_interval(struct watching *w, const struct pm_compare_input *base)
{
    struct pm_compare_input inputs[2] = {{0}};
    if (!has_news(w)) {
        cmd_talk("nothing is known of the last interval: the program slept, or has handed over no "
                 "samples yet");
        return CMD_DONE;
    }
    for (uint32_t i = 0; i < w->live->n; i++)
        inputs[2 - w->live->n + i] = (struct pm_compare_input){
            w->watched[i].paths, 1, w->watched[i].from, w->watched[i].label};
    if (w->live->n == 1)
        inputs[PM_COMPARE_A] = *base;
    int end = w->live->compare(w->parse, w->live->context, inputs);
    fflush(stdout);
    return end;
}

static int watch(struct watching *w, const struct pm_compare_input *base)
{
    uint64_t every_ms = w->live->every_ms, for_ms = w->live->for_ms;
    if (!for_ms)
        for_ms = every_ms ? UINT64_MAX : INTERVAL_MS;
    if (!every_ms)
        every_ms = for_ms;
    int end = CMD_DONE;
    if (collect_all(w) != PM_OK)
        return cmd_fail(w->parse, &w->err);
    while (end == CMD_DONE && !ferror(stdout) && !w->interrupted && !w->ended &&
           w->waited_ms < for_ms) {
        wait_interval(w, every_ms < for_ms - w->waited_ms ? every_ms : for_ms - w->waited_ms);
        if (w->interrupted || w->ended)
            break;
        if (collect_all(w) != PM_OK)
            return cmd_fail(w->parse, &w->err);
        end = compare_interval(w, base);
    }
    return end;
}

static bool open_all(struct watching *w)
{
    for (uint32_t i = 0; i < w->live->n; i++) {
        w->watched[i].pid = w->live->pids[i];
        if (live_run_open(w->live->pids[i], &w->err, &w->watched[i].run) != PM_OK)
            return false;
    }
    return true;
}

int diff_live(struct cmd_parse *parse, const struct diff_live *live,
              const struct pm_compare_input *base)
{
    struct watching w = {.parse = parse, .live = live};
    sigset_t before;
    sigemptyset(&w.signals);
    sigaddset(&w.signals, SIGINT);
    sigaddset(&w.signals, SIGTERM);
    sigaddset(&w.signals, SIGHUP);
    sigaddset(&w.signals, SIGPIPE); /* the reader has gone */
    sigprocmask(SIG_BLOCK, &w.signals, &before);
    int end = open_all(&w) ? watch(&w, base) : cmd_fail(parse, &w.err);
    for (uint32_t i = 0; i < live->n; i++)
        live_run_close(&w.watched[i].run);
    pm_error_release(&w.err);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return end;
}
