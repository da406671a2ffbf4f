/* The socket of a run, and what is done for those who ask. */
#include "control.h"
#include "kernel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_CLIENTS = 16,
    MAX_ASKERS = 8,   /* clients that keep something measured */
    CLIENT_MS = 2000, /* to send its line, and to take the answer */
    POLL_MS = 2,      /* between two looks for answers of processes */
    WAIT_MS = 2000,   /* for these, unless asked otherwise */
    MAX_WAIT_MS = 600000,
    MAX_PROCESSES = 4096,
    /* until those that have not changed are asked again; then twice as long, and so on */
    SETTLE_MS = 50,
    MAX_SETTLE_MS = 2000,
    MAX_REFUSED = 20,
    /* a process that read the plan just before it changed has left its file by then */
    LATE_MS = 1000,
};

struct client {
    int fd;
    uint64_t until_ms;
    struct pm_buf line;
    bool asks;               /* it stays, and with it its needs */
    struct mode_needs needs; /* sorted */
};

struct session_control {
    char *run_dir, *socket_path;
    struct mode_names *names;
    struct mode_choice choice;
    const struct mode_needs *live[MAX_CLIENTS]; /* of choice */
    struct mode_needs dropped;     /* what is no longer needed: the budget may have it again */
    struct session_kernel *kernel; /* lent; NULL: nobody asks what the kernel writes */
    int listener;
    struct client clients[MAX_CLIENTS];
    size_t n_clients;
    uint64_t settle_ms, late_ms; /* when to look whether all is as it should be; 0: it is */
    uint64_t pause_ms;           /* until settle_ms, the last time */
    /* times in a row that a process refused: a thread that is just being made blocks SIGTRAP */
    unsigned n_refused;
};

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

struct session_control *session_control_new(const char *run_dir, struct mode_names *names,
                                            struct mode_choice *choice)
{
    struct session_control *c = pm_alloc(sizeof *c);
    if (!c)
        return NULL;
    c->run_dir = pm_strndup(run_dir, strlen(run_dir));
    c->names = names;
    c->choice = *choice;
    *choice = (struct mode_choice){0};
    c->choice.live = c->live;
    c->listener = -1;
    return c;
}

/* The path of a socket may have 107 bytes, that of a run folder thousands: by a descriptor of
 * the folder it is short. */
static enum pm_status bind_in(int folder, int fd, struct pm_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" CONTROL_SOCKET_NAME,
             folder);
    unlinkat(folder, CONTROL_SOCKET_NAME, 0);
    mode_t mask = umask(077);
    int result = bind(fd, (struct sockaddr *)&address, sizeof address);
    umask(mask);
    if (result != 0 || listen(fd, MAX_CLIENTS) != 0)
        return pm_error_system(err, errno, "cannot listen at '%s'", CONTROL_SOCKET_NAME);
    return PM_OK;
}

enum pm_status session_control_listen(struct session_control *c, struct pm_error *err)
{
    int folder = open(c->run_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return pm_error_system(err, errno, "cannot open run folder '%s'", c->run_dir);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    enum pm_status status =
        fd < 0 ? pm_error_system(err, errno, "cannot make a socket") : bind_in(folder, fd, err);
    close(folder);
    if (status == PM_OK)
        c->listener = fd;
    else if (fd >= 0)
        close(fd);
    return status;
}

static void drop_client(struct session_control *c, size_t i)
{
    close(c->clients[i].fd);
    pm_buf_release(&c->clients[i].line);
    mode_needs_release(&c->clients[i].needs);
    c->clients[i] = c->clients[--c->n_clients];
}

void session_control_free(struct session_control *c)
{
    if (!c)
        return;
    while (c->n_clients)
        drop_client(c, c->n_clients - 1);
    if (c->listener >= 0) {
        struct pm_buf path = PM_BUF_INIT(4 * PATH_MAX);
        close(c->listener);
        pm_buf_printf(&path, "%s/" CONTROL_SOCKET_NAME, c->run_dir);
        if (!path.failed)
            unlink(path.data);
        pm_buf_release(&path);
    }
    mode_names_free(c->names);
    mode_rules_release(&c->choice.rules);
    mode_needs_release(&c->choice.question);
    mode_needs_release(&c->dropped);
    free(c->run_dir);
    free(c);
}

/* --- the processes --- */

struct processes {
    struct control_process *items;
    size_t n;
};

static void note_object(void *context, const char *path)
{
    struct pm_error err = PM_ERROR_INIT;
    if (mode_names_add_file(context, path, &err) != PM_OK)
        pm_error_release(&err);
}

static void processes_release(struct processes *all)
{
    for (size_t i = 0; i < all->n; i++)
        control_process_close(&all->items[i]);
    free(all->items);
}

static bool is_asked_for(const struct control_request *request, uint32_t pid)
{
    bool found = request->n_only == 0;
    for (size_t i = 0; i < request->n_only; i++)
        found = found || request->only[i] == pid;
    return found;
}

/* Those that run and can be asked. */
static struct processes open_processes(struct session_control *c,
                                       const struct control_request *request)
{
    struct processes all = {NULL, 0};
    DIR *dir = opendir(c->run_dir);
    for (struct dirent *entry; dir && all.n < MAX_PROCESSES && (entry = readdir(dir)) != NULL;) {
        size_t len = strlen(entry->d_name);
        if (len < 5 || strcmp(entry->d_name + len - 4, ".pmr") != 0)
            continue;
        struct pm_buf path = PM_BUF_INIT(4 * PATH_MAX);
        struct control_process process;
        pm_buf_printf(&path, "%s/%s", c->run_dir, entry->d_name);
        if (!path.failed && control_process_open(path.data, note_object, c->names, &process)) {
            struct control_process *items = NULL;
            if (!process.ended && is_asked_for(request, process.pid))
                items = pm_realloc_array(all.items, all.n + 1, sizeof *items);
            if (items) {
                all.items = items;
                items[all.n++] = process;
            } else {
                control_process_close(&process);
            }
        }
        pm_buf_release(&path);
    }
    if (dir)
        closedir(dir);
    return all;
}

/* --- mode --- */

/* Of the process's nouns those whose mode is another now, from *at on, and what the budget has
 * changed: the process knows whether it was asked for the same before. */
static uint32_t next_changes(const struct session_control *c, const struct control_process *p,
                             uint32_t *at, uint32_t changes[PM_CONTROL_MAX_CHANGES])
{
    uint32_t n = 0;
    for (; *at < p->n_nouns && n < PM_CONTROL_MAX_CHANGES; ++*at) {
        bool fixed;
        if (p->ids[*at] == 0)
            continue;
        enum pm_run_mode mode = mode_names_of(c->names, &c->choice, p->ids[*at], &fixed);
        if ((uint8_t)mode != p->modes[*at] || fixed || mode_needs_find(&c->dropped, p->ids[*at]))
            changes[n++] = PM_CONTROL_CHANGE(*at, mode, fixed);
    }
    return n;
}

/* The program has ended, or a signal came: it waits for us. */
static bool is_woken(int wake_fd)
{
    struct pollfd poll_fd = {.fd = wake_fd, .events = POLLIN};
    return wake_fd >= 0 && poll(&poll_fd, 1, POLL_MS) > 0;
}

/* All changes of one process, a chunk's worth at a time; and one step of that for each process
 * in turn. */
static bool step(const struct session_control *c, struct control_process *p, uint32_t *at)
{
    uint32_t changes[PM_CONTROL_MAX_CHANGES];
    if (!control_process_poll(p))
        return false;
    if (p->answer != ANSWER_DONE)
        return true;
    if (p->was_waiting && !control_process_refresh(p, note_object, c->names))
        return true;
    uint32_t n = next_changes(c, p, at, changes);
    if (n == 0)
        return true;
    if (!control_process_ask(p, PM_CONTROL_MODES, changes, n))
        p->answer = ANSWER_UNKNOWN;
    return false;
}

static void change_all(struct session_control *c, struct processes *all, uint64_t wait_ms,
                       int wake_fd)
{
    uint32_t *at = pm_alloc_array(all->n + 1, sizeof *at);
    uint64_t until = now_ms() + wait_ms;
    bool waits = at != NULL;
    for (size_t i = 0; i < all->n; i++)
        all->items[i].answer = all->items[i].was_waiting ? ANSWER_WAITING : ANSWER_DONE;
    while (waits) {
        waits = false;
        for (size_t i = 0; i < all->n; i++)
            waits |= !step(c, &all->items[i], &at[i]);
        if (waits && (now_ms() >= until || is_woken(wake_fd)))
            break;
    }
    free(at);
    bool settled = true, refused = false;
    for (size_t i = 0; i < all->n; i++) {
        settled &= all->items[i].answer != ANSWER_WAITING;
        refused |= all->items[i].answer == ANSWER_REFUSED;
    }
    c->n_refused = refused ? c->n_refused + 1 : 0;
    settled &= !refused || c->n_refused > MAX_REFUSED;
    uint64_t pause_ms = c->pause_ms * 2 < MAX_SETTLE_MS ? c->pause_ms * 2 : MAX_SETTLE_MS;
    c->pause_ms = settled ? 0 : c->pause_ms == 0 ? SETTLE_MS : pause_ms;
    c->settle_ms = settled ? 0 : now_ms() + c->pause_ms;
}

static const char *const answer_words[] = {"done", "waiting", "refused", "unknown", "ended"};

static void tell_processes(const struct processes *all, bool changed, struct pm_buf *reply)
{
    for (size_t i = 0; i < all->n; i++) {
        const struct control_process *p = &all->items[i];
        uint32_t n[PM_RUN_MODE_TRACE + 1] = {0}, n_nouns = 0;
        for (uint32_t k = 0; k < p->n_nouns; k++)
            if (p->ids[k] && (p->modes[k] & 7) <= PM_RUN_MODE_TRACE) {
                n[p->modes[k] & 7]++;
                n_nouns++;
            }
        pm_buf_printf(reply, "process pid=%u", (unsigned)p->pid);
        if (changed)
            pm_buf_printf(reply, " answer=%s n_nouns=%u n_sleds=%u n_refused=%u spent_us=%llu",
                          answer_words[p->answer], (unsigned)p->n_changed, (unsigned)p->n_sleds,
                          (unsigned)p->n_refused, (unsigned long long)(p->spent_ns / 1000));
        else
            pm_buf_printf(reply,
                          " n_nouns=%u off=%u count=%u active=%u exact=%u trace=%u by_budget=%u",
                          (unsigned)n_nouns, (unsigned)n[0], (unsigned)n[1], (unsigned)n[2],
                          (unsigned)n[3], (unsigned)n[4], (unsigned)p->n_lowered);
        pm_buf_add_byte(reply, '\n');
    }
}

static void tell_rules(const struct session_control *c, struct pm_buf *reply)
{
    pm_buf_printf(reply, "run mode=%s\n", pm_mode_name(c->choice.mode));
    const struct mode_rules *rules = &c->choice.rules;
    for (size_t i = 0; i < rules->n; i++) {
        pm_buf_add_str(reply, "rule");
        control_add_word(reply, pm_mode_name(rules->items[i].mode), rules->items[i].pattern);
        pm_buf_add_byte(reply, '\n');
    }
}

/* The rules of now and of the request: known whole before anything changes. */
static enum pm_status join_rules(struct session_control *c, const struct control_request *request,
                                 struct pm_error *err, struct mode_rules *ret_rules)
{
    struct mode_rules rules = {0};
    bool ok = true;
    const struct mode_rules *now = &c->choice.rules;
    for (size_t i = 0; i < now->n && ok && !request->has_mode; i++)
        ok = mode_rules_add(&rules, now->items[i].mode, now->items[i].pattern);
    for (size_t i = 0; i < request->rules.n && ok; i++)
        ok = mode_rules_add(&rules, request->rules.items[i].mode, request->rules.items[i].pattern);
    *ret_rules = rules;
    if (ok)
        return PM_OK;
    mode_rules_release(ret_rules);
    return pm_error_set(err, PM_ERR_LIMIT, "more than %d patterns in one run: --mode sets all back",
                        MODE_RULES_MAX);
}

/* Which code is entered inside others only is a part of the trampolines. */
static enum pm_status check_terms(const struct session_control *c, struct pm_error *err)
{
    return c->choice.question_has_terms && c->choice.question.n
               ? pm_error_set(err, PM_ERR_UNSUPPORTED,
                              "this run was started for one question (--ask) and follows only what "
                              "that needs: start it without --ask to ask other questions, or to "
                              "change what is measured")
               : PM_OK;
}

static enum pm_status check_changes(const struct session_control *c, const struct processes *all,
                                    struct pm_error *err)
{
    if (c->choice.mode == PM_RUN_MODE_OFF)
        return pm_error_set(err, PM_ERR_USAGE,
                            "the run was started with --mode off, which cannot be changed; start "
                            "it with --off '*' instead");
    if (all->n == 0)
        return pm_error_set(err, PM_ERR_NOT_FOUND, "no such process of the run is measured");
    return PM_OK;
}

static enum pm_status do_mode(struct session_control *c, struct client *client,
                              const struct control_request *request, int wake_fd,
                              struct pm_buf *reply, struct pm_error *err)
{
    (void)client;
    struct processes all = open_processes(c, request);
    struct mode_rules rules = {0};
    struct mode_choice before = c->choice;
    enum pm_status status = check_terms(c, err);
    if (status == PM_OK)
        status = check_changes(c, &all, err);
    if (status == PM_OK)
        status = mode_names_check(c->names, &request->rules, err);
    if (status == PM_OK)
        status = join_rules(c, request, err, &rules);
    if (status == PM_OK) {
        c->choice.rules = rules;
        if (request->has_mode) {
            c->choice.mode = request->mode;
            c->choice.question = (struct mode_needs){0};
            c->choice.selection = NULL;
        }
        if (request->n_only == 0) /* also for what is loaded or started later */
            status = mode_names_write_plan(c->names, &c->choice, true, c->run_dir, err);
        if (status == PM_OK)
            change_all(c, &all, request->wait_ms, wake_fd);
        tell_processes(&all, true, reply);
        bool keeps = request->n_only == 0 && status == PM_OK;
        mode_rules_release(keeps ? &before.rules : &rules);
        if (keeps && request->has_mode)
            mode_needs_release(&before.question);
        if (!keeps) {
            c->choice = before;
            c->settle_ms = 0;
        }
    }
    processes_release(&all);
    return status;
}

/* --- questions that are asked while the program runs --- */

static void find_live(struct session_control *c)
{
    c->choice.n_live = 0;
    for (size_t i = 0; i < c->n_clients; i++)
        if (c->clients[i].asks)
            c->live[c->choice.n_live++] = &c->clients[i].needs;
}

/* Brings all processes to what is chosen now. */
static void settle(struct session_control *c, uint64_t wait_ms, int wake_fd, struct pm_buf *reply)
{
    struct control_request all_of_them = {.verb = CONTROL_NEED};
    struct processes all = open_processes(c, &all_of_them);
    change_all(c, &all, wait_ms, wake_fd);
    if (reply)
        tell_processes(&all, true, reply);
    if (c->settle_ms == 0 && c->late_ms == 0)
        mode_needs_release(&c->dropped);
    processes_release(&all);
}

static enum pm_status add_needs(struct client *client, const struct control_request *request,
                                struct pm_error *err)
{
    for (size_t i = 0; i < request->needs.n; i++) {
        const struct mode_need *need = &request->needs.items[i];
        if (!mode_needs_add(&client->needs, need))
            return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    }
    mode_needs_sort(&client->needs);
    return PM_OK;
}

/* The client stays, and what it needs is measured until it goes. */
static enum pm_status do_need(struct session_control *c, struct client *client,
                              const struct control_request *request, int wake_fd,
                              struct pm_buf *reply, struct pm_error *err)
{
    struct control_request all_of_them = {.verb = CONTROL_NEED};
    size_t n_askers = 0;
    for (size_t i = 0; i < c->n_clients; i++)
        n_askers += c->clients[i].asks;
    if (!client->asks && n_askers == MAX_ASKERS)
        return pm_error_set(err, PM_ERR_LIMIT,
                            "%d questions are being asked of this run: wait until one has ended",
                            MAX_ASKERS);
    struct processes all = open_processes(c, &all_of_them);
    enum pm_status status = check_terms(c, err);
    if (status == PM_OK)
        status = check_changes(c, &all, err);
    processes_release(&all);
    if (status == PM_OK)
        status = add_needs(client, request, err);
    client->asks |= status == PM_OK;
    if (status != PM_OK || request->has_more)
        return status;
    find_live(c);
    c->n_refused = 0;
    status = mode_names_write_plan(c->names, &c->choice, true, c->run_dir, err);
    c->late_ms = now_ms() + LATE_MS;
    if (status == PM_OK)
        settle(c, request->wait_ms, wake_fd, reply);
    return status;
}

/* It has gone, or was killed: what only it needed goes back to what it was. */
static void drop_asker(struct session_control *c, size_t i, int wake_fd)
{
    struct pm_error err = PM_ERROR_INIT;
    struct mode_needs needs = c->clients[i].needs;
    for (size_t k = 0; k < needs.n; k++)
        if (!mode_needs_add(&c->dropped, &(struct mode_need){needs.items[k].id, PM_RUN_MODE_OFF}))
            break; /* without memory the budget leaves some alone for longer */
    mode_needs_sort(&c->dropped);
    c->clients[i].asks = false;
    c->n_refused = 0;
    find_live(c);
    if (mode_names_write_plan(c->names, &c->choice, true, c->run_dir, &err) != PM_OK)
        pm_error_release(&err);
    c->late_ms = now_ms() + LATE_MS;
    settle(c, WAIT_MS, wake_fd, NULL);
}

static enum pm_status do_show(struct session_control *c, struct client *client,
                              const struct control_request *request, int wake_fd,
                              struct pm_buf *reply, struct pm_error *err)
{
    (void)client;
    (void)wake_fd;
    (void)err;
    struct processes all = open_processes(c, request);
    tell_rules(c, reply);
    tell_processes(&all, false, reply);
    processes_release(&all);
    return PM_OK;
}

/* --- clients --- */

static enum pm_status (*const answers[])(struct session_control *c, struct client *client,
                                         const struct control_request *request, int wake_fd,
                                         struct pm_buf *reply, struct pm_error *err) = {
#define VERB(NAME, word, takes) [CONTROL_##NAME] = do_##word,
    CONTROL_VERBS(VERB)
#undef VERB
};

static void answer_line(struct session_control *c, struct client *client, struct pm_str line,
                        int wake_fd, struct pm_buf *reply)
{
    struct pm_error err = PM_ERROR_INIT;
    struct control_request request;
    enum pm_status status = control_request_parse(line, &err, &request);
    if (status == PM_OK) {
        if (request.wait_ms > MAX_WAIT_MS)
            request.wait_ms = MAX_WAIT_MS;
        status = answers[request.verb](c, client, &request, wake_fd, reply, &err);
        control_request_release(&request);
    }
    if (status == PM_OK) {
        pm_buf_add_str(reply, "ok\n");
    } else {
        pm_buf_add_str(reply, status == PM_ERR_USAGE ? "error usage" : "error failed");
        control_add_word(reply, "text", pm_error_text(&err));
        pm_buf_add_byte(reply, '\n');
    }
    pm_error_release(&err);
}

/* A client that does not take its answer in time goes without. */
static void send_all(int fd, const struct pm_buf *reply)
{
    uint64_t until = now_ms() + CLIENT_MS;
    for (size_t sent = 0; sent < reply->len && now_ms() < until;) {
        struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
        if (poll(&poll_fd, 1, 100) <= 0)
            continue;
        ssize_t n = send(fd, reply->data + sent, reply->len - sent, MSG_NOSIGNAL);
        if (n <= 0 && errno != EINTR && errno != EAGAIN)
            return;
        sent += n > 0 ? (size_t)n : 0;
    }
}

/* Only ours, and root's: the folder's rights may be wider. */
static bool may_ask(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

static void accept_client(struct session_control *c)
{
    int fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    if (c->n_clients == MAX_CLIENTS || !may_ask(fd)) {
        close(fd);
        return;
    }
    c->clients[c->n_clients++] = (struct client){
        .fd = fd, .until_ms = now_ms() + CLIENT_MS, .line = PM_BUF_INIT(CONTROL_LINE_MAX)};
}

static void answer_and_send(struct session_control *c, struct client *client, int wake_fd)
{
    struct pm_buf reply = PM_BUF_INIT(1 << 24);
    char *text = client->line.data;
    char *end = text ? memchr(text, '\n', client->line.len) : NULL;
    if (end) {
        size_t len = (size_t)(end - text);
        answer_line(c, client, (struct pm_str){text, len}, wake_fd, &reply);
        memmove(text, end + 1, client->line.len - len - 1);
        client->line.len -= len + 1;
    } else {
        pm_buf_add_str(&reply, "error usage text=the%20line%20is%20too%20long\n");
    }
    send_all(client->fd, &reply);
    client->until_ms = now_ms() + CLIENT_MS;
    pm_buf_release(&reply);
}

/* True: it is done with. */
static bool read_client(struct session_control *c, struct client *client, int wake_fd)
{
    char bytes[4096];
    ssize_t n = read(client->fd, bytes, sizeof bytes);
    if (n < 0)
        return errno != EAGAIN && errno != EINTR;
    if (n == 0)
        return true;
    pm_buf_add(&client->line, bytes, (size_t)n);
    while (client->line.failed ||
           (client->line.data && memchr(client->line.data, '\n', client->line.len))) {
        bool too_long = client->line.failed;
        answer_and_send(c, client, wake_fd);
        if (too_long || !client->asks)
            return true;
    }
    return false;
}

static void end_client(struct session_control *c, size_t i, int wake_fd)
{
    if (c->clients[i].asks)
        drop_asker(c, i, wake_fd);
    drop_client(c, i);
    find_live(c);
}

/* What is due now, and milliseconds until the next; -1: nothing is. */
static int do_what_is_due(struct session_control *c, int wake_fd)
{
    uint64_t now = now_ms();
    bool late = c->late_ms && now >= c->late_ms;
    c->late_ms = late ? 0 : c->late_ms;
    if (late || (c->settle_ms && now >= c->settle_ms))
        settle(c, 0, wake_fd, NULL);
    uint64_t next = c->settle_ms ? c->settle_ms : c->late_ms;
    if (next == 0)
        return c->n_clients > c->choice.n_live ? 100 : -1;
    now = now_ms();
    return next > now ? (int)(next - now) : 0;
}

static bool is_late(const struct client *client)
{
    return (!client->asks || client->line.len) && now_ms() > client->until_ms;
}

void session_control_wait(struct session_control *c, int wake_fd)
{
    for (;;) {
        struct pollfd fds[MAX_CLIENTS + 3] = {{.fd = wake_fd, .events = POLLIN},
                                              {.fd = c->listener, .events = POLLIN}};
        int wait_ms = do_what_is_due(c, wake_fd);
        for (size_t i = 0; i < c->n_clients; i++)
            fds[i + 2] = (struct pollfd){.fd = c->clients[i].fd, .events = POLLIN};
        struct pollfd *kernel = &fds[c->n_clients + 2];
        *kernel =
            (struct pollfd){.fd = c->kernel ? session_kernel_fd(c->kernel) : -1, .events = POLLIN};
        if (poll(fds, c->n_clients + 3, wait_ms) < 0 && errno != EINTR)
            return;
        if (kernel->revents)
            session_kernel_read(c->kernel);
        if (fds[0].revents)
            return;
        for (size_t i = c->n_clients; i-- > 0;)
            if ((fds[i + 2].revents && read_client(c, &c->clients[i], wake_fd)) ||
                is_late(&c->clients[i]))
                end_client(c, i, wake_fd);
        if (fds[1].revents)
            accept_client(c);
    }
}

void session_control_watch(struct session_control *c, struct session_kernel *kernel)
{
    c->kernel = kernel;
}

/* --- the end --- */

void session_control_end(struct session_control *c)
{
    struct pm_buf text = PM_BUF_INIT(64);
    pm_buf_add_str(&text, "ended\n");
    for (size_t i = c->n_clients; i-- > 0;)
        if (c->clients[i].asks)
            send_all(c->clients[i].fd, &text);
        else
            drop_client(c, i);
    pm_buf_release(&text);
    if (c->listener >= 0)
        shutdown(c->listener, SHUT_RDWR); /* who comes now is refused */
}

void session_control_wait_for_askers(struct session_control *c, unsigned most_ms)
{
    char bytes[256];
    uint64_t until = now_ms() + most_ms;
    while (c->n_clients && now_ms() < until) {
        struct pollfd poll_fd = {.fd = c->clients[0].fd, .events = POLLIN};
        if (poll(&poll_fd, 1, 100) > 0 && read(c->clients[0].fd, bytes, sizeof bytes) <= 0)
            drop_client(c, 0);
    }
}
