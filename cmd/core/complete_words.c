/* perfmap complete --words: what a word of a command line may be, from the commands' tables, for
 * shells that take lists with meanings. */
#include "complete.h"
#include "archives.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

enum { MEANING_BYTES = 60 };

struct line {
    const struct cmd *perfmap;
    char *const *words;
    int n;
    const struct cmd *cmd;
    const char *last; /* the word that is being written */
    int n_operands;   /* before it, without archives */
    bool is_program;  /* it belongs to another program's command line */
    struct pm_error *err;
};

static void print_files(void)
{
    puts(":files");
}

/* The first clause of the meaning. */
static void print_way(const char *before, const char *way, size_t way_len, const char *meaning)
{
    printf("%s%.*s", before, (int)way_len, way);
    size_t len = meaning ? strcspn(meaning, ".;(\n\t") : 0;
    if (len > MEANING_BYTES)
        for (len = MEANING_BYTES; len > 1 && meaning[len] != ' ';)
            len--;
    while (len && strchr(" ,:", meaning[len - 1]))
        len--;
    if (len)
        printf("\t%.*s", (int)len, meaning);
    putchar('\n');
}

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static void print_commands(const struct cmd *perfmap, const char *last)
{
    for (const struct cmd *const *cmd = perfmap->commands; *cmd; cmd++)
        if (begins_with((*cmd)->name, last))
            print_way("", (*cmd)->name, strlen((*cmd)->name), (*cmd)->summary);
}

static void print_options(const struct cmd *cmd, const char *last)
{
    char name[128];
    for (const struct cmd_option *option = cmd->options; option && option->long_name; option++) {
        snprintf(name, sizeof name, "--%s%s", option->long_name, option->value ? "=" : "");
        if (begins_with(name, last))
            print_way("", name, strlen(name), option->help);
    }
    if (begins_with("--help", last))
        print_way("", "--help", strlen("--help"), "what it does and takes");
}

/* By its long name (up to an equals sign) or letter; NULL: it is none of the command's. */
static const struct cmd_option *find_option(const struct cmd *cmd, const char *word)
{
    size_t len = strcspn(word, "=");
    for (const struct cmd_option *option = cmd->options; option && option->long_name; option++)
        if ((begins_with(word, "--") && len - 2 == strlen(option->long_name) &&
             !strncmp(word + 2, option->long_name, len - 2)) ||
            (option->key < 256 && word[0] == '-' && word[1] == option->key && word[2] == 0))
            return option;
    return NULL;
}

static bool is_archive_name(const char *word)
{
    size_t len = strlen(word);
    return len > 8 && !strcmp(word + len - 8, ".perfmap");
}

/* The archive that the line names, else the only one here, to be freed. NULL: none, or several. */
static char *find_archive(const struct line *line)
{
    for (int i = 2; i < line->n - 1; i++)
        if (is_archive_name(line->words[i]) && access(line->words[i], R_OK) == 0)
            return pm_strndup(line->words[i], strlen(line->words[i]));
    int n;
    return cmd_find_archive(&n);
}

static enum pm_status print_question(const struct line *line, const char *text)
{
    char *archive = find_archive(line);
    enum pm_status status = archive ? complete_question(text, archive, stdout, line->err) : PM_OK;
    free(archive);
    return status;
}

/* before: what of the word stands before the value, "--mode=" or "". */
static enum pm_status print_values(const struct line *line, const struct cmd_option *option,
                                   const char *before, const char *value)
{
    if (!strcmp(option->long_name, "ask") && !*before)
        return print_question(line, value);
    if (!islower((unsigned char)option->value[0])) {
        print_files();
        return PM_OK;
    }
    for (const char *word = option->value; *word;) {
        size_t len = strcspn(word, "|");
        if (!strncmp(word, value, strlen(value) < len ? strlen(value) : len) &&
            strlen(value) <= len)
            print_way(before, word, len, NULL);
        word += len + (word[len] == '|');
    }
    return PM_OK;
}

/* What stands before the last word. Returns the option whose value that is; NULL: it is none's. */
static const struct cmd_option *look_at_words(struct line *line)
{
    for (int i = 2; i < line->n - 1 && !line->is_program; i++) {
        const char *word = line->words[i];
        const struct cmd_option *option = find_option(line->cmd, word);
        if (option && option->value && !strchr(word, '=') && ++i == line->n - 1)
            return option;
        line->is_program |= !strcmp(word, "--");
        line->n_operands += !option && word[0] != '-' && !is_archive_name(word);
        line->is_program |= line->n_operands && line->cmd->flags & CMD_STOP_AT_OPERAND;
    }
    return NULL;
}

static enum pm_status print_word(struct line *line)
{
    const char *equals = strchr(line->last, '=');
    const struct cmd_option *option = look_at_words(line);
    if (option)
        return print_values(line, option, "", line->last);
    if (line->is_program || line->cmd->flags & CMD_RAW) {
        print_files();
        return PM_OK;
    }
    option = find_option(line->cmd, line->last);
    if (begins_with(line->last, "--") && equals && option && option->value) {
        char before[128];
        snprintf(before, sizeof before, "%.*s", (int)(equals + 1 - line->last), line->last);
        return print_values(line, option, before, equals + 1);
    }
    if (line->last[0] == '-')
        print_options(line->cmd, line->last);
    else if (!strcmp(line->cmd->name, "help"))
        print_commands(line->perfmap, line->last);
    else if (!strcmp(line->cmd->name, "ask") && line->n_operands == 0)
        return print_question(line, line->last);
    else
        print_files();
    return PM_OK;
}

enum pm_status complete_words(const struct cmd *perfmap, char *const *words, int n,
                              struct pm_error *err)
{
    struct line line = {
        .perfmap = perfmap, .words = words, .n = n, .last = words[n - 1], .err = err};
    line.cmd = n > 2 ? cmd_find(perfmap, words[1]) : perfmap;
    if (n <= 2 && line.last[0] == '-')
        print_options(perfmap, line.last);
    else if (n <= 2)
        print_commands(perfmap, line.last);
    else if (line.cmd)
        return print_word(&line);
    else
        print_files();
    return PM_OK;
}
