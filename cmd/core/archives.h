/* What commands that show archives have in common: which archive, and how text is to look.
 *
 *     switch (key) {
 *     default:
 *         cmd_take_look(parse, key, &request->look);
 *     }
 */
#ifndef PM_CMD_ARCHIVES_H
#define PM_CMD_ARCHIVES_H

#include "cmd.h"
#include "cmd/show/term.h"

/* The only archive in the current folder, to be freed; NULL with their number when there is none
 * or there are several. */
char *cmd_find_archive(int *ret_n);
/* The same. NULL: there is none or there are several, which was reported as wrong usage. */
char *cmd_only_archive(struct cmd_parse *parse);
/* The operands "WHAT [ARCHIVE]", in either order: what, and the archive's path, to be freed.
 * expected names what; is_optional: it may be left out, and is NULL then. false: wrong usage,
 * reported. */
bool cmd_archive_operands(struct cmd_parse *parse, const char *expected, bool is_optional,
                          const char **ret_what, char **ret_archive);

/* The options for how text is to look: stand in a command's table, and are taken by
 * cmd_take_look. */
enum { CMD_OPT_COLOR = CMD_KEY_FIRST + 100, CMD_OPT_WIDTH };
#define CMD_LOOK_OPTIONS                                                                       \
    {CMD_OPT_COLOR, "color", "auto|always|never",                                              \
     "colours; auto (default): on a terminal, unless NO_COLOR is set"},                        \
    {                                                                                          \
        CMD_OPT_WIDTH, "width", "NUMBER",                                                      \
            "width of the text in columns, 0 for as wide as it needs (default: COLUMNS, else " \
            "the terminal's width; in a file or a pipe, room for names of 160 columns)"        \
    }
/* false: it is another option. */
bool cmd_take_look(struct cmd_parse *parse, int key, struct show_look *look);
extern const char *const cmd_look_environment[]; /* of these commands */

/* The value of --focus or --on, lent from the command line, behind those in foci, which has room
 * for PM_VIEW_MAX_FOCI and a NULL. Too many are reported. */
void cmd_take_focus(struct cmd_parse *parse, const char **foci);

/* Overlays, of commands that show archives. */
#define CMD_OVERLAY_OPTION(key)                                                                 \
    {                                                                                           \
        key, "overlay", "FILE",                                                                 \
            "a level of words of your own, from this file: what its patterns match is part of " \
            "them. Several times; see docs/overlays.md"                                         \
    }
struct pm_view_options;
void cmd_take_overlay(struct cmd_parse *parse, struct pm_view_options *options);

/* The same of a part of the run's time. */
enum { CMD_OPT_FROM = CMD_OPT_WIDTH + 1, CMD_OPT_TO };
#define CMD_INTERVAL_OPTIONS                                                                       \
    {CMD_OPT_FROM, "from", "TIME",                                                                 \
     "only what was then or later: a time since the start of the run, as 2s, 300ms or 1.5min, or " \
     "a part of the run, as 50%. What has no time (n_calls, wall_ns) is left out"},                \
    {                                                                                              \
        CMD_OPT_TO, "to", "TIME", "only what was before that time"                                 \
    }
/* Lent from the command line. false: it is another option. */
bool cmd_take_interval(struct cmd_parse *parse, int key, const char **from, const char **to);

#endif
