/* The server of `perfmap view` (view_server.h). */
#include "view_server.h"
#include "view_ask.h"

#include "mapping/base/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

/* Reads while the request is not complete, then writes. */
struct view_connection {
    int fd;
    char in[PM_HTTP_MOST_BYTES];
    size_t n_in;
    struct pm_buf head;
    struct pm_str body; /* lent from the server, or from own_body */
    struct pm_buf own_body;
    size_t n_written; /* of head, then of body */
    bool is_answered;
};

/* --- begin and end --- */

static enum pm_status listen_on(struct view_server *server, uint16_t port, struct pm_error *err)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int on = 1;
    server->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (server->fd < 0)
        return pm_error_system(err, errno, "cannot make a socket");
    setsockopt(server->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(server->fd, (struct sockaddr *)&address, sizeof address) != 0) {
        if (errno == EADDRINUSE)
            return pm_error_set(err, PM_ERR_SYSTEM,
                                "port %u of 127.0.0.1 is in use: without '--port' any that is free "
                                "is taken",
                                port);
        return pm_error_system(err, errno, "cannot listen on port %u of 127.0.0.1", port);
    }
    if (listen(server->fd, VIEW_MAX_CONNECTIONS) != 0 ||
        getsockname(server->fd, (struct sockaddr *)&address, &size) != 0)
        return pm_error_system(err, errno, "cannot listen on 127.0.0.1");
    server->port = ntohs(address.sin_port);
    return PM_OK;
}

static enum pm_status make_token(struct view_server *server, struct pm_error *err)
{
    unsigned char bytes[VIEW_TOKEN_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return pm_error_system(err, errno, "no random numbers are to be had");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(server->token + 2 * i, 3, "%02x", bytes[i]);
    return PM_OK;
}

static enum pm_status begin(struct view_server *server, uint16_t port, struct pm_error *err)
{
    uint32_t n = show_page_n_chunks(server->page);
    server->chunks = pm_alloc_array(n, sizeof *server->chunks);
    server->connections = pm_alloc_array(VIEW_MAX_CONNECTIONS, sizeof *server->connections);
    server->html = (struct pm_buf)PM_BUF_INIT(1 << 24);
    if (!server->chunks || !server->connections || !show_html_served(&server->html))
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < n; i++)
        server->chunks[i] = (struct pm_buf)PM_BUF_INIT(SIZE_MAX / 2);
    if (pipe2(server->wake, O_CLOEXEC | O_NONBLOCK) != 0)
        return pm_error_system(err, errno, "cannot make a pipe");
    enum pm_status status = make_token(server, err);
    if (status != PM_OK)
        return status;
    return listen_on(server, port, err);
}

enum pm_status view_server_open(struct show_page *page, uint16_t port, struct pm_error *err,
                                struct view_server *ret_server)
{
    struct view_server server = {.page = page, .fd = -1, .wake = {-1, -1}};
    enum pm_status status = begin(&server, port, err);
    if (status != PM_OK) {
        view_server_close(&server);
        return status;
    }
    snprintf(server.address, sizeof server.address, "http://127.0.0.1:%u/%s/", server.port,
             server.token);
    *ret_server = server;
    return PM_OK;
}

static void end_connection(struct view_connection *connection)
{
    close(connection->fd);
    pm_buf_release(&connection->head);
    pm_buf_release(&connection->own_body);
}

void view_server_close(struct view_server *server)
{
    for (uint32_t i = 0; i < server->n_connections; i++)
        end_connection(&server->connections[i]);
    for (uint32_t i = 0; server->chunks && i < show_page_n_chunks(server->page); i++)
        pm_buf_release(&server->chunks[i]);
    for (uint32_t i = 0; i < VIEW_MAX_PARTS; i++)
        show_page_close(server->parts[i].page);
    const int fds[] = {server->fd, server->wake[0], server->wake[1]};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    show_timeline_close(server->timeline);
    free(server->chunks);
    free(server->connections);
    pm_buf_release(&server->html);
}

/* --- answers --- */

static void answer(struct view_connection *connection, const char *status, const char *type,
                   struct pm_str body)
{
    pm_buf_printf(&connection->head,
                  "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n"
                  "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                  "X-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n"
                  "Cross-Origin-Resource-Policy: same-origin\r\n\r\n",
                  status, type, body.len);
    connection->body = body;
    connection->is_answered = true;
}

static void refuse(struct view_connection *connection, const char *status, const char *text)
{
    pm_buf_add_str(&connection->own_body, text);
    struct pm_str body = {connection->own_body.data, connection->own_body.len};
    answer(connection, status, "text/plain; charset=utf-8", body);
}

static void answer_whole(struct view_server *server, struct view_connection *connection,
                         uint32_t chunk, struct pm_error *err)
{
    struct pm_buf *bytes = &server->chunks[chunk];
    if (!bytes->len && show_page_chunk(server->page, chunk, err, bytes) != PM_OK)
        refuse(connection, "500 Internal Server Error", pm_error_text(err));
    else
        answer(connection, "200 OK", "application/octet-stream",
               (struct pm_str){bytes->data, bytes->len});
}

/* --- parts of the run --- */

/* "FROM-TO", both whole numbers of ns. */
static bool read_part(struct pm_str text, struct view_part *ret_part)
{
    struct view_part part = {0};
    const char *dash = text.len ? memchr(text.p, '-', text.len) : NULL;
    uint64_t from_ns, to_ns;
    if (!dash || text.len >= sizeof part.name ||
        !pm_str_to_u64((struct pm_str){text.p, (size_t)(dash - text.p)}, INT64_MAX, &from_ns) ||
        !pm_str_to_u64((struct pm_str){dash + 1, text.len - 1 - (size_t)(dash - text.p)}, INT64_MAX,
                       &to_ns))
        return false;
    memcpy(part.name, text.p, text.len);
    snprintf(part.from, sizeof part.from, "%lluns", (unsigned long long)from_ns);
    snprintf(part.to, sizeof part.to, "%lluns", (unsigned long long)to_ns);
    *ret_part = part;
    return true;
}

/* As it was kept, or made in place of the one that was not used for longest. */
static enum pm_status need_part(struct view_server *server, const struct view_part *asked,
                                struct pm_error *err, struct view_part **ret_part)
{
    struct view_part *oldest = &server->parts[0];
    for (uint32_t i = 0; i < VIEW_MAX_PARTS; i++) {
        struct view_part *part = &server->parts[i];
        if (part->page && strcmp(part->name, asked->name) == 0) {
            part->used = ++server->n_used;
            *ret_part = part;
            return PM_OK;
        }
        oldest = part->used < oldest->used ? part : oldest;
    }
    show_page_close(oldest->page);
    *oldest = *asked; /* whose texts the page lends */
    enum pm_status status =
        show_page_open_part(server->page, oldest->from, oldest->to, err, &oldest->page);
    oldest->used = oldest->page ? ++server->n_used : 0;
    *ret_part = oldest;
    return status;
}

/* It is the connection's own, for parts come and go. */
static void answer_part(struct view_server *server, struct view_connection *connection,
                        uint32_t chunk, const struct view_part *asked, struct pm_error *err)
{
    struct view_part *part;
    enum pm_status status = need_part(server, asked, err, &part);
    if (status != PM_OK)
        goto refused;
    status = show_page_chunk(part->page, chunk, err, &connection->own_body);
    if (status != PM_OK)
        goto refused;
    struct pm_str body = {connection->own_body.data, connection->own_body.len};
    answer(connection, "200 OK", "application/octet-stream", body);
    return;
refused:
    pm_buf_release(&connection->own_body);
    refuse(connection, status == PM_ERR_USAGE ? "400 Bad Request" : "500 Internal Server Error",
           pm_error_text(err));
}

/* "NUMBER", or "NUMBER/FROM-TO": of that part of the run. */
static void answer_chunk(struct view_server *server, struct view_connection *connection,
                         struct pm_str name)
{
    struct pm_error err = PM_ERROR_INIT;
    struct view_part part;
    uint64_t chunk;
    const char *slash = name.len ? memchr(name.p, '/', name.len) : NULL;
    struct pm_str number = {name.p, slash ? (size_t)(slash - name.p) : name.len};
    struct pm_str rest = {slash + 1, slash ? name.len - number.len - 1 : 0};
    uint32_t n = show_page_n_chunks(server->page), n_of_parts = show_page_times_chunk(server->page);
    if (!pm_str_to_u64(number, n - 1, &chunk) ||
        (slash && (chunk >= n_of_parts || !read_part(rest, &part))))
        refuse(connection, "404 Not Found", "there is no such chunk\n");
    else if (slash)
        answer_part(server, connection, (uint32_t)chunk, &part, &err);
    else
        answer_whole(server, connection, (uint32_t)chunk, &err);
    pm_error_release(&err);
}

/* --- questions --- */

/* "QUESTION", or "QUESTION/FROM-TO"; what belongs to the question is written with percent signs. */
static bool read_question(struct pm_str path, struct pm_buf *ret_question,
                          struct view_part *ret_part)
{
    const char *slash = path.len ? memchr(path.p, '/', path.len) : NULL;
    struct pm_str question = {path.p, slash ? (size_t)(slash - path.p) : path.len};
    struct pm_str part = {slash + 1, slash ? path.len - question.len - 1 : 0};
    if (slash && !read_part(part, ret_part))
        return false;
    bool good = pm_http_add_text(question, ret_question);
    pm_buf_add_byte(ret_question, 0);
    return good && !ret_question->failed;
}

static void answer_question(struct view_server *server, struct view_connection *connection,
                            enum view_ask_kind kind, struct pm_str path)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_buf question = PM_BUF_INIT(PM_HTTP_MOST_BYTES);
    struct view_part part = {0};
    if (!read_question(path, &question, &part)) {
        refuse(connection, "404 Not Found", "this is no text of a question\n");
        goto out;
    }
    struct show_page_options options = server->page->options;
    if (*part.name) {
        options.from = part.from;
        options.to = part.to;
    }
    if (view_ask(&options, kind, question.data, &err, &connection->own_body) == PM_OK) {
        struct pm_str body = {connection->own_body.data, connection->own_body.len};
        answer(connection, "200 OK", "text/plain; charset=utf-8", body);
        goto out;
    }
    pm_buf_release(&connection->own_body);
    refuse(connection, "400 Bad Request", pm_error_text(&err));
out:
    pm_error_release(&err);
    pm_buf_release(&question);
}

/* --- time lines --- */

static enum pm_status make_timeline(struct view_server *server,
                                    const struct show_timeline_window *window, struct pm_error *err,
                                    struct pm_buf *ret_bytes)
{
    if (!server->timeline) {
        enum pm_status status = show_timeline_open(
            server->page->data, server->page->options.archive_path, err, &server->timeline);
        if (status != PM_OK)
            return status;
    }
    return window ? show_timeline_window(server->timeline, window, err, ret_bytes)
                  : show_timeline_all(server->timeline, err, ret_bytes);
}

/* "all", or a window of it. */
static void answer_timeline(struct view_server *server, struct view_connection *connection,
                            struct pm_str name)
{
    struct show_timeline_window window;
    struct pm_error err = PM_ERROR_INIT;
    struct pm_buf *bytes = &connection->own_body;
    bool is_all = pm_str_is(name, "all");
    if (!is_all && !show_timeline_read_window(name, &window)) {
        refuse(connection, "404 Not Found", "there is no such window\n");
        return;
    }
    if (make_timeline(server, is_all ? NULL : &window, &err, bytes) == PM_OK) {
        answer(connection, "200 OK", "application/octet-stream",
               (struct pm_str){bytes->data, bytes->len});
    } else {
        pm_buf_clear(bytes);
        refuse(connection, "500 Internal Server Error", pm_error_text(&err));
    }
    pm_error_release(&err);
}

/* "127.0.0.1:4711", or by the name that tunnels use. */
static bool is_our_host(const struct view_server *server, struct pm_str host)
{
    char name[32];
    snprintf(name, sizeof name, "127.0.0.1:%u", server->port);
    if (pm_str_is(host, name))
        return true;
    snprintf(name, sizeof name, "localhost:%u", server->port);
    if (pm_str_is(host, name))
        return true;
    bool is_usual = server->port == 80; /* which browsers leave out */
    return is_usual && (pm_str_is(host, "127.0.0.1") || pm_str_is(host, "localhost"));
}

static bool is_below(struct pm_str path, const char *folder, struct pm_str *ret_rest)
{
    size_t len = strlen(folder);
    if (path.len < len || memcmp(path.p, folder, len) != 0)
        return false;
    *ret_rest = (struct pm_str){path.p + len, path.len - len};
    return true;
}

static void answer_path(struct view_server *server, struct view_connection *connection,
                        struct pm_str path)
{
    struct pm_str rest;
    if (path.len == 0)
        answer(connection, "200 OK", "text/html; charset=utf-8",
               (struct pm_str){server->html.data, server->html.len});
    else if (is_below(path, "chunk/", &rest))
        answer_chunk(server, connection, rest);
    else if (is_below(path, "timeline/", &rest))
        answer_timeline(server, connection, rest);
    else if (is_below(path, "ask/", &rest))
        answer_question(server, connection, VIEW_ASK_TEXT, rest);
    else if (is_below(path, "csv/", &rest))
        answer_question(server, connection, VIEW_ASK_CSV, rest);
    else if (is_below(path, "ways/", &rest))
        answer_question(server, connection, VIEW_ASK_WAYS, rest);
    else
        refuse(connection, "404 Not Found", "there is nothing of that name\n");
}

/* When it is complete. */
static void answer_request(struct view_server *server, struct view_connection *connection)
{
    struct pm_http_request request;
    struct pm_str path;
    enum pm_http_state state = pm_http_read(connection->in, connection->n_in, &request);
    if (state == PM_HTTP_MORE)
        return;
    if (state == PM_HTTP_BAD)
        refuse(connection, "400 Bad Request", "this is no request that is known here\n");
    else if (!is_our_host(server, request.host))
        refuse(connection, "403 Forbidden", "this server has another name\n");
    else if (!pm_http_after_token(request.path, server->token, &path))
        refuse(connection, "403 Forbidden", "the address has a word that is missing here\n");
    else
        answer_path(server, connection, path);
    if (state == PM_HTTP_DONE && request.is_head)
        connection->body.len = 0;
}

/* --- connections --- */

/* False: it is over. */
static bool take_bytes(struct view_server *server, struct view_connection *connection)
{
    ssize_t n = recv(connection->fd, connection->in + connection->n_in,
                     sizeof connection->in - connection->n_in, 0);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    connection->n_in += (size_t)n;
    if (n > 0)
        answer_request(server, connection);
    return n > 0;
}

/* False: all is written, or nobody reads. */
static bool give_bytes(struct view_connection *connection)
{
    size_t n_head = connection->head.len, at = connection->n_written;
    bool is_head = at < n_head;
    const char *from = is_head ? connection->head.data + at : connection->body.p + (at - n_head);
    size_t left = is_head ? n_head - at : n_head + connection->body.len - at;
    if (connection->head.failed || left == 0)
        return false;
    ssize_t n = send(connection->fd, from, left, MSG_NOSIGNAL);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    connection->n_written += (size_t)n;
    return connection->n_written < n_head + connection->body.len;
}

/* Browsers open connections that they never use. */
static uint32_t oldest_idle(const struct view_server *server)
{
    uint32_t i = 0;
    while (i < server->n_connections && server->connections[i].is_answered)
        i++;
    return i;
}

/* Whoever is getting an answer keeps its connection: others wait until one ends. */
static bool has_room(const struct view_server *server)
{
    return server->n_connections < VIEW_MAX_CONNECTIONS ||
           oldest_idle(server) < server->n_connections;
}

static void end_idle(struct view_server *server)
{
    uint32_t at = oldest_idle(server);
    end_connection(&server->connections[at]);
    server->n_connections--;
    memmove(server->connections + at, server->connections + at + 1,
            (server->n_connections - at) * sizeof *server->connections);
}

static void take_connection(struct view_server *server)
{
    int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    if (server->n_connections == VIEW_MAX_CONNECTIONS)
        end_idle(server);
    struct view_connection *connection = &server->connections[server->n_connections++];
    memset(connection, 0, sizeof *connection);
    connection->fd = fd;
    connection->head = (struct pm_buf)PM_BUF_INIT(4096);
    connection->own_body = (struct pm_buf)PM_BUF_INIT(1 << 28);
}

static bool step(struct view_server *server, struct view_connection *connection, short events)
{
    if (events & (POLLERR | POLLNVAL))
        return false;
    if (!connection->is_answered)
        return !(events & (POLLIN | POLLHUP)) || take_bytes(server, connection);
    return !(events & (POLLOUT | POLLHUP)) || give_bytes(connection);
}

static void step_all(struct view_server *server, const struct pollfd *fds)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < server->n_connections; i++) {
        struct view_connection *connection = &server->connections[i];
        if (!step(server, connection, fds[i].revents)) {
            end_connection(connection);
            continue;
        }
        if (n != i)
            server->connections[n] = *connection;
        n++;
    }
    server->n_connections = n;
}

enum pm_status view_server_run(struct view_server *server, struct pm_error *err)
{
    struct pollfd fds[VIEW_MAX_CONNECTIONS + 2];
    for (;;) {
        uint32_t n = server->n_connections;
        for (uint32_t i = 0; i < n; i++)
            fds[i] =
                (struct pollfd){.fd = server->connections[i].fd,
                                .events = server->connections[i].is_answered ? POLLOUT : POLLIN};
        fds[n] = (struct pollfd){.fd = server->wake[0], .events = POLLIN};
        fds[n + 1] = (struct pollfd){.fd = has_room(server) ? server->fd : -1, .events = POLLIN};
        if (poll(fds, n + 2, -1) < 0) {
            if (errno == EINTR)
                continue;
            return pm_error_system(err, errno, "cannot wait for requests");
        }
        if (fds[n].revents)
            return PM_OK;
        step_all(server, fds);
        if (fds[n + 1].revents && has_room(server))
            take_connection(server);
    }
}
