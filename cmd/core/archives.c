/* Archives and looks, as options and operands name them (archives.h). */
#include "archives.h"

#include "mapping/view/view.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

static bool is_archive_name(const char *name)
{
    size_t len = strlen(name);
    return len > 8 && *name != '.' && !strcmp(name + len - 8, ".perfmap");
}

char *cmd_find_archive(int *ret_n)
{
    char *found = NULL;
    DIR *folder = opendir(".");
    *ret_n = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        struct stat st;
        if (!is_archive_name(entry->d_name) || stat(entry->d_name, &st) != 0 ||
            !S_ISREG(st.st_mode))
            continue;
        if (++*ret_n == 1)
            found = pm_strndup(entry->d_name, strlen(entry->d_name));
    }
    if (folder)
        closedir(folder);
    if (*ret_n == 1)
        return found;
    free(found);
    return NULL;
}

char *cmd_only_archive(struct cmd_parse *parse)
{
    int n;
    char *found = cmd_find_archive(&n);
    if (!found && n > 1)
        cmd_usage_error(parse, "there are %d archives (*.perfmap) in this folder: say which one",
                        n);
    else if (!found)
        cmd_usage_error(parse, "no archive was given and there is none (*.perfmap) in this folder");
    return found;
}

/* How likely an operand is meant as the archive: 2 it is one, 1 it is called like one, or is
 * another file of ours that was taken for one. */
static int archive_rank(const char *operand)
{
    enum cmd_file_kind kind = cmd_file_kind(operand);
    if (kind == CMD_FILE_ARCHIVE)
        return 2;
    return kind != CMD_FILE_OTHER || is_archive_name(operand);
}

/* Position of the archive among one or two operands; n: it is none of them. */
static int archive_at(const struct cmd_parse *parse)
{
    int n = parse->n_operands, first = n ? archive_rank(parse->operands[0]) : 0;
    if (n < 2)
        return first ? 0 : n;
    return first > archive_rank(parse->operands[1]) ? 0 : 1;
}

static bool refuse_operands(struct cmd_parse *parse, const char *expected, bool is_optional)
{
    int n = parse->n_operands;
    if (n > 2 || (n == 0 && !is_optional))
        cmd_usage_error(parse, "expected %s, and an archive", expected);
    else if (n == 1 && !is_optional && cmd_file_kind(parse->operands[0]) == CMD_FILE_ARCHIVE)
        cmd_usage_error(parse, "'%s' is an archive: expected %s, too", parse->operands[0],
                        expected);
    else if (n == 2 && cmd_file_kind(parse->operands[0]) == CMD_FILE_ARCHIVE &&
             cmd_file_kind(parse->operands[1]) == CMD_FILE_ARCHIVE)
        cmd_usage_error(parse, "'%s' and '%s' are archives: expected %s, and one archive",
                        parse->operands[0], parse->operands[1], expected);
    else
        return false;
    return true;
}

bool cmd_archive_operands(struct cmd_parse *parse, const char *expected, bool is_optional,
                          const char **ret_what, char **ret_archive)
{
    if (refuse_operands(parse, expected, is_optional))
        return false;
    int n = parse->n_operands, archive = archive_at(parse);
    if (n == 1 && !is_optional)
        archive = n;
    int what = archive == 0;
    *ret_what = what < n ? parse->operands[what] : NULL;
    *ret_archive = archive < n
                       ? pm_strndup(parse->operands[archive], strlen(parse->operands[archive]))
                       : cmd_only_archive(parse);
    return *ret_archive != NULL;
}

bool cmd_take_look(struct cmd_parse *parse, int key, struct show_look *look)
{
    if (key == CMD_OPT_COLOR)
        look->color = (enum show_color)parse->choice;
    else if (key == CMD_OPT_WIDTH)
        look->has_width = cmd_number(parse, 100000, &look->width);
    else
        return false;
    return true;
}

void cmd_take_focus(struct cmd_parse *parse, const char **foci)
{
    if (!pm_view_add_focus(foci, parse->value))
        cmd_usage_error(parse, "'--%s' at most %d times", parse->option, PM_VIEW_MAX_FOCI);
}

void cmd_take_overlay(struct cmd_parse *parse, struct pm_view_options *options)
{
    cmd_take_focus(parse, options->overlays);
}

bool cmd_take_interval(struct cmd_parse *parse, int key, const char **from, const char **to)
{
    if (key == CMD_OPT_FROM)
        *from = parse->value;
    else if (key == CMD_OPT_TO)
        *to = parse->value;
    else
        return false;
    return true;
}

const char *const cmd_look_environment[] = {
    "COLUMNS",
    "width of the text (default: the terminal's; in a file or a pipe, room for names of 160 "
    "columns)",
    "NO_COLOR",
    "if not empty: no colours with --color=auto",
    "LC_ALL, LC_CTYPE, LANG",
    "if the locale is UTF-8, bars and lines are drawn with Unicode",
    NULL};
