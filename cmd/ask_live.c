/* perfmap ask --live: a question asked of a program that runs. Its run is told what is needed
 * (cmd/session/control.h) and keeps it armed as long as the connection lasts. The run files are
 * valid at any time: they are collected as they are at the ends of each interval, and the
 * difference of the two answers is the interval's. */
#include "ask.h"
#include "cmd/session/client.h"
#include "cmd/session/control.h"
#include "cmd/session/live.h"
#include "cmd/session/need.h"

#include "format/pm_id.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 60000, REPLY_MS = 5000, MAX_REPLY_BYTES = 1 << 24 };

/* One number of an answer. */
struct figure {
    uint64_t what; /* hash of the row and the column */
    struct pm_amount amount;
};

struct figures {
    struct figure *items; /* by what */
    size_t n, capacity;
};

struct asking {
    const struct ask_live *live;
    const struct show_answer_options *options;
    const struct pm_view_options *pm_view_options;
    struct pm_question *question;
    struct pm_error *err;
    struct live_run run;
    struct need need;
    int socket, signals;
    bool ended, interrupted;
    struct figures before;
    struct pm_ask_cost cost_before, cost_in_all;
    uint64_t start_ms, last_ms;
};

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* --- what is needed --- */

struct files_of_run {
    struct need_files files;
    struct pm_error *err;
    enum pm_status status;
};

static void note_file(void *context, const char *path)
{
    struct files_of_run *found = context;
    if (found->status == PM_OK)
        found->status = need_files_add(&found->files, path, found->err);
}

/* Programs and libraries of the run's processes. */
static enum pm_status find_files(struct asking *a, struct need_files *ret_files)
{
    struct files_of_run found = {.err = a->err, .status = PM_OK};
    DIR *dir = opendir(a->run.dir);
    if (!dir)
        return pm_error_system(a->err, errno, "cannot open run folder '%s'", a->run.dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        struct control_process process;
        struct pm_buf path = PM_BUF_INIT(4 * PATH_MAX);
        const char *dot = strrchr(entry->d_name, '.');
        pm_buf_printf(&path, "%s/%s", a->run.dir, entry->d_name);
        if (dot && !strcmp(dot, ".pmr") && !path.failed &&
            control_process_open(path.data, note_file, &found, &process))
            control_process_close(&process);
        pm_buf_release(&path);
    }
    closedir(dir);
    *ret_files = found.files;
    return found.status;
}

/* Adapters say what they see when they see it. */
static bool has_adapter(uint64_t pid)
{
    char path[64], *line = NULL;
    size_t capacity = 0;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/maps", pid);
    FILE *maps = fopen(path, "re");
    while (maps && !found && getline(&line, &capacity, maps) > 0) {
        const char *name = strstr(line, "/libperfmap-");
        found = name && strncmp(name, "/libperfmap-rt", 14) != 0 &&
                strncmp(name, "/libperfmap-heap", 16) != 0;
    }
    free(line);
    if (maps)
        fclose(maps);
    return found;
}

/* Has the program said anything in words of its own? */
static bool has_words(const struct pm_graph *graph)
{
    for (pm_index i = 0; i < graph->n_levels; i++)
        if (strcmp(graph->levels[i].name, "Base") != 0 &&
            strcmp(graph->levels[i].name, "Source") != 0)
            return true;
    return false;
}

static enum pm_status find_need(struct asking *a, enum pm_run_mode mode)
{
    struct need_files files = {0};
    struct pm_archive_data *data = NULL;
    enum pm_status status = find_files(a, &files);
    if (status == PM_OK)
        status = live_run_collect(&a->run, a->err);
    if (status == PM_OK)
        status = pm_archive_load(a->run.archive, PM_ARCHIVE_LOAD_ALL | PM_ARCHIVE_LOAD_MERGED,
                                 a->err, &data);
    if (status == PM_OK)
        status =
            need_find_in(a->question, data->graph, &files, mode,
                         files.has_words || has_words(data->graph) || has_adapter(a->live->pid),
                         a->err, &a->need);
    pm_archive_data_free(data);
    need_files_release(&files);
    return status;
}

/* --- talking with the run --- */

static enum pm_status went_away(struct asking *a)
{
    return pm_error_set(a->err, PM_ERR_SYSTEM, "the run went away without an answer");
}

/* A line whose end is `ok` or an error, and what came before. The connection stays. */
static enum pm_status read_reply(struct asking *a, struct pm_buf *reply)
{
    uint64_t until = now_ms() + REPLY_MS;
    for (;;) {
        char bytes[4096], text[4096];
        struct pollfd fd = {.fd = a->socket, .events = POLLIN};
        const char *last = reply->data ? memrchr(reply->data, '\n', reply->len - 1) : NULL;
        last = last ? last + 1 : reply->data;
        bool whole = reply->len && reply->data[reply->len - 1] == '\n';
        if (whole && !strcmp(last, "ok\n"))
            return PM_OK;
        if (whole && !strncmp(last, "error ", 6)) {
            reply->data[reply->len - 1] = 0;
            session_client_value(last, "text", text, sizeof text);
            return pm_error_set(a->err, PM_ERR_SYSTEM, "%s", text);
        }
        if (now_ms() > until || poll(&fd, 1, 100) < 0)
            return went_away(a);
        if (!fd.revents)
            continue;
        ssize_t n = read(a->socket, bytes, sizeof bytes);
        if (n == 0 || (n < 0 && errno != EINTR))
            return went_away(a);
        if (n > 0)
            pm_buf_add(reply, bytes, (size_t)n);
    }
}

static enum pm_status send_line(struct asking *a, struct pm_buf *line, struct pm_buf *reply)
{
    pm_buf_add_byte(line, '\n');
    if (line->failed)
        return no_memory(a->err);
    for (size_t sent = 0; sent < line->len;) {
        ssize_t n = send(a->socket, line->data + sent, line->len - sent, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return went_away(a);
        sent += n > 0 ? (size_t)n : 0;
    }
    pm_buf_clear(line);
    return read_reply(a, reply);
}

static void tell_waiting(char *reply)
{
    char *rest = NULL, pid[16], answer[16];
    for (char *line = strtok_r(reply, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        session_client_value(line, "pid", pid, sizeof pid);
        session_client_value(line, "answer", answer, sizeof answer);
        if (!strcmp(answer, "waiting"))
            cmd_talk("note: process %s sleeps or is stopped: it is armed when it runs again", pid);
        else if (*answer && strcmp(answer, "done") != 0)
            cmd_talk("warning: process %s could not be armed (%s)", pid, answer);
    }
}

/* From here on it is armed. */
static enum pm_status arm(struct asking *a, const char *mode)
{
    struct pm_buf line = PM_BUF_INIT(CONTROL_LINE_MAX), reply = PM_BUF_INIT(MAX_REPLY_BYTES);
    enum pm_status status = PM_OK;
    const char *between = " ids=";
    pm_buf_printf(&line, "perfmap 1 need set=%s", mode);
    for (size_t i = 0; i < a->need.modes.n && status == PM_OK; i++) {
        const struct mode_need *need = &a->need.modes.items[i];
        if (need->mode == PM_RUN_MODE_OFF)
            continue;
        pm_buf_printf(&line, "%s%s%016" PRIx64, between, need->fixed ? "!" : "", need->id);
        between = ",";
        if (line.len < LINE_BYTES)
            continue;
        pm_buf_add_str(&line, " more=1");
        status = send_line(a, &line, &reply);
        pm_buf_clear(&reply);
        pm_buf_printf(&line, "perfmap 1 need set=%s", mode);
        between = " ids=";
    }
    if (status == PM_OK)
        status = send_line(a, &line, &reply);
    if (status == PM_OK)
        tell_waiting(reply.data);
    pm_buf_release(&line);
    pm_buf_release(&reply);
    return status;
}

/* Waits until the run has taken everything back. */
static void disarm(struct asking *a)
{
    char bytes[256];
    uint64_t until = now_ms() + REPLY_MS;
    struct pollfd fd = {.fd = a->socket, .events = POLLIN};
    shutdown(a->socket, SHUT_WR);
    while (now_ms() < until && poll(&fd, 1, 100) >= 0)
        if (fd.revents && read(a->socket, bytes, sizeof bytes) <= 0)
            break;
    close(a->socket);
    a->socket = -1;
}

/* The mode that code is to be measured in: what the run does elsewhere. */
static enum pm_status find_mode(struct asking *a, const char **ret_mode)
{
    struct pm_buf line = PM_BUF_INIT(64), reply = PM_BUF_INIT(MAX_REPLY_BYTES);
    char mode[16] = "";
    pm_buf_add_str(&line, "perfmap 1 show\n");
    enum pm_status status = session_client_ask(a->run.dir, &line, a->err, &reply);
    if (status == PM_OK && !strncmp(reply.data, "run ", 4)) {
        *strchrnul(reply.data, '\n') = 0;
        session_client_value(reply.data, "mode", mode, sizeof mode);
    }
    if (status == PM_OK && !strcmp(mode, "off"))
        status = pm_error_set(a->err, PM_ERR_USAGE,
                              "the run was started with --mode off, which cannot be changed; start "
                              "it with --off '*' instead");
    *ret_mode = a->live->mode            ? a->live->mode
                : !strcmp(mode, "exact") ? "exact"
                : !strcmp(mode, "trace") ? "trace"
                                         : "active";
    pm_buf_release(&line);
    pm_buf_release(&reply);
    return status;
}

/* --- differences --- */

static bool add_figure(struct figures *figures, uint64_t what, struct pm_amount amount)
{
    struct figure *items = figures->items;
    if (figures->n == figures->capacity) {
        size_t capacity = figures->capacity ? figures->capacity * 2 : 256;
        items = pm_realloc_array(items, capacity, sizeof *items);
        if (!items)
            return false;
        figures->items = items;
        figures->capacity = capacity;
    }
    items[figures->n++] = (struct figure){what, amount};
    return true;
}

static int by_what(const void *x, const void *y)
{
    uint64_t a = ((const struct figure *)x)->what, b = ((const struct figure *)y)->what;
    return (a > b) - (a < b);
}

static struct pm_amount figure_of(const struct figures *figures, uint64_t what)
{
    struct figure key = {.what = what};
    const struct figure *found =
        figures->n ? bsearch(&key, figures->items, figures->n, sizeof key, by_what) : NULL;
    return found ? found->amount : (struct pm_amount){0, 0};
}

static void add_noun(struct pm_buf *text, const struct pm_graph *graph, pm_index noun)
{
    const struct pm_graph_noun *n = &graph->nouns[noun];
    pm_buf_printf(text, "%" PRId64 " %s %s %s:%u %s|", n->id, n->kind, n->name, n->file, n->line_no,
                  n->binary);
}

/* What a row is, in words that do not change from one archive to the next. */
static uint64_t name_of(const struct pm_graph *graph, const struct pm_answer *answer,
                        const struct pm_answer_row *row, struct pm_buf *text)
{
    pm_buf_clear(text);
    for (uint32_t i = 0; i < answer->n_asked; i++) {
        for (uint32_t k = 0; k < row->matches[i].n_classes; k++) {
            const struct pm_question_class *c =
                &answer->matches[answer->asked[i]].classes[row->matches[i].classes[k]];
            pm_buf_printf(text, "%s:%s ", graph->levels[graph->verbs[c->verb].level].name,
                          graph->verbs[c->verb].name);
            for (uint32_t n = 0; n < c->n_nouns; n++)
                add_noun(text, graph, c->nouns[n]);
        }
        pm_buf_add_byte(text, ';');
    }
    return text->data ? XXH64(text->data, text->len, 0) : 0;
}

struct subtraction {
    const struct figures *before;
    struct figures *now;
    bool good;
};

/* Keeps what it is now, and leaves what has come. */
static void subtract(struct subtraction *s, uint64_t row, const char *column,
                     enum pm_aggregation aggregation, struct pm_amount *amount)
{
    uint64_t what = XXH64(column, strlen(column), row);
    struct pm_amount before = figure_of(s->before, what);
    s->good &= add_figure(s->now, what, *amount);
    if (aggregation != PM_SUM && aggregation != PM_AVERAGE)
        return;
    amount->value -= before.value;
    amount->n -= before.n;
}

static void subtract_all(struct subtraction *s, const struct pm_graph *graph, uint64_t row,
                         const char *prefix, struct pm_amount *amounts)
{
    char column[256];
    for (pm_index m = 0; m < graph->n_metrics; m++) {
        snprintf(column, sizeof column, "%s%s", prefix, graph->metrics[m].name);
        subtract(s, row, column, graph->metrics[m].aggregation, &amounts[m]);
    }
}

/* The answer of all so far becomes that of the interval. */
static enum pm_status take_difference(struct asking *a, const struct pm_graph *graph,
                                      struct pm_answer *answer)
{
    struct figures now = {0};
    struct subtraction s = {&a->before, &now, true};
    struct pm_buf text = PM_BUF_INIT(1 << 24);
    subtract_all(&s, graph, 1, "", answer->amounts);
    subtract_all(&s, graph, 2, "", answer->totals);
    subtract_all(&s, graph, 3, "", answer->deferred);
    for (uint32_t r = 0; r < answer->n_rows && s.good; r++) {
        struct pm_answer_row *row = &answer->rows[r];
        uint64_t name = name_of(graph, answer, row, &text);
        struct pm_amount times = {row->n_times, 0};
        subtract_all(&s, graph, name, "", row->amounts);
        subtract_all(&s, graph, name, "shared ", row->shared);
        subtract_all(&s, graph, name, "deferred ", row->deferred);
        subtract(&s, name, "times ", PM_SUM, &times);
        row->n_times = times.value;
        row->times_known &= times.value != 0;
    }
    if (now.n)
        qsort(now.items, now.n, sizeof *now.items, by_what);
    free(a->before.items);
    a->before = now;
    bool good = s.good && !text.failed;
    pm_buf_release(&text);
    return good ? PM_OK : no_memory(a->err);
}

/* --- intervals --- */

static struct pm_ask_cost cost_between(const struct pm_ask_cost *before,
                                       const struct pm_ask_cost *now, double seconds)
{
    bool known = now->events_ns != PM_UNKNOWN && before->events_ns != PM_UNKNOWN;
    struct pm_ask_cost cost = {now->n_calls - before->n_calls,
                               known ? now->events_ns - before->events_ns : PM_UNKNOWN,
                               now->samples_ns - before->samples_ns, NAN};
    if (seconds > 0 && known)
        cost.share_pct = (double)(cost.events_ns + cost.samples_ns) / 1e7 / seconds;
    return cost;
}

static void add_cost(struct pm_ask_cost *sum, const struct pm_ask_cost *cost)
{
    bool known = sum->events_ns != PM_UNKNOWN && cost->events_ns != PM_UNKNOWN;
    sum->n_calls += cost->n_calls;
    sum->events_ns = known ? sum->events_ns + cost->events_ns : PM_UNKNOWN;
    sum->samples_ns += cost->samples_ns;
}

/* What there is now, less what there was. prints: false for the first, which is what was there
 * before. */
static enum pm_status look(struct asking *a, bool prints)
{
    struct pm_view report = {.options = *a->pm_view_options};
    struct pm_answer *answer = NULL;
    struct pm_ask_cost cost;
    uint64_t now = now_ms();
    report.options.archive_path = a->run.archive;
    enum pm_status status = live_run_collect(&a->run, a->err);
    if (status == PM_OK)
        status = pm_ask_answer(&report, a->question, true, a->err, &answer);
    if (status == PM_OK)
        status = pm_ask_find_cost(report.data, a->question, a->err, &cost);
    if (status == PM_OK)
        status = take_difference(a, report.data->graph, answer);
    if (status == PM_OK && prints) {
        struct show_interval interval = {a->live->pid, (double)(a->last_ms - a->start_ms) / 1e3,
                                         (double)(now - a->start_ms) / 1e3};
        struct pm_ask_cost spent =
            cost_between(&a->cost_before, &cost, interval.to_s - interval.from_s);
        struct show_answer_options options = *a->options;
        options.interval = &interval;
        options.cost = &spent;
        add_cost(&a->cost_in_all, &spent);
        status = show_answer(&report, a->question, answer, &options, a->err);
        if (!options.json)
            putchar('\n');
        fflush(stdout);
    }
    if (status == PM_OK) {
        a->cost_before = cost;
        a->last_ms = now;
    }
    pm_answer_free(answer);
    pm_view_release(&report);
    return status;
}

/* Until then, or until the program or the user ends it. */
static void wait_until(struct asking *a, uint64_t until)
{
    char bytes[256];
    do { /* looks once even when it is late */
        struct pollfd fds[] = {{.fd = a->signals, .events = POLLIN},
                               {.fd = a->socket, .events = POLLIN}};
        uint64_t now = now_ms();
        int rest = until > now + 1000 ? 1000 : until > now ? (int)(until - now) : 0;
        if (poll(fds, 2, rest) < 0 && errno != EINTR)
            break;
        struct signalfd_siginfo info; /* taken, so that it does not end us afterwards */
        a->interrupted = fds[0].revents && read(a->signals, &info, sizeof info) > 0;
        if (fds[1].revents) /* "ended", or the run is gone */
            a->ended = read(a->socket, bytes, sizeof bytes) >= 0 || errno != EINTR;
    } while (!a->ended && !a->interrupted && now_ms() < until);
}

static enum pm_status answer_intervals(struct asking *a)
{
    const struct ask_live *live = a->live;
    enum pm_status status = look(a, false);
    uint64_t next = now_ms(), end = live->for_ms ? next + live->for_ms : UINT64_MAX;
    bool goes_on = status == PM_OK;
    a->start_ms = a->last_ms;
    while (goes_on) {
        next += live->every_ms ? live->every_ms : live->for_ms;
        if (next < now_ms()) /* collecting takes longer than an interval */
            next = now_ms();
        wait_until(a, next < end ? next : end);
        goes_on = !a->ended && !a->interrupted && next < end;
        status = look(a, true);
        goes_on = goes_on && status == PM_OK && !ferror(stdout);
    }
    return status;
}

static void tell_cost(const struct asking *a)
{
    const struct pm_ask_cost *cost = &a->cost_in_all;
    char spent[64] = "";
    if (cost->events_ns != PM_UNKNOWN)
        snprintf(spent, sizeof spent, " cost the program about %.3f ms",
                 (double)(cost->events_ns + cost->samples_ns) / 1e6);
    cmd_talk("asked for %.1f s: %lld calls%s%s; %s", (double)(a->last_ms - a->start_ms) / 1e3,
             (long long)cost->n_calls, cost->samples_ns > 0 ? " and samples" : "", spent,
             a->ended ? "the program has ended" : "all is as before");
}

static enum pm_status ask_it(struct asking *a)
{
    const char *mode = NULL;
    enum pm_status status = pm_question_parse(a->options->text, a->err, &a->question);
    if (status == PM_OK)
        status = live_run_open(a->live->pid, a->err, &a->run);
    if (status == PM_OK)
        status = find_mode(a, &mode);
    if (status == PM_OK)
        status = find_need(a, PM_RUN_MODE_ACTIVE);
    if (status == PM_OK)
        status = session_client_connect(a->run.dir, a->err, &a->socket);
    if (status == PM_OK)
        status = arm(a, mode);
    if (status != PM_OK)
        return status;
    cmd_talk("%" PRIu64 " of %" PRIu64 " sleds armed for the question (%u functions and loops)",
             a->need.n_sleds, a->need.n_sleds_all, (unsigned)a->need.n_followed);
    if (a->need.note)
        cmd_talk("note: %s", a->need.note);
    status = answer_intervals(a);
    disarm(a);
    if (status == PM_OK)
        tell_cost(a);
    return status;
}

int ask_live(struct cmd_parse *parse, const struct ask_live *live,
             const struct show_answer_options *options, const struct pm_view_options *report)
{
    struct pm_error err = PM_ERROR_INIT;
    struct asking a = {
        .live = live, .options = options, .pm_view_options = report, .err = &err, .socket = -1};
    sigset_t waited, before;
    sigemptyset(&waited);
    sigaddset(&waited, SIGINT);
    sigaddset(&waited, SIGTERM);
    sigaddset(&waited, SIGHUP);
    sigprocmask(SIG_BLOCK, &waited, &before);
    a.signals = signalfd(-1, &waited, SFD_CLOEXEC | SFD_NONBLOCK);
    enum pm_status status = ask_it(&a);
    int end = status == PM_OK ? cmd_stdout_done(parse, CMD_DONE) : cmd_refuse(parse, status, &err);
    if (a.socket >= 0)
        close(a.socket);
    if (a.signals >= 0)
        close(a.signals);
    live_run_close(&a.run);
    need_release(&a.need);
    pm_question_free(a.question);
    free(a.before.items);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return end;
}
