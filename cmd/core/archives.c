/* Archives and looks, as options and operands name them (archives.h). */
#include "archives.h"

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

bool cmd_archive_operands(struct cmd_parse *parse, const char *expected, const char **ret_what,
                          char **ret_archive)
{
    int n = parse->n_operands;
    const char *first = n ? parse->operands[0] : NULL;
    if (n < 1 || n > 2) {
        cmd_usage_error(parse, "expected %s, and an archive", expected);
        return false;
    }
    if (cmd_file_kind(first) == CMD_FILE_ARCHIVE) {
        cmd_usage_error(parse, "'%s' is an archive, which comes last: expected %s before it", first,
                        expected);
        return false;
    }
    *ret_what = first;
    *ret_archive = n == 2 ? pm_strndup(parse->operands[1], strlen(parse->operands[1]))
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

const char *const cmd_look_environment[] = {
    "COLUMNS",
    "width of the text; without it the terminal's. Not on a terminal: as wide as names of 160 take",
    "NO_COLOR",
    "when not empty, no colours with --color=auto",
    "LC_ALL, LC_CTYPE, LANG",
    "bars and lines are drawn with Unicode when the locale is UTF-8",
    NULL};
