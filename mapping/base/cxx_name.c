/* Names of C++: their parts, and how people say them: std::string, f(...), f(int), coroutine
 * body. */
#include "cxx_name.h"

#include "banned.h"

#include <ctype.h>
#include <string.h>

enum { MAX_NESTING = 64, MAX_ARGUMENTS = 32 };

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* --- template arguments that are the default --- */

static char closing_of(char opening)
{
    switch (opening) {
    case '<':
        return '>';
    case '(':
        return ')';
    case '{':
        return '}';
    default:
        return ']';
    }
}

/* Characters from p to end, balanced: position of the closing one for the opening one at p, or
 * NULL. */
static const char *find_close(const char *p, const char *end)
{
    char stack[MAX_NESTING];
    int depth = 0;
    for (; p < end; p++) {
        if (*p == '-' && p + 1 < end && p[1] == '>') {
            p++;
            continue;
        }
        if (*p == '<' || *p == '(' || *p == '{' || *p == '[') {
            if (depth == MAX_NESTING)
                return NULL;
            stack[depth++] = closing_of(*p);
        } else if (*p == '>' || *p == ')' || *p == '}' || *p == ']') {
            if (depth == 0 || stack[depth - 1] != *p)
                return NULL;
            if (--depth == 0)
                return p;
        }
    }
    return NULL;
}

/* Whether the text ends in the word "operator": what follows is its name, no bracket. */
static bool ends_in_operator(const char *text, size_t len)
{
    static const char word[] = "operator";
    size_t n = sizeof word - 1;
    return len >= n && !memcmp(text + len - n, word, n) &&
           (len == n || !is_word(text[len - n - 1]));
}

/* Length of an operator's name after that word: "<<=", "()", "->"; 0: a word follows. The
 * longest name counts: operator<<int> of a template is written "operator< <int>". */
static size_t operator_length(const char *p, const char *end)
{
    static const char *const names[] = {
        "<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "==", "!=", "&&",
        "||",  "++",  "--",  "->",  "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "+",
        "-",   "*",   "/",   "%",   "^",  "&",  "|",  "~",  "!",  "=",  "<",  ">",  ","};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if ((size_t)(end - p) >= n && !memcmp(p, names[i], n))
            return n;
    }
    return 0;
}

/* The template that out ends in belongs to std. */
static bool is_std_template(const struct pm_buf *out)
{
    size_t start = out->len;
    while (start > 0 && (is_word(out->data[start - 1]) || out->data[start - 1] == ':'))
        start--;
    return out->len - start > 5 && !memcmp(out->data + start, "std::", 5);
}

/* What std's templates have as default: no second name of a type is lost with it. Comparators and
 * hashes of void are somebody's choice. */
static bool is_default_argument(const char *text)
{
    static const char *const starts[] = {"std::allocator<", "std::char_traits<",
                                         "std::less<",      "std::equal_to<",
                                         "std::hash<",      "std::default_delete<"};
    if (!strncmp(text, "std::less<void>", 15) || !strncmp(text, "std::equal_to<void>", 19))
        return false;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (!strncmp(text, starts[i], strlen(starts[i])))
            return text[strlen(text) - 1] == '>';
    return false;
}

/* std::basic_string<char> has a name of its own, and so have the streams. */
static void add_usual_name(struct pm_buf *out, size_t name, const char *argument)
{
    static const char prefix[] = "std::basic_";
    static const char *const names[] = {
        "string",        "string_view", "ostream",   "istream",      "iostream",
        "ofstream",      "ifstream",    "fstream",   "stringstream", "ostringstream",
        "istringstream", "streambuf",   "stringbuf", "filebuf",      "ios"};
    const char *text = out->data + name;
    size_t n = sizeof prefix - 1, len = out->len - name;
    if (len > n && !memcmp(text, prefix, n) && !strcmp(argument, "char"))
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (strlen(names[i]) == len - n && !memcmp(names[i], text + n, len - n)) {
                out->len = name;
                pm_buf_printf(out, "std::%s", names[i]);
                return;
            }
    pm_buf_printf(out, "<%s", argument);
    pm_buf_add_byte(out, '>');
}

static void shorten(const char *p, const char *end, int depth, struct pm_buf *out);

static void add_argument(struct pm_buf *out, const char *before, const struct pm_buf *argument)
{
    pm_buf_printf(out, "%s%s", before, argument->len ? argument->data : "");
}

/* The arguments between < and >, simplified, without the defaults at their end. */
static void shorten_arguments(const char *p, const char *end, int depth, struct pm_buf *out)
{
    struct pm_buf arguments[MAX_ARGUMENTS];
    size_t n = 0, n_kept;
    bool is_std = is_std_template(out);
    for (const char *start = p; start <= end && n < MAX_ARGUMENTS; n++) {
        const char *stop = start;
        for (; stop < end && *stop != ','; stop++)
            if (strchr("<({[", *stop)) {
                const char *close = find_close(stop, end);
                stop = close ? close : stop;
            }
        if (n + 1 == MAX_ARGUMENTS)
            stop = end;
        while (start < stop && *start == ' ')
            start++;
        const char *last = stop;
        while (last > start && last[-1] == ' ')
            last--;
        arguments[n] = (struct pm_buf)PM_BUF_INIT(1 << 20);
        shorten(start, last, depth + 1, &arguments[n]);
        start = stop + 1;
    }
    for (n_kept = n; is_std && n_kept > 1 && arguments[n_kept - 1].len &&
                     is_default_argument(arguments[n_kept - 1].data);)
        n_kept--;
    size_t name = out->len;
    while (name > 0 && (is_word(out->data[name - 1]) || out->data[name - 1] == ':'))
        name--;
    if (n_kept == 1 && is_std) {
        add_usual_name(out, name, arguments[0].len ? arguments[0].data : "");
    } else {
        for (size_t i = 0; i < n_kept; i++)
            add_argument(out, i ? ", " : "<", &arguments[i]);
        pm_buf_add_byte(out, '>');
    }
    for (size_t i = 0; i < n; i++) {
        out->failed |= arguments[i].failed;
        pm_buf_release(&arguments[i]);
    }
}

static void shorten(const char *p, const char *end, int depth, struct pm_buf *out)
{
    static const char abi[] = "std::__cxx11::";
    while (p < end) {
        if (ends_in_operator(out->data ? out->data : "", out->len)) {
            size_t n = operator_length(p, end);
            pm_buf_add(out, p, n);
            p += n;
            if (n)
                continue;
        }
        size_t n = sizeof abi - 1;
        bool at_word = out->len == 0 || !is_word(out->data[out->len - 1]);
        if (at_word && (size_t)(end - p) >= n && !memcmp(p, abi, n)) {
            pm_buf_add_str(out, "std::");
            p += n;
            continue;
        }
        const char *close =
            *p == '<' && out->len && is_word(out->data[out->len - 1]) && depth < MAX_NESTING
                ? find_close(p, end)
                : NULL;
        if (close) {
            shorten_arguments(p + 1, close, depth, out);
            p = close + 1;
        } else {
            pm_buf_add_byte(out, (unsigned char)*p++);
        }
    }
}

bool pm_cxx_shorten(const char *text, struct pm_buf *out)
{
    shorten(text, text + strlen(text), 0, out);
    return !out->failed && out->len;
}

/* --- parameters --- */

bool pm_cxx_cut_parameters(const char *printable, struct pm_buf *out)
{
    static const char nameless[] = "(anonymous namespace)";
    const char *open = NULL, *close = NULL, *end = printable + strlen(printable);
    if (*printable == '{') /* a set */
        return false;
    for (const char *p = printable; p < end; p++) {
        if (ends_in_operator(printable, (size_t)(p - printable)))
            p += operator_length(p, end);
        if (p >= end || !strchr("<({[", *p))
            continue;
        const char *match = find_close(p, end);
        if (!match)
            return false;
        bool is_aside = p == printable || p[-1] == ' '; /* memcpy (libc.so.6) */
        if (*p == '(' && !is_aside && strncmp(p, nameless, sizeof nameless - 1) != 0) {
            open = p;
            close = match;
        }
        p = match;
    }
    if (!open || open == printable || close - open <= 4)
        return false;
    pm_buf_add(out, printable, (size_t)(open - printable));
    pm_buf_printf(out, "(...)%s", close + 1);
    return !out->failed;
}

void pm_cxx_add_brief(const char *text, size_t most_bytes, struct pm_buf *out)
{
    struct pm_buf name = PM_BUF_INIT(1 << 20), brief = PM_BUF_INIT(1 << 20);
    const char *shown = pm_cxx_shorten(text, &name) ? name.data : text;
    if (strlen(shown) > most_bytes && pm_cxx_cut_parameters(shown, &brief))
        shown = brief.data;
    pm_buf_add_str(out, shown);
    pm_buf_release(&name);
    pm_buf_release(&brief);
}

/* --- coroutines --- */

/* What GCC and Clang call the functions that they make of a coroutine, and what these do. */
static const char *coroutine_word(const char *clone)
{
    static const struct {
        const char *mark, *word;
    } words[] = {{" [clone .actor]", "coroutine body"},
                 {" [clone .resume]", "coroutine body"},
                 {" [clone .destroy]", "coroutine's end"},
                 {" [clone .cleanup]", "coroutine's end"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strncmp(clone, words[i].mark, strlen(words[i].mark)))
            return words[i].word;
    return NULL;
}

/* The opening bracket of the closing one at close; NULL. */
static const char *find_open(const char *text, const char *close)
{
    int depth = 0;
    for (const char *p = close; p >= text; p--) {
        depth += (*p == ')') - (*p == '(');
        if (depth == 0)
            return p;
    }
    return NULL;
}

bool pm_cxx_name_coroutine(const char *text, struct pm_buf *out)
{
    static const char frame[] = ".Frame*)";
    const char *clone = strstr(text, " [clone .");
    const char *word = clone ? coroutine_word(clone) : NULL;
    if (!word || clone == text || clone[-1] != ')')
        return false;
    size_t n = sizeof frame - 1;
    bool has_frame = (size_t)(clone - text) > n && !memcmp(clone - n, frame, n);
    const char *start = text, *end = clone;
    if (has_frame) { /* GCC: f(f(int)::_Z1fi.Frame*) [clone .actor] */
        const char *open = find_open(text, clone - 1);
        start = open ? open + 1 : text;
        for (end = clone - n; end > start && memcmp(end, "::_Z", 4) != 0; end--) {
        }
    }
    if (end == start)
        return false;
    pm_buf_add(out, start, (size_t)(end - start));
    pm_buf_printf(out, ", %s%s", word, strchr(clone, ']') + 1);
    return !out->failed;
}

/* --- parts --- */

/* Behind the bracket that closes the one at p; end when none does. Comparisons and arrows, as in
 * Fixed<(3>2)>, are no brackets. */
static const char *skip_brackets(const char *p, const char *end)
{
    char stack[MAX_NESTING];
    int depth = 0;
    for (const char *start = p; p < end; p++) {
        if (p > start && ends_in_operator(start, (size_t)(p - start))) {
            size_t n = operator_length(p, end);
            if (n) {
                p += n - 1;
                continue;
            }
        }
        if (*p == '-' && p + 1 < end && p[1] == '>') {
            p++;
        } else if (strchr("<({[", *p)) {
            if (depth == MAX_NESTING)
                return end;
            stack[depth++] = *p;
        } else if (*p == '>') {
            depth -= stack[depth - 1] == '<';
        } else if (strchr(")}]", *p)) {
            while (depth > 0 && closing_of(stack[depth - 1]) != *p)
                depth--;
            depth -= depth > 0;
        }
        if (depth == 0)
            return p + 1;
    }
    return end;
}

struct parsing {
    const char *p, *end;
    struct pm_cxx_part *parts;
    size_t n, max;
    bool is_begun; /* parts[n - 1] has something */
};

/* The first ones are dropped when there are too many: names are told apart by their ends. */
static struct pm_cxx_part *begin_part(struct parsing *parsing)
{
    if (parsing->is_begun)
        return &parsing->parts[parsing->n - 1];
    parsing->is_begun = true;
    if (parsing->n == parsing->max)
        memmove(parsing->parts, parsing->parts + 1, --parsing->n * sizeof *parsing->parts);
    parsing->parts[parsing->n] = (struct pm_cxx_part){.name = {parsing->p, 0}};
    return &parsing->parts[parsing->n++];
}

static bool starts_with(const struct parsing *parsing, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(parsing->end - parsing->p) >= n && !memcmp(parsing->p, text, n);
}

/* What may stand behind parameters; what follows a type that is returned may not. */
static bool skip_suffix(struct parsing *parsing)
{
    static const char *const suffixes[] = {" const", " volatile", " &&", " &", " noexcept", " ["};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t n = strlen(suffixes[i]);
        const char *next = parsing->p + n;
        if (!starts_with(parsing, suffixes[i]))
            continue;
        if (suffixes[i][1] == '[')
            parsing->p = skip_brackets(parsing->p + 1, parsing->end);
        else if (next == parsing->end || !is_word(*next))
            parsing->p = next;
        else
            continue;
        return true;
    }
    return false;
}

/* "operator" and its name: <<, (), new[], a type, ""_km. */
static void take_operator(struct parsing *parsing, struct pm_cxx_part *part)
{
    parsing->p += strlen("operator");
    while (parsing->p < parsing->end && *parsing->p == ' ')
        parsing->p++;
    size_t n = operator_length(parsing->p, parsing->end);
    parsing->p += n;
    if (n == 0)
        while (parsing->p < parsing->end && *parsing->p != '(')
            parsing->p =
                *parsing->p == '<' ? skip_brackets(parsing->p, parsing->end) : parsing->p + 1;
    part->name.len = (size_t)(parsing->p - part->name.p);
    part->is_operator = true;
    if (starts_with(parsing, " <"))
        parsing->p++;
}

/* Parts in brackets have no other name. */
static void take_brackets(struct parsing *parsing, struct pm_cxx_part *part)
{
    const char *start = parsing->p;
    parsing->p = skip_brackets(start, parsing->end);
    struct pm_str text = {start, (size_t)(parsing->p - start)};
    if (part->name.len == 0)
        part->name = text;
    else if (*start == '<')
        part->arguments = text;
    else if (*start == '(')
        part->parameters = text;
}

static bool is_operator_here(const struct parsing *parsing, const struct pm_cxx_part *part)
{
    const char *next = parsing->p + strlen("operator");
    return part->name.len == 0 && starts_with(parsing, "operator") &&
           (next == parsing->end || !is_word(*next));
}

size_t pm_cxx_parts(const char *text, size_t len, struct pm_cxx_part *parts, size_t max)
{
    struct parsing at = {.p = text, .end = text + len, .parts = parts, .max = max};
    while (at.p < at.end) {
        bool has_parameters = at.is_begun && at.parts[at.n - 1].parameters.len;
        if (starts_with(&at, "::")) {
            at.is_begun = false;
            at.p += 2;
            continue;
        }
        if (has_parameters && skip_suffix(&at))
            continue;
        if ((*at.p == '.' || *at.p == ',') && has_parameters) /* .constprop.0; , coroutine body */
            break;
        if (*at.p == ' ') { /* what stands before was the type that is returned */
            at.n = 0;
            at.is_begun = false;
            at.p++;
            continue;
        }
        struct pm_cxx_part *part = begin_part(&at);
        if (is_operator_here(&at, part))
            take_operator(&at, part);
        else if (starts_with(&at, "[abi:"))
            at.p = skip_brackets(at.p, at.end);
        else if (strchr("<({", *at.p))
            take_brackets(&at, part);
        else
            part->name.len += at.p++ == part->name.p + part->name.len;
    }
    return at.n;
}

bool pm_cxx_type_has(const char *type, const char *letters)
{
    unsigned depth = 0;
    for (const char *p = type; *p; p++) {
        depth += *p == '<';
        if (!depth && strchr(letters, *p))
            return true;
        depth -= depth && *p == '>';
    }
    return false;
}

/* --- bodies of constructors and destructors --- */

/* LTO appends ".lto_priv.0"; behind the digit a name ends, or has arguments or ABI tags. */
bool pm_cxx_is_lower_body(const char *symbol, const char *above)
{
    size_t i = 0;
    while (symbol[i] && symbol[i] == above[i])
        i++;
    bool is_body = i > 2 && symbol[i] && strchr("124", symbol[i]) && above[i] &&
                   strchr("012", above[i]) && (symbol[i - 1] == 'D' || symbol[i - 1] == 'C');
    if (!is_body || strncmp(symbol, "_Z", 2) != 0 || above[i] >= symbol[i] || !symbol[i + 1] ||
        !strchr("EIB", symbol[i + 1]))
        return false;
    size_t len = strcspn(symbol + i + 1, ".");
    return strcspn(above + i + 1, ".") == len && !memcmp(symbol + i + 1, above + i + 1, len);
}
