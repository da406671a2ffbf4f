/* Help, manual pages and shell completion, all from the commands' tables. */
#include "complete.h"

#include <ctype.h>

enum { WIDTH = 80 };

static const struct cmd_exit usual_exits[] = {
    {0, "done"}, {1, "failed; standard error says why"}, {2, "wrong usage"}, {0, NULL}};

static const struct cmd_exit *exits_of(const struct cmd *cmd)
{
    return cmd->exits ? cmd->exits : usual_exits;
}

/* --- text --- */

/* Words of one paragraph, wrapped; column is where the cursor stands. */
static void print_wrapped(FILE *out, const char *text, size_t len, int indent, int column)
{
    const char *end = text + len;
    bool first = true;
    while (text < end) {
        size_t blank = strspn(text, " \n");
        text += blank < (size_t)(end - text) ? blank : (size_t)(end - text);
        size_t word = strcspn(text, " \n");
        if (word > (size_t)(end - text))
            word = (size_t)(end - text);
        if (word == 0)
            break;
        if (!first && column + 1 + (int)word > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, word, out);
        column += (int)word;
        text += word;
        first = false;
    }
    fputc('\n', out);
}

/* The next paragraph of a description: up to an empty line. Returns where the one after it begins,
 * NULL at the end. */
static const char *next_paragraph(const char *text, size_t *ret_len)
{
    const char *end = strstr(text, "\n\n");
    *ret_len = end ? (size_t)(end - text) : strlen(text);
    return end ? end + 2 : NULL;
}

static void print_description(FILE *out, const char *text)
{
    while (text) {
        size_t len;
        const char *next = next_paragraph(text, &len);
        fputc('\n', out);
        if (strncmp(text, "    ", 4) == 0)
            fprintf(out, "%.*s\n", (int)len, text);
        else
            print_wrapped(out, text, len, 0, 0);
        text = next;
    }
}

static void print_option(FILE *out, int key, const char *name, const char *value, const char *help)
{
    int column =
        key < 256 ? fprintf(out, "  -%c, --%s", key, name) : fprintf(out, "      --%s", name);
    if (value)
        column += fprintf(out, "=%s", value);
    if (column > 26) {
        fputc('\n', out);
        column = 0;
    }
    fprintf(out, "%*s", 28 - column, "");
    print_wrapped(out, help, strlen(help), 28, 28);
}

static void print_commands(const struct cmd *const *commands, FILE *out)
{
    fputs("\ncommands:\n", out);
    for (const struct cmd *const *cmd = commands; *cmd; cmd++) {
        int column = fprintf(out, "  %s", (*cmd)->name);
        fprintf(out, "%*s", 15 - column, "");
        print_wrapped(out, (*cmd)->summary, strlen((*cmd)->summary), 15, 15);
    }
}

void cmd_help_print(const struct cmd *cmd, FILE *out)
{
    for (const char *const *usage = cmd->usage; *usage; usage++)
        fprintf(out, "%s perfmap %s\n", usage == cmd->usage ? "usage:" : "      ", *usage);
    fputc('\n', out);
    fprintf(out, "%s\n", cmd->summary);
    print_description(out, cmd->description);
    if (cmd->commands)
        print_commands(cmd->commands, out);
    fputs("\noptions:\n", out);
    for (const struct cmd_option *option = cmd->options; option && option->long_name; option++)
        print_option(out, option->key, option->long_name, option->value, option->help);
    print_option(out, 'h', "help", NULL, "show this help");
    if (cmd->examples)
        fputs("\nexamples:\n", out);
    for (const struct cmd_example *example = cmd->examples; example && example->command;
         example++) {
        fprintf(out, "  %s\n      ", example->command);
        print_wrapped(out, example->meaning, strlen(example->meaning), 6, 6);
    }
    if (cmd->environment)
        fputs("\nenvironment:\n", out);
    for (const char *const *word = cmd->environment; word && *word; word += 2) {
        fprintf(out, "  %s\n      ", word[0]);
        print_wrapped(out, word[1], strlen(word[1]), 6, 6);
    }
    fputs("\nexit status:\n", out);
    for (const struct cmd_exit *status = exits_of(cmd); status->meaning; status++) {
        fprintf(out, "  %-3d  ", status->status);
        print_wrapped(out, status->meaning, strlen(status->meaning), 7, 7);
    }
}

/* --- manual page (man(7) macros) --- */

static void print_roff(FILE *out, const char *text, size_t len)
{
    bool line_start = true;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (line_start && (c == '.' || c == '\''))
            fputs("\\&", out);
        if (c == '\\')
            fputs("\\e", out);
        else if (c == '-')
            fputs("\\-", out);
        else if (c == '\'')
            fputs("\\(aq", out);
        else
            fputc(c, out);
        line_start = c == '\n';
    }
}

static void print_roff_line(FILE *out, const char *text)
{
    print_roff(out, text, strlen(text));
    fputc('\n', out);
}

static void man_description(FILE *out, const char *text)
{
    fputs(".SH DESCRIPTION\n", out);
    for (bool first = true; text; first = false) {
        size_t len;
        const char *next = next_paragraph(text, &len);
        bool as_is = strncmp(text, "    ", 4) == 0;
        if (!first)
            fputs(".PP\n", out);
        if (as_is)
            fputs(".nf\n", out);
        print_roff(out, text, len);
        fputs(as_is ? "\n.fi\n" : "\n", out);
        text = next;
    }
}

static void man_option(FILE *out, int key, const char *name, const char *value, const char *help)
{
    fputs(".TP\n", out);
    if (key < 256)
        fprintf(out, "\\fB\\-%c\\fR, ", key);
    fputs("\\fB\\-\\-", out);
    print_roff(out, name, strlen(name));
    fputs("\\fR", out);
    if (value) {
        fputs("=\\fI", out);
        for (const char *p = value; *p;) { /* a list may be broken behind each word */
            size_t len = strcspn(p, "|");
            print_roff(out, p, len + (p[len] == '|'));
            fputs(p[len] == '|' ? "\\:" : "", out);
            p += len + (p[len] == '|');
        }
        fputs("\\fR", out);
    }
    fputc('\n', out);
    print_roff_line(out, help);
}

static void man_tagged(FILE *out, const char *tag, const char *text)
{
    fputs(".TP\n\\fB", out);
    print_roff(out, tag, strlen(tag));
    fputs("\\fR\n", out);
    print_roff_line(out, text);
}

static void man_see_also(const struct cmd *perfmap, const struct cmd *cmd, FILE *out)
{
    fputs(".SH SEE ALSO\n", out);
    if (cmd != perfmap)
        fputs(".BR perfmap (1)", out);
    bool first = cmd == perfmap;
    for (const struct cmd *const *other = perfmap->commands; *other; other++) {
        if (*other == cmd)
            continue;
        fputs(first ? ".BR perfmap\\-" : ",\n.BR perfmap\\-", out);
        print_roff(out, (*other)->name, strlen((*other)->name));
        fputs(" (1)", out);
        first = false;
    }
    fputc('\n', out);
}

void cmd_man_print(const struct cmd *perfmap, const struct cmd *cmd, FILE *out)
{
    fputs(".\\\" Made from the command's table; do not edit.\n.TH \"PERFMAP", out);
    for (const char *c = cmd->name; *c; c++)
        fprintf(out, "%s%c", c == cmd->name ? "\\-" : "", toupper((unsigned char)*c));
    fputs("\" \"1\" \"\" \"PerfMap " PERFMAP_VERSION "\" \"User Commands\"\n.SH NAME\nperfmap",
          out);
    if (*cmd->name)
        fputs("\\-", out);
    print_roff(out, cmd->name, strlen(cmd->name));
    fputs(" \\- ", out);
    print_roff_line(out, cmd->summary);
    fputs(".SH SYNOPSIS\n", out);
    for (const char *const *usage = cmd->usage; *usage; usage++) {
        fputs(usage == cmd->usage ? "\\fBperfmap\\fR " : ".br\n\\fBperfmap\\fR ", out);
        print_roff_line(out, *usage);
    }
    man_description(out, cmd->description);
    if (cmd->commands) {
        fputs(".SH COMMANDS\n", out);
        for (const struct cmd *const *each = cmd->commands; *each; each++)
            man_tagged(out, (*each)->name, (*each)->summary);
    }
    fputs(".SH OPTIONS\n.ad l\n", out); /* long lists of words are not stretched */
    for (const struct cmd_option *option = cmd->options; option && option->long_name; option++)
        man_option(out, option->key, option->long_name, option->value, option->help);
    man_option(out, 'h', "help", NULL, "show a short help");
    if (cmd->examples)
        fputs(".SH EXAMPLES\n", out);
    for (const struct cmd_example *example = cmd->examples; example && example->command; example++)
        man_tagged(out, example->command, example->meaning);
    if (cmd->environment)
        fputs(".SH ENVIRONMENT\n", out);
    for (const char *const *word = cmd->environment; word && *word; word += 2)
        man_tagged(out, word[0], word[1]);
    fputs(".SH EXIT STATUS\n", out);
    for (const struct cmd_exit *status = exits_of(cmd); status->meaning; status++) {
        fprintf(out, ".TP\n\\fB%d\\fR\n", status->status);
        print_roff_line(out, status->meaning);
    }
    man_see_also(perfmap, cmd, out);
}

/* --- bash completion --- */

static void completion_options(const struct cmd *cmd, FILE *out)
{
    fprintf(out, "    %s) options='", *cmd->name ? cmd->name : "''");
    for (const struct cmd_option *option = cmd->options; option && option->long_name; option++)
        fprintf(out, "--%s%s ", option->long_name, option->value ? "=" : "");
    fputs("--help' ;;\n", out);
}

static void completion_words(const struct cmd *cmd, FILE *out)
{
    for (const struct cmd_option *option = cmd->options; option && option->long_name; option++) {
        if (!option->value || !islower((unsigned char)option->value[0]))
            continue;
        fprintf(out, "    '%s --%s') words='", cmd->name, option->long_name);
        for (const char *c = option->value; *c; c++)
            fputc(*c == '|' ? ' ' : *c, out);
        fputs("' ;;\n", out);
    }
}

/* COMP_WORDBREAKS holds '=', so "--mode=ex" comes as three words. */
static const char completion_head[] =
    "# bash completion for perfmap. Made from the commands' tables; do not edit.\n"
    "_perfmap()\n"
    "{\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} verb='' option='' options='' words='' i\n"
    "    COMPREPLY=()\n"
    "    [ \"$COMP_CWORD\" -gt 1 ] && verb=${COMP_WORDS[1]}\n"
    "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
    "        if [ \"${COMP_WORDS[i]}\" = -- ]; then\n"
    "            _perfmap_files \"$word\"\n"
    "            return\n"
    "        fi\n"
    "    done\n"
    "    if [ \"$word\" = = ]; then\n"
    "        option=${COMP_WORDS[COMP_CWORD - 1]} word=''\n"
    "    elif [ \"$COMP_CWORD\" -gt 1 ] && [ \"${COMP_WORDS[COMP_CWORD - 1]}\" = = ]; then\n"
    "        option=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    else\n"
    "        option=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    fi\n"
    "    case \"$verb $option\" in\n";

static const char completion_middle[] =
    "    esac\n"
    "    if [ \"$verb\" = ask ] || [ \"$option\" = --ask ]; then\n"
    "        _perfmap_question \"$word\" && return\n"
    "    fi\n"
    "    if [ -n \"$words\" ]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
    "        return\n"
    "    fi\n"
    "    case \"$verb\" in\n";

static const char completion_tail[] =
    "    esac\n"
    "    if [[ $word == -* && -n $options ]]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
    "        [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n"
    "    elif [ \"$COMP_CWORD\" -eq 1 ] || [ \"$verb\" = help ]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$commands\" -- \"$word\")\n"
    "    else\n"
    "        _perfmap_files \"$word\"\n"
    "    fi\n"
    "}\n"
    "# How a question goes on, when the word is one: in quotes, for they have blanks; of the "
    "archive on the line, or the only one here.\n"
    "_perfmap_question()\n"
    "{\n"
    "    local text=$1 quote='' archive='' each way\n"
    "    case $text in\n"
    "    \\'*) quote=\\' text=${text#\\'} text=${text//\\'\\\\\\'\\'/\\'} ;;\n"
    "    \\\"*) quote=\\\" text=${text#\\\"} text=${text//\\\\\\\"/\\\"} "
    "text=${text//\\\\\\\\/\\\\} ;;\n"
    "    '{'*) ;;\n"
    "    *) return 1 ;;\n"
    "    esac\n"
    "    for each in \"${COMP_WORDS[@]:2}\"; do\n"
    "        [[ $each == *.perfmap && -f $each ]] && archive=$each\n"
    "    done\n"
    "    if [ -z \"$archive\" ]; then\n"
    "        for each in *.perfmap; do\n"
    "            [ -z \"$archive\" ] || return 1\n"
    "            archive=$each\n"
    "        done\n"
    "    fi\n"
    "    [ -f \"$archive\" ] || return 1\n"
    "    mapfile -t COMPREPLY < <(\"${COMP_WORDS[0]}\" complete -- \"$text\" \"$archive\" 2> "
    "/dev/null)\n"
    "    for each in \"${!COMPREPLY[@]}\"; do\n"
    "        way=${COMPREPLY[each]}\n"
    "        case $quote in\n"
    "        \\') way=${way//\\'/\\'\\\\\\'\\'} ;;\n"
    "        \\\") way=${way//\\\\/\\\\\\\\} way=${way//\\\"/\\\\\\\"} ;;\n"
    "        *) way=\\'${way//\\'/\\'\\\\\\'\\'} ;;\n"
    "        esac\n"
    "        COMPREPLY[each]=$way\n"
    "    done\n"
    "    compopt -o nospace 2> /dev/null\n"
    "    return 0\n"
    "}\n"
    "_perfmap_files()\n"
    "{\n"
    "    compopt -o filenames 2> /dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen -f -- \"$1\")\n"
    "}\n"
    "complete -F _perfmap perfmap\n";

void cmd_completion_print(const struct cmd *perfmap, FILE *out)
{
    fputs(completion_head, out);
    for (const struct cmd *const *cmd = perfmap->commands; *cmd; cmd++)
        completion_words(*cmd, out);
    fputs(completion_middle, out);
    completion_options(perfmap, out);
    for (const struct cmd *const *cmd = perfmap->commands; *cmd; cmd++)
        completion_options(*cmd, out);
    fputs("    esac\n    local commands='", out);
    for (const struct cmd *const *cmd = perfmap->commands; *cmd; cmd++)
        fprintf(out, "%s%s", cmd == perfmap->commands ? "" : " ", (*cmd)->name);
    fputs("'\n", out);
    fputs(completion_tail + strlen("    esac\n"), out);
}

/* --- perfmap help --- */

enum { OPT_MAN = CMD_KEY_FIRST, OPT_COMPLETION };

static int help_main(struct cmd_parse *parse)
{
    bool man = false;
    int shell = -1;
    for (int key; (key = cmd_next(parse)) != CMD_END;) {
        man |= key == OPT_MAN;
        shell = key == OPT_COMPLETION ? parse->choice : shell;
    }
    if (parse->failed)
        return CMD_USAGE;
    if (parse->n_operands > 1)
        return cmd_usage_error(parse, "expected at most one command, not %d", parse->n_operands);
    const struct cmd *perfmap = parse->perfmap, *cmd = perfmap;
    if (parse->n_operands == 1 && !(cmd = cmd_find(perfmap, parse->operands[0])))
        return cmd_unknown(perfmap, parse->operands[0]);
    if (shell >= 0)
        complete_print_script(perfmap, (enum complete_shell)shell, stdout);
    else if (man)
        cmd_man_print(perfmap, cmd, stdout);
    else
        cmd_help_print(cmd, stdout);
    return cmd_stdout_done(parse, CMD_DONE);
}

static const struct cmd_option help_options[] = {
    {OPT_MAN, "man", NULL, "print the manual page instead, as man(7) source"},
    {OPT_COMPLETION, "completion", "bash|zsh|fish", "print the completion script for a shell"},
    {0}};

static const struct cmd_example help_examples[] = {
    {"perfmap help run", "what `perfmap run` does and takes"},
    {"perfmap help --man run | man -l -", "the same as a manual page"},
    {". <(perfmap help --completion=bash)",
     "complete commands and options in this shell; zsh, too"},
    {"perfmap help --completion=fish | source", "the same in fish"},
    {NULL, NULL}};

const struct cmd cmd_help = {
    .name = "help",
    .summary = "show what a command does",
    .usage = (const char *const[]){"help [--man] [COMMAND]", "help --completion=SHELL", NULL},
    .description = "Without a command: the list of commands.",
    .options = help_options,
    .examples = help_examples,
    .main = help_main};
