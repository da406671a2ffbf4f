/* perfmap plugin-path */
#include "cmd/core/cmd.h"
#include "cmd/core/paths.h"

static int plugin_path_main(struct cmd_parse *parse)
{
    while (cmd_next(parse) != CMD_END)
        ;
    if (parse->failed)
        return CMD_USAGE;
    if (parse->n_operands > 0)
        return cmd_usage_error(parse, "unexpected argument '%s'", parse->operands[0]);
    struct pm_error err = PM_ERROR_INIT;
    char *path = NULL;
    if (cmd_find_plugin(&err, &path) != PM_OK)
        return cmd_fail(parse, &err);
    puts(path);
    free(path);
    return cmd_stdout_done(parse, CMD_DONE);
}

static const struct cmd_example plugin_path_examples[] = {
    {"gcc -O2 -g -fplugin=$(perfmap plugin-path) heat.c -o heat", "compile with the plugin"},
    {"make CFLAGS=\"-O2 -g -fplugin=$(perfmap plugin-path)\"", "the same for a whole project"},
    {NULL, NULL}};

const struct cmd cmd_plugin_path = {
    .name = "plugin-path",
    .summary = "print where the compiler plugin is",
    .usage = (const char *const[]){"plugin-path", NULL},
    .description = "Prints the absolute path of perfmap.so, for -fplugin= on the compiler's "
                   "command line. All supported versions of GCC and Clang load the same file; "
                   "'perfmap doctor' tries those in PATH.",
    .examples = plugin_path_examples,
    .environment = (const char *const[]){"PERFMAP_LIBDIR", "folder with perfmap.so", NULL},
    .main = plugin_path_main};
