/* A command of `perfmap`: one constant table, from which --help, the manual page and shell
 * completion come.
 *
 *     enum { OPT_LIMIT = CMD_KEY_FIRST };
 *     static int report_main(struct cmd_parse *parse)
 *     {
 *         uint64_t limit = 40;
 *         for (int key; (key = cmd_next(parse)) != CMD_END;)
 *             switch (key) {
 *             case OPT_LIMIT: cmd_number(parse, 1000000, &limit); break;
 *             }
 *         if (parse->failed)
 *             return CMD_USAGE;                         // the message is out already
 *         if (parse->n_operands != 1)
 *             return cmd_usage_error(parse, "expected one archive");
 *         struct pm_error err = PM_ERROR_INIT;
 *         if (do_it(parse->operands[0], limit, &err) != PM_OK)
 *             return cmd_fail(parse, &err);             // prints the chain once; JSON after --json
 *         return cmd_stdout_done(parse, CMD_DONE);      // full disk, closed pipe
 *     }
 *     const struct cmd cmd_report = {.name = "report", .summary = "...", ..., .main = report_main};
 *
 * Results go to stdout, talk to stderr with "perfmap: " in front. One thread.
 *
 *   verbs.def   the one list of verbs          main      finds the verb, and calls it
 *   parse       options                        help      help and manual pages from the tables
 *   talk        what goes to stderr            archives  operands and options of all who show one
 *   paths       plugin and runtime             complete  for shells: questions; complete_words:
 *   file_kind   what a file is                           command lines; complete_shells: scripts
 *   command     other programs that a verb runs
 */
#ifndef PM_CMD_H
#define PM_CMD_H

#include "talk.h"

#include <stdlib.h>

enum cmd_status { CMD_DONE = 0, CMD_FAILED = 1, CMD_USAGE = 2 };

enum {
    CMD_END = -1,       /* cmd_next: no more options */
    CMD_KEY_JSON = 256, /* use this key for --json, then errors are JSON too */
    CMD_KEY_HELP,       /* taken: --help, -h */
    CMD_KEY_FIRST,      /* of a command's own options that have no letter */
};

/* An option. `key` is what cmd_next returns: the letter of its short form, or a number from
 * CMD_KEY_FIRST on when it has none. `value` names its argument in capitals ("NUMBER"), or lists
 * the only words it takes in small letters ("merge|split": checked before cmd_next returns, with a
 * suggestion); NULL: it takes none. The list ends with long_name NULL. --help need not be listed.
 */
struct cmd_option {
    int key;
    const char *long_name;
    const char *value;
    const char *help; /* a sentence or two, without an ending full stop; defaults named */
};

struct cmd_example {
    const char *command, *meaning;
};

struct cmd_exit {
    int status;
    const char *meaning;
};

struct cmd_parse;

enum {
    CMD_STOP_AT_OPERAND = 1, /* options end at the first operand (run: the rest is the program's) */
    CMD_RAW = 2, /* no parsing at all: operands are all arguments (cc). --help only as the only
                    argument */
};

struct cmd {
    const char *name;
    const char *summary;      /* one line, lower case, no full stop */
    const char *const *usage; /* what stands after "perfmap ", one form per line; NULL-ended */
    const char *description;  /* paragraphs separated by an empty line; lines beginning with four
                                 spaces are kept as they are */
    const struct cmd_option *options;   /* NULL: none but --help */
    const struct cmd_example *examples; /* ends with command NULL; NULL: none */
    const struct cmd_exit *exits;       /* ends with meaning NULL; NULL: the usual three */
    const char *const *environment;     /* pairs: variable, meaning; NULL-ended; NULL: none */
    unsigned flags;
    /* of perfmap itself (name ""): all commands in the order of the help, and those that are in no
     * list; NULL-ended. NULL: it has none */
    const struct cmd *const *commands, *const *hidden;
    int (*main)(struct cmd_parse *parse);
};

/* One call of a command. Operands are complete, in order, once cmd_next has returned CMD_END. */
struct cmd_parse {
    const struct cmd *cmd;
    const struct cmd *perfmap; /* that knows all commands */
    int argc;
    char **argv;
    const char *value;  /* argument of the option that cmd_next returned; NULL: none */
    int choice;         /* position of value among the option's words */
    const char *option; /* its long name, for messages */
    char **operands;
    int n_operands;
    bool json;   /* --json was among the options */
    bool failed; /* bad usage was reported */
    /* private */
    struct option *long_options;
    char *short_options;
};

/* The next option's key, or CMD_END. A wrong option is reported (once, with a suggestion), sets
 * failed and ends the options. */
int cmd_next(struct cmd_parse *parse);

/* The value of the option at hand as a number 0..max; reports and sets failed when it is none. */
bool cmd_number(struct cmd_parse *parse, uint64_t max, uint64_t *ret_number);

/* The same as a time: a number, decimals too, with ns, us, ms, s, m or h behind it; seconds when
 * nothing is. max_ns below 2^62. */
bool cmd_time(struct cmd_parse *parse, uint64_t max_ns, uint64_t *ret_ns);
/* The same in milliseconds, 1 to 1000 hours. */
void cmd_take_ms(struct cmd_parse *parse, uint64_t *ret_ms);

/* Reports wrong usage: "perfmap: <text>" and "perfmap: try 'perfmap NAME --help'". Returns
 * CMD_USAGE. */
int cmd_usage_error(struct cmd_parse *parse, const char *format, ...) PM_PRINTF(2, 3);

/* Prints the chain once: "perfmap: ..." on stderr, or {"error": {...}} on stdout after --json.
 * Empties err, returns CMD_FAILED. */
int cmd_fail(const struct cmd_parse *parse, struct pm_error *err);
/* Of what took options and files: PM_ERR_USAGE is wrong usage, all else a failure. Empties err,
 * returns CMD_USAGE or CMD_FAILED. */
int cmd_refuse(struct cmd_parse *parse, enum pm_status status, struct pm_error *err);

/* Flushes stdout. Returns status, or CMD_FAILED when something could not be written (told, but for
 * a closed pipe). */
int cmd_stdout_done(const struct cmd_parse *parse, int status);

/* What a file is, by its first bytes; a folder by what is in it. */
enum cmd_file_kind {
    CMD_FILE_OTHER, /* or not there */
    CMD_FILE_ARCHIVE,
    CMD_FILE_BINARY,
    CMD_FILE_RUN, /* folder of a run */
    CMD_FILE_PROCESS
};
enum cmd_file_kind cmd_file_kind(const char *path);
/* For an error about a file that is not of the kind that was wanted: adds what it is, and which
 * command takes it. Nothing when it is of that kind after all, or nothing that we know. */
void cmd_add_file_hint(const char *path, enum cmd_file_kind wanted, struct pm_error *err);

/* The help of a command as text, its manual page; both from its table. perfmap: of all. */
void cmd_help_print(const struct cmd *cmd, FILE *out);
void cmd_man_print(const struct cmd *perfmap, const struct cmd *cmd, FILE *out);
void cmd_completion_print(const struct cmd *perfmap, FILE *out); /* bash */

/* The command of that name, hidden or not; NULL: there is none. */
const struct cmd *cmd_find(const struct cmd *perfmap, const char *name);
/* Reports an unknown command, with a suggestion; CMD_USAGE. */
int cmd_unknown(const struct cmd *perfmap, const char *name);

#endif
