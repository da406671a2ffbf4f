/* perfmap experiment run: sides measured in turns, in random order within each round, so that what
 * changes on the machine meanwhile is no difference between them. */
#include "experiment_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* One of the programs that are compared. */
struct side {
    struct pm_experiment_set *sets; /* lent, or own_sets */
    uint32_t n_sets, n_own;
    char *const *argv;
    int n_args;
    char *label;     /* "build=new", for people */
    char *name;      /* "new", of files */
    char *selection; /* of its members */
    char *same_as;   /* the archive of its first run; NULL: none */
    uint32_t n_have;
    double *bare_ns; /* CPU time of runs without measurement */
    uint32_t n_bare;
};

struct runs {
    struct cmd_parse *parse;
    const struct experiment_run *options;
    struct pm_experiment *experiment;
    struct side sides[EXPERIMENT_MOST_SIDES];
    uint32_t n_sides, n_made; /* n_made: by this call */
    char *folder;             /* of their archives: NAME.runs */
    struct pm_error err;
};

static volatile sig_atomic_t was_interrupted;

static void note_interrupt(int signal)
{
    (void)signal;
    was_interrupted = 1;
}

static enum pm_status no_memory(struct runs *r)
{
    return pm_error_set(&r->err, PM_ERR_MEMORY, "out of memory");
}

/* --- the command line --- */

static enum pm_status add_sets(struct runs *r, struct side *side, char *text)
{
    char *rest = NULL;
    for (char *one = strtok_r(text, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        struct pm_experiment_set *sets =
            pm_realloc_array(side->sets, side->n_sets + 1, sizeof *sets);
        if (!sets)
            return no_memory(r);
        side->sets = sets;
        enum pm_status status = pm_experiment_set_of(one, &r->err, &sets[side->n_sets]);
        if (status != PM_OK)
            return status;
        side->n_own = ++side->n_sets;
    }
    return PM_OK;
}

/* Names of files and selections are made of it. */
static bool is_plain(const char *text)
{
    return *text && *text != '.' && !strpbrk(text, "/&|*?[]\\!<>= \t\n'\"");
}

static enum pm_status check_sets(struct runs *r, const struct side *side)
{
    if (!side->n_sets)
        return pm_error_set(&r->err, PM_ERR_USAGE,
                            "what tells these runs apart? '--set build=new' for one");
    for (uint32_t i = 0; i < side->n_sets; i++)
        if (!is_plain(side->sets[i].value))
            return pm_error_set(&r->err, PM_ERR_USAGE,
                                "'%s=%.100s': of runs the value names files: letters, digits, "
                                "'-', '_' and '.'",
                                side->sets[i].key, side->sets[i].value);
    return PM_OK;
}

static enum pm_status name_side(struct runs *r, struct side *side)
{
    struct pm_buf label = PM_BUF_INIT(1 << 16), name = PM_BUF_INIT(1 << 16);
    struct pm_buf selection = PM_BUF_INIT(1 << 16);
    enum pm_status status = check_sets(r, side);
    if (status != PM_OK)
        return status;
    for (uint32_t i = 0; i < side->n_sets; i++) {
        const struct pm_experiment_set *set = &side->sets[i];
        pm_buf_printf(&label, "%s%s=%s", i ? " " : "", set->key, set->value);
        pm_buf_printf(&name, "%s%s", i ? "-" : "", set->value);
        pm_buf_printf(&selection, "%s%s=%s", i ? "&" : "", set->key, set->value);
    }
    side->label = pm_buf_take(&label);
    side->name = pm_buf_take(&name);
    side->selection = pm_buf_take(&selection);
    return side->label && side->name && side->selection ? PM_OK : no_memory(r);
}

/* "./new 5 --against build=old -- ./old 5": up to the next side. Returns how many words it took. */
static int take_program(struct side *side, char *const *words, int n)
{
    int end = 0;
    while (end < n && strcmp(words[end], "--against") != 0)
        end++;
    side->argv = words;
    side->n_args = end;
    return end;
}

static enum pm_status take_sides(struct runs *r, char *const *words, int n)
{
    for (int at = 0; at < n || !r->n_sides;) {
        struct side *side = &r->sides[r->n_sides];
        bool is_first = !r->n_sides;
        if (r->n_sides == EXPERIMENT_MOST_SIDES)
            return pm_error_set(&r->err, PM_ERR_USAGE, "at most %d programs at a time",
                                EXPERIMENT_MOST_SIDES);
        if (!is_first && (n - at < 4 || strcmp(words[at + 2], "--") != 0))
            return pm_error_set(&r->err, PM_ERR_USAGE,
                                "'--against' takes KEY=VALUE, '--' and a program");
        r->n_sides++;
        enum pm_status status = PM_OK;
        if (is_first) {
            side->sets = r->options->sets;
            side->n_sets = r->options->n_sets;
        } else {
            status = add_sets(r, side, words[at + 1]);
            at += 3;
        }
        if (!status)
            status = name_side(r, side);
        if (status != PM_OK)
            return status;
        int taken = take_program(side, words + at, n - at);
        if (!taken)
            return pm_error_set(&r->err, PM_ERR_USAGE, "there is no program of '%s'", side->label);
        at += taken;
    }
    return PM_OK;
}

static enum pm_status check_sides(struct runs *r)
{
    for (uint32_t i = 0; i < r->n_sides; i++)
        for (uint32_t k = 0; k < i; k++)
            if (!strcmp(r->sides[i].selection, r->sides[k].selection))
                return pm_error_set(&r->err, PM_ERR_USAGE, "two programs are both '%s'",
                                    r->sides[i].label);
    return PM_OK;
}

/* --- the experiment --- */

static enum pm_status open_experiment(struct runs *r, const char *operand)
{
    const char *selection;
    char *path = pm_experiment_named(operand, &selection);
    struct pm_buf made = PM_BUF_INIT(1 << 16);
    pm_buf_add_str(&made, path ? path : operand);
    if (!path && !pm_str_ends_with(operand, ".perfexp"))
        pm_buf_add_str(&made, ".perfexp");
    free(path);
    if (made.failed)
        return no_memory(r);
    enum pm_status status =
        access(made.data, F_OK) == 0 ? PM_OK : pm_experiment_create(made.data, &r->err);
    if (!status)
        status = pm_experiment_open(made.data, &r->err, &r->experiment);
    size_t len = made.len - strlen(".perfexp");
    if (!status && pm_str_ends_with(made.data, ".perfexp"))
        made.data[len] = 0;
    if (!status && asprintf(&r->folder, "%s.runs", made.data) < 0) {
        r->folder = NULL;
        status = no_memory(r);
    }
    pm_buf_release(&made);
    if (!status && mkdir(r->folder, 0777) != 0 && errno != EEXIST)
        status = pm_error_system(&r->err, errno, "cannot make folder '%s'", r->folder);
    return status;
}

static bool is_of_side(const struct pm_experiment_member *member, const struct side *side)
{
    for (uint32_t i = 0; i < side->n_sets; i++) {
        const char *value = pm_member_value(member, side->sets[i].key);
        if (!value || strcmp(value, side->sets[i].value) != 0)
            return false;
    }
    return member->state == PM_MEMBER_OK;
}

static void count_members(struct runs *r)
{
    for (uint32_t i = 0; i < r->n_sides; i++) {
        r->sides[i].n_have = 0;
        for (uint32_t m = 0; m < r->experiment->n_members; m++)
            r->sides[i].n_have += is_of_side(&r->experiment->members[m], &r->sides[i]);
    }
}

/* --- one run --- */

static void open_as(int fd, const char *path, int flags)
{
    int opened = open(path, flags | O_CLOEXEC, 0666);
    if (opened < 0 || dup2(opened, fd) != fd) {
        fprintf(stderr, "perfmap: cannot open '%s': %s\n", path, strerror(errno));
        _exit(SPAWN_FAILED);
    }
}

/* In the child: input of the option, or none; what it says goes to `log`. */
_Noreturn static void start(const struct runs *r, char *const *argv, const char *log)
{
    signal(SIGINT, SIG_DFL);
    open_as(STDIN_FILENO, r->options->input ? r->options->input : "/dev/null", O_RDONLY);
    open_as(STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC);
    dup2(STDOUT_FILENO, STDERR_FILENO);
    execvp(argv[0], argv);
    fprintf(stderr, "perfmap: cannot start '%s': %s\n", argv[0], strerror(errno));
    _exit(SPAWN_FAILED);
}

static int spawn(struct runs *r, char *const *argv, const char *log, double *ret_cpu_ns)
{
    struct rusage usage;
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        start(r, argv, log);
    while (child > 0 && wait4(child, &status, 0, &usage) < 0)
        if (errno != EINTR)
            child = -1;
    if (child < 0) {
        pm_error_system(&r->err, errno, "cannot start '%s'", argv[0]);
        return -1;
    }
    *ret_cpu_ns = 1e9 * (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                  1e3 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The end of what it said. */
static void show_log(const char *log)
{
    char *text = NULL;
    size_t len = 0;
    struct pm_buf shown = PM_BUF_INIT(1 << 16);
    enum { SHOWN_BYTES = 1000 };
    if (pm_file_read(log, 1 << 30, NULL, &text, &len) != PM_OK)
        return;
    size_t from = len > SHOWN_BYTES ? len - SHOWN_BYTES : 0;
    for (char *rest = text + from, *line; (line = strsep(&rest, "\n")) != NULL;) {
        pm_buf_clear(&shown);
        pm_buf_add_printable(&shown, line, strlen(line));
        if (shown.len)
            fprintf(stderr, "  %s\n", shown.data);
    }
    pm_buf_release(&shown);
    free(text);
}

static enum pm_status refuse_end(struct runs *r, const struct side *side, int end, const char *log)
{
    if (end < 0)
        return PM_ERR_SYSTEM; /* said already */
    if (was_interrupted)
        return pm_error_set(&r->err, PM_ERR_SYSTEM, "interrupted");
    show_log(log);
    return pm_error_set(&r->err, PM_ERR_SYSTEM,
                        "'%s' of %s ended with status %d; what it said is in '%s' "
                        "(--ignore-failure goes on)",
                        side->argv[0], side->label, end, log);
}

/* FOLDER/NAME, NAME-3.perfmap, ... To be freed; NULL: memory. */
static char *path_of(const struct runs *r, const struct side *side, const char *ending)
{
    char *path;
    return asprintf(&path, "%s/%s%s", r->folder, side->name, ending) < 0 ? NULL : path;
}

/* The first number that no file has. */
static char *free_archive(const struct runs *r, const struct side *side)
{
    for (unsigned n = 1;; n++) {
        char ending[32];
        snprintf(ending, sizeof ending, "-%u.perfmap", n);
        char *path = path_of(r, side, ending);
        if (!path || access(path, F_OK) != 0)
            return path;
        free(path);
    }
}

/* perfmap run [OPTION...] [--same-as A]... -o ARCHIVE -- PROGRAM ARGUMENT... */
static char **command_of(const struct runs *r, const struct side *side, const char *archive)
{
    const struct experiment_run *o = r->options;
    char **argv =
        pm_alloc_array((size_t)side->n_args + o->n_run_options + 2 * r->n_sides + 8, sizeof *argv);
    size_t n = 0;
    if (!argv)
        return NULL;
    argv[n++] = (char *)"/proc/self/exe";
    argv[n++] = (char *)"run";
    for (uint32_t i = 0; i < o->n_run_options; i++)
        argv[n++] = (char *)o->run_options[i];
    for (uint32_t i = 0; i < r->n_sides && r->sides[i].same_as; i++) {
        argv[n++] = (char *)"--same-as";
        argv[n++] = r->sides[i].same_as;
    }
    argv[n++] = (char *)"-o";
    argv[n++] = (char *)archive;
    argv[n++] = (char *)"--";
    memcpy(argv + n, side->argv, (size_t)side->n_args * sizeof *argv);
    return argv;
}

static enum pm_status measure(struct runs *r, const struct side *side, const char *archive)
{
    double cpu_ns;
    char **argv = command_of(r, side, archive), *log = path_of(r, side, ".log");
    int end = argv && log ? spawn(r, argv, log, &cpu_ns) : -1;
    enum pm_status status = PM_OK;
    bool has_archive = access(archive, F_OK) == 0;
    bool is_good = end == 0 || (r->options->ignores_failure && has_archive);
    if (!argv || !log)
        status = no_memory(r);
    else if (!is_good || was_interrupted)
        status = refuse_end(r, side, end, log);
    if (status != PM_OK)
        unlink(archive);
    free(argv);
    free(log);
    return status;
}

static void tell(const struct runs *r, const struct side *side, const char *what, uint32_t at)
{
    if (isatty(STDERR_FILENO))
        cmd_talk("%s %u of %u: %s", what, at, r->options->n, side->label);
}

static enum pm_status run_side(struct runs *r, struct side *side)
{
    enum pm_added added;
    char *archive = free_archive(r, side);
    if (!archive)
        return no_memory(r);
    tell(r, side, "run", side->n_have + 1);
    enum pm_status status = measure(r, side, archive);
    if (!status)
        status =
            pm_experiment_add(r->experiment, archive, side->sets, side->n_sets, &r->err, &added);
    free(archive);
    side->n_have += !status;
    r->n_made += !status;
    return status;
}

/* --- what comes before the runs --- */

static bool is_newer(const char *path, const char *than)
{
    struct stat a, b;
    if (stat(path, &a) != 0 || stat(than, &b) != 0)
        return stat(path, &a) == 0;
    return a.st_mtim.tv_sec != b.st_mtim.tv_sec ? a.st_mtim.tv_sec > b.st_mtim.tv_sec
                                                : a.st_mtim.tv_nsec > b.st_mtim.tv_nsec;
}

/* The first run of each side shows what the budget leaves out: the others leave out the same from
 * the start, so that calls and call paths can be compared. It is no member. */
static enum pm_status find_modes(struct runs *r)
{
    char *archives[EXPERIMENT_MOST_SIDES] = {NULL};
    enum pm_status status = PM_OK;
    for (uint32_t i = 0; i < r->n_sides && !status; i++) {
        struct side *side = &r->sides[i];
        archives[i] = path_of(r, side, "-first.perfmap");
        if (!archives[i])
            status = no_memory(r);
        else if (!is_newer(archives[i], side->argv[0])) {
            tell(r, side, "first run for", r->options->n);
            status = measure(r, side, archives[i]);
        }
    }
    for (uint32_t i = 0; i < r->n_sides; i++)
        r->sides[i].same_as = archives[i]; /* all at once: the first runs have none */
    return status;
}

static enum pm_status run_bare(struct runs *r, struct side *side)
{
    char **argv = pm_alloc_array((size_t)side->n_args + 1, sizeof *argv);
    char *log = path_of(r, side, ".log");
    double cpu_ns = 0;
    if (argv)
        memcpy(argv, side->argv, (size_t)side->n_args * sizeof *argv);
    int end = argv && log ? spawn(r, argv, log, &cpu_ns) : -1;
    enum pm_status status = PM_OK;
    if (!argv || !log)
        status = no_memory(r);
    else if (was_interrupted || (end != 0 && !(end > 0 && r->options->ignores_failure)))
        status = refuse_end(r, side, end, log);
    else
        side->bare_ns[side->n_bare++] = cpu_ns;
    free(argv);
    free(log);
    return status;
}

/* --- rounds --- */

static uint32_t random_below(uint32_t n)
{
    uint32_t number = 0;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        number = (uint32_t)random();
    return number % n; /* of at most 8: even enough */
}

/* Those that lack something, in random order; as given where there are no runs yet, so that a trend
 * has its points in that order. */
static uint32_t draw(const struct runs *r, bool bare, uint32_t ret_order[EXPERIMENT_MOST_SIDES])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n_sides; i++) {
        const struct side *side = &r->sides[i];
        if (bare ? side->n_bare < r->options->n_bare : side->n_have < r->options->n)
            ret_order[n++] = i;
    }
    for (uint32_t i = n; i > 1 && r->experiment->n_members + r->n_made; i--) {
        uint32_t other = random_below(i), kept = ret_order[i - 1];
        ret_order[i - 1] = ret_order[other];
        ret_order[other] = kept;
    }
    return n;
}

static enum pm_status run_rounds(struct runs *r)
{
    uint32_t order[EXPERIMENT_MOST_SIDES], n, n_bare;
    do {
        n_bare = draw(r, true, order);
        for (uint32_t i = 0; i < n_bare; i++) {
            enum pm_status status = run_bare(r, &r->sides[order[i]]);
            if (status != PM_OK)
                return status;
        }
        n = draw(r, false, order);
        for (uint32_t i = 0; i < n; i++) {
            enum pm_status status = run_side(r, &r->sides[order[i]]);
            if (status != PM_OK)
                return status;
        }
    } while (n || n_bare);
    return PM_OK;
}

/* --- what is said in the end --- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, uint32_t n)
{
    qsort(values, n, sizeof *values, compare_doubles);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* CPU time of its members, as the kernel counted it. */
static uint32_t find_measured(const struct runs *r, const struct side *side, double *ret_ns)
{
    uint32_t n = 0;
    for (uint32_t m = 0; m < r->experiment->n_members; m++) {
        const struct pm_experiment_member *member = &r->experiment->members[m];
        const char *text = pm_member_value(member, "cpu_ns");
        double ns;
        if (is_of_side(member, side) && text && pm_str_to_double(pm_str_of(text), &ns))
            ret_ns[n++] = ns;
    }
    return n;
}

static void print_perturbation(struct runs *r, struct side *side)
{
    double *measured = pm_alloc_array(r->experiment->n_members + 1, sizeof *measured);
    uint32_t n = measured ? find_measured(r, side, measured) : 0;
    if (n && side->n_bare) {
        double bare = median(side->bare_ns, side->n_bare), with = median(measured, n);
        printf("%s: CPU time %.3f s without measurement (median of %u), %.3f s with (of %u): "
               "perturbation factor %.3f\n",
               side->label, bare / 1e9, side->n_bare, with / 1e9, n, bare / with);
    }
    free(measured);
}

static void print_diff(struct runs *r)
{
    char *a, *b;
    const struct side *sides = r->sides;
    if (asprintf(&a, "%s?%s", r->experiment->path, sides[1].selection) < 0 ||
        asprintf(&b, "%s?%s", r->experiment->path, sides[0].selection) < 0)
        return;
    char *const argv[] = {(char *)"perfmap", (char *)"diff", a, b, NULL};
    printf("perfmap diff '%s' '%s'\n", a, b);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        execv("/proc/self/exe", argv);
        _exit(SPAWN_FAILED);
    }
    if (child > 0)
        (void)waitpid(child, NULL, 0);
    free(a);
    free(b);
}

/* What is there, and what is missing still. */
static void tell_missing(const struct runs *r)
{
    for (uint32_t i = 0; i < r->n_sides; i++)
        if (r->sides[i].n_have < r->options->n)
            cmd_talk("%s: %u of %u runs are there; the same command again makes the others",
                     r->sides[i].label, r->sides[i].n_have, r->options->n);
}

static enum pm_status run_all(struct runs *r)
{
    uint32_t order[EXPERIMENT_MOST_SIDES];
    count_members(r);
    for (uint32_t i = 0; i < r->n_sides; i++) {
        struct side *side = &r->sides[i];
        side->bare_ns = pm_alloc_array(r->options->n_bare + 1, sizeof *side->bare_ns);
        if (!side->bare_ns)
            return no_memory(r);
        if (side->n_have)
            cmd_talk("%s: %u of %u runs are there already", side->label, side->n_have,
                     r->options->n);
    }
    enum pm_status status = draw(r, false, order) ? find_modes(r) : PM_OK;
    if (!status)
        status = run_rounds(r);
    if (status != PM_OK)
        return status;
    return pm_experiment_reload(r->experiment, &r->err);
}

static void release(struct runs *r)
{
    for (uint32_t i = 0; i < r->n_sides; i++) {
        struct side *side = &r->sides[i];
        for (uint32_t s = 0; s < side->n_own; s++)
            free((char *)side->sets[s].key);
        free(side->n_own ? side->sets : NULL);
        free(side->label);
        free(side->name);
        free(side->selection);
        free(side->same_as);
        free(side->bare_ns);
    }
    pm_experiment_close(r->experiment);
    free(r->folder);
}

/* The program gets what is typed at the terminal, too: it ends, and we stop behind it. */
static void catch_interrupts(void)
{
    const struct sigaction action = {.sa_handler = note_interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int experiment_run_all(struct cmd_parse *parse, const struct experiment_run *options)
{
    struct runs r = {.parse = parse, .options = options, .err = PM_ERROR_INIT};
    enum pm_status status = take_sides(&r, parse->operands + 2, parse->n_operands - 2);
    if (!status)
        status = check_sides(&r);
    if (!status)
        status = open_experiment(&r, parse->operands[1]);
    catch_interrupts();
    if (!status)
        status = run_all(&r);
    int end = CMD_DONE;
    if (status != PM_OK) {
        end = cmd_refuse(parse, status, &r.err);
        if (r.folder && end != CMD_USAGE)
            tell_missing(&r);
    }
    for (uint32_t i = 0; i < r.n_sides && !status; i++)
        print_perturbation(&r, &r.sides[i]);
    if (!status && r.n_sides == 2)
        print_diff(&r);
    release(&r);
    return cmd_stdout_done(parse, end);
}
