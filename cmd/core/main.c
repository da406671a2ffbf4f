/* perfmap: finds the command and calls it. */
#include "cmd.h"

#include <fcntl.h>
#include <locale.h>
#include <unistd.h>

enum { OPT_VERSION = 'V' };

static int perfmap_main(struct cmd_parse *parse);

static const struct cmd_option perfmap_options[] = {
    {OPT_VERSION, "version", NULL, "show the version"}, {0}};

static const struct cmd_example perfmap_examples[] = {
    {"gcc -O2 -g -fplugin=$(perfmap plugin-path) heat.c -o heat",
     "compile with the plugin; nothing has to be linked, and heat runs as fast as without"},
    {"perfmap run -o heat.perfmap -- ./heat", "run and measure it"},
    {"perfmap report heat.perfmap", "cost in the words of the source"},
    {"perfmap annotate heat.c heat.perfmap", "source lines with what they cost"},
    {NULL, NULL}};

static const struct cmd_exit perfmap_exits[] = {
    {0, "done"}, {1, "failed; standard error says why"}, {2, "wrong usage"}, {0, NULL}};

static const char *const perfmap_environment[] = {
    "PERFMAP_LIBDIR",
    "folder with perfmap.so and libperfmap-rt.so, if they are not where they were installed", NULL};

#define VERB(symbol, word) extern const struct cmd cmd_##symbol;
#define HIDDEN_VERB(symbol) VERB(symbol, "")
#include "verbs.def"
#undef VERB
#undef HIDDEN_VERB

static const struct cmd *const commands[] = {
#define VERB(symbol, word) &cmd_##symbol,
#define HIDDEN_VERB(symbol)
#include "verbs.def"
    NULL};
#undef VERB
#undef HIDDEN_VERB

static const struct cmd *const hidden[] = {
#define VERB(symbol, word)
#define HIDDEN_VERB(symbol) &cmd_##symbol,
#include "verbs.def"
    NULL};

static const struct cmd cmd_perfmap = {
    .name = "",
    .summary = "measure a program, and explain its costs by its source",
    .usage = (const char *const[]){"COMMAND [ARGUMENT]...", "help COMMAND", "--version", NULL},
    .description = "PerfMap shows what functions, loops, statements, arrays and calls cost in an "
                   "optimised program. Compile the program with the plugin for all of that; "
                   "without it PerfMap shows functions, lines and loops by samples.",
    .options = perfmap_options,
    .examples = perfmap_examples,
    .exits = perfmap_exits,
    .environment = perfmap_environment,
    .flags = CMD_STOP_AT_OPERAND,
    .commands = commands,
    .hidden = hidden,
    .main = perfmap_main};

static int cmd_call(const struct cmd *cmd, int argc, char **argv)
{
    struct cmd_parse parse = {.cmd = cmd, .perfmap = &cmd_perfmap, .argc = argc, .argv = argv};
    if (cmd->flags & CMD_RAW) {
        if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
            cmd_help_print(cmd, stdout);
            return cmd_stdout_done(&parse, CMD_DONE);
        }
        parse.operands = argv + 1;
        parse.n_operands = argc - 1;
    }
    return cmd->main(&parse);
}

static int perfmap_main(struct cmd_parse *parse)
{
    bool version = false;
    for (int key; (key = cmd_next(parse)) != CMD_END;)
        version |= key == OPT_VERSION;
    if (parse->failed)
        return CMD_USAGE;
    if (version) {
        printf("perfmap %s\n", PERFMAP_VERSION);
        return cmd_stdout_done(parse, CMD_DONE);
    }
    if (parse->n_operands == 0) {
        cmd_help_print(parse->perfmap, stdout);
        return cmd_stdout_done(parse, CMD_DONE);
    }
    const struct cmd *cmd = cmd_find(parse->perfmap, parse->operands[0]);
    return cmd ? cmd_call(cmd, parse->n_operands, parse->operands)
               : cmd_unknown(parse->perfmap, parse->operands[0]);
}

/* A standard descriptor that we were started without must not become that of a file we open.
 * Close-on-exec, so that a program we start is without it too. Opened the wrong way round, so that
 * using it fails. */
static void keep_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1 &&
            open("/dev/null", (fd == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC) != fd)
            _exit(CMD_FAILED);
}

int main(int argc, char **argv)
{
    keep_standard_descriptors();
    setlocale(LC_CTYPE, ""); /* widths of characters; numbers stay as in C */
    return cmd_call(&cmd_perfmap, argc, argv);
}
