#include "cmd.h"

#include "mapping/base/suggest.h"

#include <ctype.h>
#include <getopt.h>

enum { MAX_WORDS = 128 };

/* "" or ", did you mean 'x'?" */
static void add_suggestion(struct pm_buf *text, const char *word, const char *const *words)
{
    const char *best = pm_suggest(word, words);
    if (best)
        pm_buf_printf(text, "; did you mean '%s'?", best);
}

static void report(struct cmd_parse *parse, struct pm_buf *text)
{
    parse->failed = true;
    (void)cmd_usage_error(parse, "%s", text->data && !text->failed ? text->data : "wrong option");
    pm_buf_release(text);
}

static const struct cmd_option *option_of_key(const struct cmd *cmd, int key)
{
    for (const struct cmd_option *option = cmd->options; option && option->long_name; option++)
        if (option->key == key)
            return option;
    return NULL;
}

static void report_unknown(struct cmd_parse *parse, const char *word)
{
    const char *names[MAX_WORDS];
    int n = 0;
    for (const struct cmd_option *option = parse->cmd->options;
         option && option->long_name && n < MAX_WORDS - 2; option++)
        names[n++] = option->long_name;
    names[n++] = "help";
    names[n] = NULL;

    struct pm_buf text = PM_BUF_INIT(4096);
    size_t len = strcspn(word, "=");
    if (len > 1000)
        len = 1000;
    pm_buf_printf(&text, "unknown option '%.*s'", (int)len, word);
    if (len > 2 && word[1] == '-') {
        char *bare = pm_strndup(word + 2, len - 2);
        const char *best = bare ? pm_suggest(bare, names) : NULL;
        if (best)
            pm_buf_printf(&text, "; did you mean '--%s'?", best);
        free(bare);
    }
    report(parse, &text);
}

static void report_wrong(struct cmd_parse *parse, int code, int key, const char *word)
{
    const struct cmd_option *option = option_of_key(parse->cmd, key);
    if (!option && key != CMD_KEY_HELP && key != 'h') {
        char letter[3] = {'-', (char)key, 0};
        report_unknown(parse, key > 0 && key < 256 && strncmp(word, "--", 2) != 0 ? letter : word);
        return;
    }
    struct pm_buf text = PM_BUF_INIT(4096);
    const char *name = option ? option->long_name : "help";
    if (code == ':')
        pm_buf_printf(&text, "option '--%s' needs a value (%s)", name, option ? option->value : "");
    else
        pm_buf_printf(&text, "option '--%s' takes no value", name);
    report(parse, &text);
}

/* Before anything was begun: no use going on, and no wrong usage. */
_Noreturn static void out_of_memory(void)
{
    cmd_talk("out of memory");
    exit(CMD_FAILED);
}

/* Splits "exact|count|off" and finds value in it. */
static void check_choice(struct cmd_parse *parse, const struct cmd_option *option)
{
    char *words[MAX_WORDS], *text = pm_strndup(option->value, strlen(option->value));
    int n = 0;
    parse->choice = -1;
    if (!text)
        out_of_memory();
    for (char *word = text; word && n < MAX_WORDS - 1; n++) {
        words[n] = word;
        word = strchr(word, '|');
        if (word)
            *word++ = 0;
        if (strcmp(words[n], parse->value) == 0)
            parse->choice = n;
    }
    words[n] = NULL;
    if (parse->choice < 0) {
        struct pm_buf message = PM_BUF_INIT(4096);
        pm_buf_printf(&message, "option '--%s' takes %s%s, not '%.200s'", option->long_name,
                      n > 1 ? "one of " : "", option->value, parse->value);
        add_suggestion(&message, parse->value, (const char *const *)words);
        report(parse, &message);
    }
    free(text);
}

/* The tables that getopt_long wants, made from ours. */
static bool parse_init(struct cmd_parse *parse)
{
    int n = 0;
    for (const struct cmd_option *option = parse->cmd->options; option && option->long_name;
         option++)
        n++;
    parse->long_options = pm_alloc_array((size_t)n + 2, sizeof *parse->long_options);
    struct pm_buf letters = PM_BUF_INIT(1024);
    pm_buf_add_str(&letters, parse->cmd->flags & CMD_STOP_AT_OPERAND ? "+:h" : ":h");
    if (!parse->long_options) {
        pm_buf_release(&letters);
        return false;
    }
    for (int i = 0; i < n; i++) {
        const struct cmd_option *option = &parse->cmd->options[i];
        parse->long_options[i] = (struct option){
            option->long_name, option->value ? required_argument : no_argument, NULL, option->key};
        if (option->key < 256)
            pm_buf_printf(&letters, "%c%s", option->key, option->value ? ":" : "");
        if (option->key == CMD_KEY_JSON) /* errors before it are JSON too */
            for (int a = 1; a < parse->argc && strcmp(parse->argv[a], "--") != 0; a++)
                parse->json |= strcmp(parse->argv[a], "--json") == 0;
    }
    parse->long_options[n] = (struct option){"help", no_argument, NULL, CMD_KEY_HELP};
    parse->short_options = pm_buf_take(&letters);
    optind = 0; /* glibc: start anew */
    opterr = 0;
    return parse->short_options != NULL;
}

static int parse_end(struct cmd_parse *parse)
{
    parse->operands = parse->argv + optind;
    parse->n_operands = parse->argc - optind;
    free(parse->long_options);
    free(parse->short_options);
    parse->long_options = NULL;
    parse->short_options = NULL;
    return CMD_END;
}

int cmd_next(struct cmd_parse *parse)
{
    if (parse->operands || parse->failed)
        return parse->operands ? CMD_END : parse_end(parse);
    if (!parse->short_options && !parse_init(parse))
        out_of_memory();
    int key =
        getopt_long(parse->argc, parse->argv, parse->short_options, parse->long_options, NULL);
    if (key == -1)
        return parse_end(parse);
    if (key == CMD_KEY_HELP || key == 'h') {
        cmd_help_print(parse->cmd, stdout);
        exit(cmd_stdout_done(parse, CMD_DONE));
    }
    if (key == '?' || key == ':') {
        report_wrong(parse, key, optopt, parse->argv[optind - 1]);
        return parse_end(parse);
    }
    const struct cmd_option *option = option_of_key(parse->cmd, key);
    PM_ASSERT(option);
    parse->json |= key == CMD_KEY_JSON;
    parse->option = option->long_name;
    parse->value = option->value ? optarg : NULL;
    parse->choice = -1;
    if (option->value && islower((unsigned char)option->value[0]))
        check_choice(parse, option);
    return parse->failed ? parse_end(parse) : key;
}

bool cmd_number(struct cmd_parse *parse, uint64_t max, uint64_t *ret_number)
{
    if (pm_str_to_u64(pm_str_of(parse->value), max, ret_number))
        return true;
    struct pm_buf text = PM_BUF_INIT(4096);
    pm_buf_printf(&text, "option '--%s' takes a number up to %llu, not '%.200s'", parse->option,
                  (unsigned long long)max, parse->value);
    report(parse, &text);
    return false;
}

bool cmd_time(struct cmd_parse *parse, uint64_t max_ns, uint64_t *ret_ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"", 1e9},   {"s", 1e9},  {"ms", 1e6},  {"us", 1e3},
                 {"ns", 1e0}, {"m", 6e10}, {"h", 3.6e12}};
    size_t len = strspn(parse->value, "0123456789.");
    double number = 0;
    bool ok = len && pm_str_to_double((struct pm_str){parse->value, len}, &number);
    for (size_t i = 0; ok && i < sizeof units / sizeof *units; i++)
        if (!strcmp(parse->value + len, units[i].unit) && number * units[i].ns <= (double)max_ns) {
            *ret_ns = (uint64_t)(number * units[i].ns + 0.5);
            return true;
        }
    char most[64] = "";
    if (max_ns < 3600000000000u)
        snprintf(most, sizeof most, " up to %gs,", (double)max_ns / 1e9);
    struct pm_buf text = PM_BUF_INIT(4096);
    pm_buf_printf(&text, "option '--%s' takes a time%s as 1.5s, 500ms or 2m, not '%.200s'",
                  parse->option, most, parse->value);
    report(parse, &text);
    return false;
}

void cmd_take_ms(struct cmd_parse *parse, uint64_t *ret_ms)
{
    enum { MAX_HOURS = 1000 };
    uint64_t ns;
    if (!cmd_time(parse, MAX_HOURS * 3600000000000u, &ns))
        return;
    if (ns < 1000000)
        (void)cmd_usage_error(parse, "option '--%s' takes at least 1ms, not '%s'", parse->option,
                              parse->value);
    *ret_ms = (ns + 500000) / 1000000;
}

const struct cmd *cmd_find(const struct cmd *perfmap, const char *name)
{
    for (const struct cmd *const *cmd = perfmap->commands; *cmd; cmd++)
        if (strcmp((*cmd)->name, name) == 0)
            return *cmd;
    for (const struct cmd *const *cmd = perfmap->hidden; *cmd; cmd++)
        if (strcmp((*cmd)->name, name) == 0)
            return *cmd;
    return NULL;
}

int cmd_unknown(const struct cmd *perfmap, const char *name)
{
    const char *names[MAX_WORDS];
    size_t n = 0;
    for (; perfmap->commands[n] && n < MAX_WORDS - 1; n++)
        names[n] = perfmap->commands[n]->name;
    names[n] = NULL;
    const char *best = pm_suggest(name, names);
    if (best)
        cmd_talk("unknown command '%.200s'; did you mean '%s'?", name, best);
    else
        cmd_talk("unknown command '%.200s'", name);
    cmd_talk("try 'perfmap --help'");
    return CMD_USAGE;
}
