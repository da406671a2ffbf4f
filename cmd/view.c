/* perfmap view */
#include "cmd/core/archives.h"
#include "cmd/view_server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPT_PORT = CMD_KEY_FIRST, OPT_NO_BROWSER, OPT_FOLD, OPT_NO_COMPENSATION };

struct view_request {
    struct show_page_options options;
    uint64_t port;
    bool no_browser;
};

static bool has_display(void)
{
    const char *const names[] = {"DISPLAY", "WAYLAND_DISPLAY"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]) && *getenv(names[i]))
            return true;
    return false;
}

/* A page that leads to the address, for this user only: command lines are for all to read, and the
 * address has the token. The name is to be freed; NULL: it cannot be written. */
static char *write_way(const char *address)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR"), *temporary = getenv("TMPDIR");
    const char *dir = temporary && *temporary ? temporary : "/tmp";
    if (runtime && *runtime)
        dir = runtime;
    char *path = NULL;
    if (asprintf(&path, "%s/perfmap-view-XXXXXX.html", dir) < 0)
        return NULL;
    int fd = mkstemps(path, 5); /* mode 0600 */
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (out)
        fprintf(out,
                "<!doctype html><title>PerfMap</title><meta name=referrer content=no-referrer>"
                "<meta http-equiv=refresh content=\"0; url=%1$s\"><a href=\"%1$s\">%1$s</a>\n",
                address);
    if (out && fclose(out) == 0)
        return path;
    if (fd >= 0)
        unlink(path);
    free(path);
    return NULL;
}

/* What the desktop takes for web pages. A browser may be it, or stay its child: nobody waits for
 * it, and nothing of ours is left to it. */
static void open_browser(const char *address)
{
    pid_t child = fork();
    if (child == 0) {
        if (fork() != 0)
            _exit(0);
        setsid();
        int null = open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3 && null >= 0; fd++)
            dup2(null, fd);
        closefrom(3);
        execlp("xdg-open", "xdg-open", address, (char *)NULL);
        _exit(127);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

/* The end of the command: whoever waits for requests is woken. */
static int wake_fd;
static void end_signal(int number)
{
    (void)number;
    int saved = errno;
    ssize_t written = write(wake_fd, "", 1);
    (void)written;
    errno = saved;
}

static int serve(struct cmd_parse *parse, const struct view_request *request,
                 struct view_server *server)
{
    struct pm_error err = PM_ERROR_INIT;
    struct sigaction action = {.sa_handler = end_signal};
    wake_fd = server->wake[1];
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    printf("%s\n", server->address);
    int end = cmd_stdout_done(parse, CMD_DONE);
    if (end != CMD_DONE)
        return end;
    cmd_talk("the page of '%s' is at this address, for this machine only; Ctrl-C ends it",
             request->options.archive_path);
    char *way = request->no_browser || !has_display() ? NULL : write_way(server->address);
    if (way)
        open_browser(way);
    enum pm_status status = view_server_run(server, &err);
    if (way)
        unlink(way);
    free(way);
    return status != PM_OK ? cmd_fail(parse, &err) : CMD_DONE;
}

static int view(struct cmd_parse *parse, const struct view_request *request)
{
    struct pm_error err = PM_ERROR_INIT;
    struct view_server server;
    struct show_page *page = NULL;
    enum pm_status status = show_page_open(&request->options, &err, &page);
    if (status == PM_ERR_FORMAT)
        cmd_add_file_hint(request->options.archive_path, CMD_FILE_ARCHIVE, &err);
    if (status != PM_OK)
        return cmd_refuse(parse, status, &err);
    status = view_server_open(page, (uint16_t)request->port, &err, &server);
    if (status != PM_OK) {
        show_page_close(page);
        return cmd_fail(parse, &err);
    }
    int end = serve(parse, request, &server);
    view_server_close(&server);
    show_page_close(page);
    return end;
}

static int view_main(struct cmd_parse *parse)
{
    struct view_request request = {.options = {.folds = true}};
    for (int key; (key = cmd_next(parse)) != CMD_END;)
        switch (key) {
        case OPT_PORT:
            cmd_number(parse, UINT16_MAX, &request.port);
            break;
        case OPT_NO_BROWSER:
            request.no_browser = true;
            break;
        case OPT_FOLD:
            request.options.folds = parse->choice == 0;
            break;
        case OPT_NO_COMPENSATION:
            request.options.no_compensation = true;
            break;
        default:
            (void)cmd_take_interval(parse, key, &request.options.from, &request.options.to);
        }
    if (parse->failed)
        return CMD_USAGE;
    if (parse->n_operands > 1)
        return cmd_usage_error(parse, "one archive at a time, not %d", parse->n_operands);
    char *found = parse->n_operands == 1 ? NULL : cmd_only_archive(parse);
    if (parse->n_operands == 0 && !found)
        return CMD_USAGE;
    request.options.archive_path = found ? found : parse->operands[0];
    int end = view(parse, &request);
    free(found);
    return end;
}

static const struct cmd_option view_options[] = {
    {OPT_PORT, "port", "NUMBER",
     "listen on this port of 127.0.0.1, as a tunnel needs it (default: 0, any that is free)"},
    {OPT_NO_BROWSER, "no-browser", NULL, "only print the address, also where there is a display"},
    {OPT_FOLD, "fold", "system|none",
     "code of system headers (C++'s library): it counts for the program's code that uses it "
     "(system, default), or has rows of its own"},
    {OPT_NO_COMPENSATION, "no-compensation", NULL,
     "leave the estimated cost of measuring in the times (mode exact)"},
    CMD_INTERVAL_OPTIONS,
    {0}};

static const struct cmd_example view_examples[] = {
    {"perfmap view heat.perfmap", "look at a run in a browser"},
    {"perfmap view --port 4711 heat.perfmap",
     "on another machine; then 'ssh -L 4711:127.0.0.1:4711 MACHINE' brings the address here"},
    {NULL, NULL}};

const struct cmd cmd_view = {
    .name = "view",
    .summary = "show an archive in a browser",
    .usage = (const char *const[]){"view [OPTION]... [ARCHIVE]", NULL},
    .description =
        "Starts a server on 127.0.0.1 with the page that 'perfmap report --html' writes into a "
        "file, prints its address, and opens a browser where there is a display. It works until "
        "Ctrl-C. Without ARCHIVE, the only *.perfmap file in the current folder is taken.\n"
        "\n"
        "The server makes data when they are asked for, so archives may be larger than one file "
        "could be. It answers only requests from this machine that know the address, for that has "
        "a random word. Of files it reads the archive, and the sources that the archive names.",
    .options = view_options,
    .examples = view_examples,
    .environment =
        (const char *const[]){"DISPLAY, WAYLAND_DISPLAY", "if one is set, xdg-open opens a browser",
                              "XDG_RUNTIME_DIR, TMPDIR",
                              "where the file is that leads the browser to the address", NULL},
    .main = view_main,
};
