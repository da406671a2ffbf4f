#include "fortran.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

enum { MAX_NESTED = 256, MAX_TEXT_BYTES = 1 << 30, FIXED_FORM_WIDTH = 72 };

struct workshare {
    unsigned first_line, end_line; /* of the two directives */
};

struct pm_fortran {
    struct pm_buf text; /* of all statements */
    /* text.p is set when all are read: text may move until then */
    struct pm_fortran_statement *statements;
    size_t *starts; /* in text */
    size_t n_statements, cap;
    struct workshare *workshares;
    uint32_t n_workshares, workshares_cap;
    bool failed;
};

/* --- statements --- */

struct scanner {
    struct pm_fortran *source;
    bool open;  /* a statement has begun */
    bool label; /* only digits up to now */
    char quote; /* within a string; 0 not */
    unsigned first_line, first_column, last_line, last_column;
    size_t start;
};

static bool grow(struct pm_fortran *source)
{
    if (source->n_statements < source->cap)
        return true;
    size_t cap = source->cap ? source->cap * 2 : 64;
    struct pm_fortran_statement *statements =
        pm_realloc_array(source->statements, cap, sizeof *statements);
    if (statements)
        source->statements = statements;
    size_t *starts = pm_realloc_array(source->starts, cap, sizeof *starts);
    if (starts)
        source->starts = starts;
    if (!statements || !starts)
        return false;
    source->cap = cap;
    return true;
}

static void end_statement(struct scanner *scanner)
{
    struct pm_fortran *source = scanner->source;
    scanner->quote = 0;
    if (!scanner->open)
        return;
    scanner->open = false;
    while (source->text.len > scanner->start && source->text.data[source->text.len - 1] == ' ')
        source->text.len--;
    if (source->text.len == scanner->start)
        return;
    if (!grow(source)) {
        source->failed = true;
        return;
    }
    source->starts[source->n_statements] = scanner->start;
    source->statements[source->n_statements++] = (struct pm_fortran_statement){
        .first_line = scanner->first_line,
        .first_column = scanner->first_column,
        .last_line = scanner->last_line,
        .last_column = scanner->last_column,
        .text = {NULL, source->text.len - scanner->start},
    };
}

/* One byte outside of strings and comments. */
static void add_byte(struct scanner *scanner, char byte, unsigned line, unsigned column)
{
    struct pm_buf *text = &scanner->source->text;
    bool blank = byte == ' ' || byte == '\t' || byte == '\r';
    if (!scanner->open) {
        if (blank)
            return;
        scanner->open = scanner->label = true;
        scanner->first_line = line;
        scanner->first_column = column;
        scanner->start = text->len;
    }
    if (scanner->label) { /* a label is no part of the text */
        if (isdigit((unsigned char)byte) || (blank && text->len == scanner->start))
            return;
        scanner->label = false;
    }
    if (!blank) {
        scanner->last_line = line;
        scanner->last_column = column;
    }
    if (blank && (text->len == scanner->start || text->data[text->len - 1] == ' '))
        return;
    pm_buf_add_byte(text, blank ? ' ' : (unsigned char)tolower((unsigned char)byte));
}

/* Whether nothing but blanks follows, or (not within strings) a comment. */
static bool ends_line(const char *p, const char *end, bool in_string)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r'))
        p++;
    return p == end || (*p == '!' && !in_string);
}

/* The bytes of a line from p on; returns whether the statement goes on in the next line (free
 * form). */
static bool scan_bytes(struct scanner *scanner, const char *line_start, const char *p,
                       const char *end, unsigned line, bool fixed_form)
{
    for (; p < end; p++) {
        unsigned column = (unsigned)(p - line_start) + 1;
        if (scanner->quote) {
            if (!fixed_form && *p == '&' && ends_line(p + 1, end, true))
                return true;
            if (*p == scanner->quote) {
                scanner->quote = 0;
                add_byte(scanner, '\'', line, column);
            }
        } else if (*p == '!') {
            break;
        } else if (*p == '&' && !fixed_form && ends_line(p + 1, end, false)) {
            return true;
        } else if (*p == ';') {
            end_statement(scanner);
        } else {
            add_byte(scanner, *p, line, column);
            if (*p == '\'' || *p == '"') {
                scanner->quote = *p;
                scanner->source->text.data[scanner->source->text.len - 1] = '\'';
            }
        }
    }
    return false;
}

static void scan_free_form(struct scanner *scanner, const char *text, size_t len)
{
    bool goes_on = false;
    unsigned line = 0;
    for (const char *p = text, *end = text + len; p < end;) {
        const char *line_end = memchr(p, '\n', (size_t)(end - p)), *start = p;
        line_end = line_end ? line_end : end;
        line++;
        const char *first = p;
        while (first < line_end && (*first == ' ' || *first == '\t'))
            first++;
        bool comment = first == line_end || *first == '!' || *first == '#' || *first == '\r';
        if (!comment || (goes_on && scanner->quote && first < line_end && *first != '\r')) {
            if (goes_on && *first == '&')
                p = first + 1;
            if (!goes_on)
                end_statement(scanner);
            goes_on = scan_bytes(scanner, start, p, line_end, line, false);
        }
        p = line_end + 1;
    }
}

/* 1 a comment, 2 a continuation line, 0 a new statement. */
static int fixed_form_kind(const char *p, size_t len)
{
    if (len == 0 || strchr("cC*!dD#", *p))
        return 1;
    size_t first = 0;
    while (first < len && p[first] == ' ')
        first++;
    if (first == len || p[first] == '!' || p[first] == '\r')
        return first == 5 ? 2 : 1;
    if (p[0] == '\t')
        return len > 1 && p[1] >= '1' && p[1] <= '9' ? 2 : 0;
    return len > 5 && first == 5 && p[5] != '0' ? 2 : 0;
}

static void scan_fixed_form(struct scanner *scanner, const char *text, size_t len)
{
    unsigned line = 0;
    for (const char *p = text, *end = text + len; p < end;) {
        const char *line_end = memchr(p, '\n', (size_t)(end - p));
        line_end = line_end ? line_end : end;
        line++;
        size_t n = (size_t)(line_end - p);
        int kind = fixed_form_kind(p, n);
        size_t skipped = 0;
        if (kind == 2)
            skipped = p[0] == '\t' ? 2 : 6;
        if (kind == 0)
            end_statement(scanner);
        if (kind != 1)
            scan_bytes(scanner, p, p + skipped, p + (n > FIXED_FORM_WIDTH ? FIXED_FORM_WIDTH : n),
                       line, true);
        p = line_end + 1;
    }
}

/* --- OpenMP --- */

/* "!$omp parallel workshare": behind the sentinel, any form. */
static bool take_sentinel(struct pm_str *line)
{
    static const char sentinel[] = "$omp";
    while (line->len && (*line->p == ' ' || *line->p == '\t'))
        line->p++, line->len--;
    if (line->len <= strlen(sentinel) + 1 || !strchr("!cC*", *line->p) ||
        strncasecmp(line->p + 1, sentinel, strlen(sentinel)) != 0)
        return false;
    line->p += strlen(sentinel) + 1;
    line->len -= strlen(sentinel) + 1;
    while (line->len && *line->p == ' ')
        line->p++, line->len--;
    return true;
}

static bool has_word(struct pm_str text, const char *word)
{
    size_t len = strlen(word);
    for (size_t i = 0; i + len <= text.len; i++)
        if (strncasecmp(text.p + i, word, len) == 0)
            return true;
    return false;
}

static void note_directive(struct pm_fortran *source, struct pm_str line, unsigned line_no)
{
    if (!take_sentinel(&line) || !has_word(line, "workshare"))
        return;
    uint32_t n = source->n_workshares;
    if (line.len >= 3 && strncasecmp(line.p, "end", 3) == 0) {
        if (n && source->workshares[n - 1].end_line == 0)
            source->workshares[n - 1].end_line = line_no;
        return;
    }
    struct workshare *list =
        pm_grow_array(source->workshares, n, &source->workshares_cap, 4, sizeof *list);
    source->failed |= !list;
    if (!list)
        return;
    source->workshares = list;
    list[source->n_workshares++] = (struct workshare){line_no, 0};
}

static void find_directives(struct pm_fortran *source, const char *text, size_t len)
{
    unsigned line = 0;
    for (const char *p = text, *end = text + len; p < end && !source->failed;) {
        const char *line_end = memchr(p, '\n', (size_t)(end - p));
        line_end = line_end ? line_end : end;
        note_directive(source, (struct pm_str){p, (size_t)(line_end - p)}, ++line);
        p = line_end + 1;
    }
}

/* --- words --- */

static bool is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static void skip_blanks(struct pm_str *text)
{
    while (text->len && *text->p == ' ')
        text->p++, text->len--;
}

/* Whether the text begins with these words, one after the other, with or without blanks between;
 * moves behind them. */
static bool take_words(struct pm_str *text, const char *first, const char *second)
{
    struct pm_str at = *text;
    for (int i = 0; i < 2; i++) {
        const char *word = i == 0 ? first : second;
        if (word == NULL)
            break;
        size_t n = strlen(word);
        skip_blanks(&at);
        if (at.len < n || memcmp(at.p, word, n) != 0)
            return false;
        at.p += n;
        at.len -= n;
    }
    if (at.len && is_name_byte(*at.p))
        return false;
    skip_blanks(&at);
    *text = at;
    return true;
}

/* Length of "( ... )" that the text begins with, 0 when it does not or it never ends. */
static size_t group_length(struct pm_str text)
{
    size_t depth = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.p[i] == '(')
            depth++;
        else if (text.p[i] == ')' && --depth == 0)
            return i + 1;
        if (depth == 0)
            return 0;
    }
    return 0;
}

static bool take_group(struct pm_str *text)
{
    size_t n = group_length(*text);
    text->p += n;
    text->len -= n;
    skip_blanks(text);
    return n != 0;
}

/* "name:" before a construct. */
static void skip_construct_name(struct pm_str *text)
{
    size_t i = 0;
    while (i < text->len && is_name_byte(text->p[i]))
        i++;
    while (i < text->len && text->p[i] == ' ')
        i++;
    if (i == 0 || i + 1 >= text->len || text->p[i] != ':' || text->p[i + 1] == ':')
        return;
    text->p += i + 1;
    text->len -= i + 1;
    skip_blanks(text);
}

/* --- constructs --- */

enum { DO_PLAIN = PM_FORTRAN_DO_CONCURRENT + 1 };

struct nesting {
    unsigned char open[MAX_NESTED];
    size_t concurrent[MAX_NESTED]; /* number of the innermost DO CONCURRENT, as in a statement */
    size_t n, n_beyond;            /* deeper ones are only counted */
};

static size_t concurrent_now(const struct nesting *nesting)
{
    return nesting->n ? nesting->concurrent[nesting->n - 1] : 0;
}

static void enter(struct nesting *nesting, unsigned construct, size_t number)
{
    size_t around = concurrent_now(nesting);
    if (nesting->n == MAX_NESTED) {
        nesting->n_beyond++;
        return;
    }
    nesting->concurrent[nesting->n] = construct == PM_FORTRAN_DO_CONCURRENT ? number : around;
    nesting->open[nesting->n++] = (unsigned char)construct;
}

static void leave(struct nesting *nesting)
{
    if (nesting->n_beyond)
        nesting->n_beyond--;
    else if (nesting->n)
        nesting->n--;
}

static enum pm_fortran_construct innermost(const struct nesting *nesting)
{
    for (size_t i = nesting->n; i-- > 0;)
        if (nesting->open[i] != DO_PLAIN)
            return (enum pm_fortran_construct)nesting->open[i];
    return PM_FORTRAN_PLAIN;
}

static bool is_assignment(struct pm_str text);

/* What the statement with this number opens or closes; returns the construct that it is in or is
 * itself. */
static enum pm_fortran_construct follow(struct nesting *nesting, struct pm_str text, size_t number)
{
    skip_construct_name(&text);
    struct pm_str rest = text;
    if (is_assignment(text))
        return innermost(nesting);
    if (take_words(&rest, "end", "do") || take_words(&rest, "end", "forall") ||
        take_words(&rest, "end", "where")) {
        leave(nesting);
        return PM_FORTRAN_PLAIN;
    }
    if (take_words(&rest, "do", "concurrent")) {
        enter(nesting, PM_FORTRAN_DO_CONCURRENT, number);
        return PM_FORTRAN_PLAIN;
    }
    if (take_words(&rest, "do", NULL)) {
        if (rest.len == 0 || !isdigit((unsigned char)*rest.p)) /* a label ends the others */
            enter(nesting, DO_PLAIN, number);
        return PM_FORTRAN_PLAIN;
    }
    bool forall = take_words(&rest, "forall", NULL);
    if (!forall && !take_words(&rest, "where", NULL))
        return innermost(nesting);
    enum pm_fortran_construct construct = forall ? PM_FORTRAN_FORALL : PM_FORTRAN_WHERE;
    if (take_group(&rest) && rest.len == 0)
        enter(nesting, construct, number);
    return construct;
}

static void find_constructs(struct pm_fortran *source)
{
    struct nesting nesting = {.n = 0};
    for (size_t i = 0; i < source->n_statements; i++) {
        struct pm_fortran_statement *statement = &source->statements[i];
        statement->text.p = source->text.data + source->starts[i];
        statement->construct = follow(&nesting, statement->text, i + 1);
        statement->concurrent = concurrent_now(&nesting);
        struct pm_str rest = statement->text;
        if (take_words(&rest, "end", "subroutine") || take_words(&rest, "end", "function") ||
            take_words(&rest, "contains", NULL))
            nesting = (struct nesting){.n = 0};
    }
}

static bool has_extension(const char *file, const char *const *extensions, size_t n)
{
    const char *dot = strrchr(file, '.');
    for (size_t i = 0; dot && i < n; i++)
        if (strcasecmp(dot, extensions[i]) == 0)
            return true;
    return false;
}

bool pm_fortran_is_source(const char *file)
{
    static const char *const extensions[] = {".f90", ".f95", ".f03", ".f08", ".f18"};
    return has_extension(file, extensions, sizeof extensions / sizeof *extensions) ||
           pm_fortran_is_fixed_form(file);
}

bool pm_fortran_is_fixed_form(const char *file)
{
    static const char *const extensions[] = {".f", ".for", ".ftn", ".fpp"};
    return has_extension(file, extensions, sizeof extensions / sizeof *extensions);
}

struct pm_fortran *pm_fortran_new(const char *text, size_t len, bool fixed_form)
{
    struct pm_fortran *source = pm_alloc(sizeof *source);
    if (!source)
        return NULL;
    source->text = (struct pm_buf)PM_BUF_INIT(MAX_TEXT_BYTES);
    pm_buf_add_byte(&source->text, ' '); /* there is always a byte before a statement */
    struct scanner scanner = {.source = source};
    if (!source->text.failed)
        fixed_form ? scan_fixed_form(&scanner, text, len) : scan_free_form(&scanner, text, len);
    end_statement(&scanner);
    find_directives(source, text, len);
    if (source->failed || source->text.failed) {
        pm_fortran_free(source);
        return NULL;
    }
    find_constructs(source);
    return source;
}

void pm_fortran_free(struct pm_fortran *source)
{
    if (!source)
        return;
    pm_buf_release(&source->text);
    free(source->statements);
    free(source->starts);
    free(source->workshares);
    free(source);
}

const struct pm_fortran_statement *pm_fortran_at(const struct pm_fortran *source, unsigned line,
                                                 unsigned column)
{
    size_t low = 0, high = source->n_statements;
    while (low < high) { /* the first that ends at the point or behind it */
        size_t middle = low + (high - low) / 2;
        const struct pm_fortran_statement *s = &source->statements[middle];
        if (s->last_line < line || (s->last_line == line && s->last_column < column))
            low = middle + 1;
        else
            high = middle;
    }
    const struct pm_fortran_statement *s = &source->statements[low];
    bool begun = low < source->n_statements &&
                 (s->first_line < line ||
                  (s->first_line == line && (column == 0 || s->first_column <= column)));
    /* gfortran's place of some statements is where the line ends, behind a comment. */
    if (!begun && low > 0 && s[-1].last_line == line)
        return s - 1;
    return begun ? s : NULL;
}

/* NULL: none. */
static const struct pm_fortran_statement *first_behind(const struct pm_fortran *source,
                                                       unsigned line)
{
    size_t low = 0, high = source->n_statements;
    while (low < high) { /* the first that begins behind the line */
        size_t middle = low + (high - low) / 2;
        if (source->statements[middle].first_line <= line)
            low = middle + 1;
        else
            high = middle;
    }
    return low < source->n_statements ? &source->statements[low] : NULL;
}

const struct pm_fortran_statement *pm_fortran_do_behind(const struct pm_fortran *source,
                                                        unsigned line)
{
    const struct pm_fortran_statement *behind = first_behind(source, line);
    if (!behind)
        return NULL;
    struct pm_str text = behind->text;
    skip_construct_name(&text);
    return !is_assignment(text) && take_words(&text, "do", NULL) ? behind : NULL;
}

const struct pm_fortran_statement *pm_fortran_workshared(const struct pm_fortran *source,
                                                         unsigned line, unsigned *ret_block,
                                                         bool *ret_is_first)
{
    for (uint32_t i = 0; i < source->n_workshares; i++) {
        const struct workshare *block = &source->workshares[i];
        if (line < block->first_line || line >= block->end_line)
            continue;
        const struct pm_fortran_statement *first = first_behind(source, block->first_line);
        const struct pm_fortran_statement *behind = first_behind(source, line);
        if (!behind || behind->first_line >= block->end_line)
            return NULL;
        *ret_block = block->first_line;
        *ret_is_first = behind == first;
        return behind;
    }
    return NULL;
}

/* "integer :: j = 1:m" without its type. */
static struct pm_str without_type(struct pm_str part)
{
    const char *colons = memmem(part.p, part.len, "::", 2);
    if (!colons || memchr(part.p, '=', (size_t)(colons - part.p)))
        return part;
    return (struct pm_str){colons + 2, part.len - (size_t)(colons + 2 - part.p)};
}

/* "i = 1:n, integer :: j = 1:m, mask(i, j)": two parts that begin with a name and "=". */
static unsigned count_indices(struct pm_str parts)
{
    unsigned n = 0;
    size_t depth = 0, begin = 0;
    for (size_t i = 0; i <= parts.len; i++) {
        char c = i < parts.len ? parts.p[i] : ',';
        if (c == '(' || c == '[')
            depth++;
        else if ((c == ')' || c == ']') && depth)
            depth--;
        if (c != ',' || depth)
            continue;
        struct pm_str part = without_type((struct pm_str){parts.p + begin, i - begin});
        skip_blanks(&part);
        while (part.len && is_name_byte(*part.p))
            part.p++, part.len--;
        skip_blanks(&part);
        n += part.len > 1 && part.p[0] == '=' && part.p[1] != '=';
        begin = i + 1;
    }
    return n;
}

const struct pm_fortran_statement *pm_fortran_concurrent(
    const struct pm_fortran *source, const struct pm_fortran_statement *statement,
    unsigned *ret_n_indices)
{
    if (statement->concurrent == 0)
        return NULL;
    const struct pm_fortran_statement *head = &source->statements[statement->concurrent - 1];
    struct pm_str text = head->text;
    skip_construct_name(&text);
    take_words(&text, "do", "concurrent");
    size_t length = group_length(text);
    *ret_n_indices = length ? count_indices((struct pm_str){text.p + 1, length - 2}) : 0;
    return head;
}

/* --- operations --- */

static const struct {
    const char *name, *verb, *group, *above;
} intrinsics[] = {
    {"all", "All", "Logical Reductions", "Reductions"},
    {"any", "Any", "Logical Reductions", "Reductions"},
    {"co_broadcast", "CoBroadcast", "Broadcasts", "Collectives"},
    {"co_max", "CoMax", "Image Reductions", "Collectives"},
    {"co_min", "CoMin", "Image Reductions", "Collectives"},
    {"co_reduce", "CoReduce", "Image Reductions", "Collectives"},
    {"co_sum", "CoSum", "Image Reductions", "Collectives"},
    {"count", "Count", "Counts", "Reductions"},
    {"cshift", "CShift", "Rotations", "Transformations"},
    {"dot_product", "DotProduct", "Dot Products", "Reductions"},
    {"eoshift", "EOShift", "Shifts", "Transformations"},
    {"findloc", "FindLoc", "Locations", "Reductions"},
    {"grade_down", "GradeDown", "Sorts", NULL},
    {"grade_up", "GradeUp", "Sorts", NULL},
    {"iall", "IAll", "Bit Reductions", "Reductions"},
    {"iany", "IAny", "Bit Reductions", "Reductions"},
    {"iparity", "IParity", "Bit Reductions", "Reductions"},
    {"matmul", "MatMul", "Matrix Products", "Transformations"},
    {"maxloc", "MaxLoc", "Locations", "Reductions"},
    {"maxval", "MaxVal", "MAXVAL Reductions", "Reductions"},
    {"merge", "Merge", "Merges", "Transformations"},
    {"minloc", "MinLoc", "Locations", "Reductions"},
    {"minval", "MinVal", "MINVAL Reductions", "Reductions"},
    {"norm2", "Norm2", "Norms", "Reductions"},
    {"pack", "Pack", "Reshapes", "Transformations"},
    {"parity", "Parity", "Logical Reductions", "Reductions"},
    {"product", "Product", "Products", "Reductions"},
    {"product_prefix", "ProductPrefix", "Scans", NULL},
    {"product_suffix", "ProductSuffix", "Scans", NULL},
    {"reduce", "Reduce", "General Reductions", "Reductions"},
    {"reshape", "Reshape", "Reshapes", "Transformations"},
    {"sort_down", "SortDown", "Sorts", NULL},
    {"sort_up", "SortUp", "Sorts", NULL},
    {"spread", "Spread", "Spreads", "Transformations"},
    {"sum", "Sum", "Summations", "Reductions"},
    {"sum_prefix", "SumPrefix", "Scans", NULL},
    {"sum_suffix", "SumSuffix", "Scans", NULL},
    {"transpose", "Transpose", "Transposes", "Transformations"},
    {"unpack", "Unpack", "Reshapes", "Transformations"},
};

bool pm_fortran_next_name(struct pm_str text, size_t *at, struct pm_str *ret_name)
{
    size_t i = *at;
    while (i < text.len && !isalpha((unsigned char)text.p[i])) {
        bool in_number = isdigit((unsigned char)text.p[i]); /* 1.0d0: d0 is no name */
        i++;
        while (in_number && i < text.len && (is_name_byte(text.p[i]) || text.p[i] == '.'))
            i++;
    }
    size_t start = i;
    while (i < text.len && is_name_byte(text.p[i]))
        i++;
    *at = i;
    *ret_name = (struct pm_str){text.p + start, i - start};
    return i > start;
}

static void add_operation(struct pm_fortran_operation *operations, size_t *n, size_t max,
                          struct pm_fortran_operation operation)
{
    if (*n < max)
        operations[(*n)++] = operation;
}

static void find_intrinsics(struct pm_str text, struct pm_fortran_operation *operations, size_t *n,
                            size_t max)
{
    struct pm_str name;
    for (size_t at = 0; pm_fortran_next_name(text, &at, &name);) {
        struct pm_str rest = {text.p + at, text.len - at};
        skip_blanks(&rest);
        size_t length = group_length(rest);
        if (length == 0 || (name.p > text.p && name.p[-1] == '%'))
            continue;
        for (size_t i = 0; i < sizeof intrinsics / sizeof *intrinsics; i++)
            if (pm_str_is(name, intrinsics[i].name))
                add_operation(operations, n, max,
                              (struct pm_fortran_operation){intrinsics[i].verb,
                                                            intrinsics[i].group,
                                                            intrinsics[i].above,
                                                            name,
                                                            {rest.p + 1, length - 2}});
    }
}

/* Position of the = of an assignment; text.len: it is none. */
static size_t assignment_at(struct pm_str text)
{
    size_t depth = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.p[i], next = i + 1 < text.len ? text.p[i + 1] : 0;
        if (c == '(' || c == '[')
            depth++;
        else if ((c == ')' || c == ']') && depth)
            depth--;
        else if (depth)
            continue;
        else if (c == ':' && next == ':')
            return text.len; /* a declaration */
        else if (c == '=')
            return next != '=' && next != '>' ? i : text.len;
        else if (c != '%' && c != ' ' && !is_name_byte(c))
            return text.len; /* no designator stands before it */
    }
    return text.len;
}

static bool is_assignment(struct pm_str text)
{
    struct pm_str name, rest = text;
    size_t at = 0, equals = assignment_at(text);
    if (equals == text.len || !pm_fortran_next_name(text, &at, &name) || name.p != text.p)
        return false;
    rest.p += at;
    rest.len -= at;
    skip_blanks(&rest);
    /* `do i = 1, n` and `if (x) y = 1` have a second word before the =. */
    if (rest.len && *rest.p == '(')
        take_group(&rest);
    return rest.len && (*rest.p == '=' || *rest.p == '%' || *rest.p == '(' || *rest.p == '[');
}

/* Moves over what may stand before an assignment: if (...), where (...), forall (...). */
static void skip_guards(struct pm_str *text)
{
    for (;;) {
        struct pm_str rest = *text;
        if (is_assignment(rest))
            return;
        if ((!take_words(&rest, "if", NULL) && !take_words(&rest, "where", NULL) &&
             !take_words(&rest, "forall", NULL)) ||
            !take_group(&rest))
            return;
        *text = rest;
    }
}

/* No subscripts, or one with a colon. */
static bool assigns_many(struct pm_str designator)
{
    const char *open = memchr(designator.p, '(', designator.len);
    if (!open)
        return true;
    size_t depth = 0;
    for (size_t i = (size_t)(open - designator.p); i < designator.len; i++) {
        if (designator.p[i] == '(')
            depth++;
        else if (designator.p[i] == ')')
            depth--;
        else if (designator.p[i] == ':' && depth == 1)
            return true;
    }
    return false;
}

static void find_assignment(const struct pm_fortran_statement *statement,
                            struct pm_fortran_operation *operations, size_t *n, size_t max)
{
    static const char *const verbs[] = {"Assign", "Forall", "Where", "Do Concurrent"};
    struct pm_str text = statement->text;
    skip_construct_name(&text);
    skip_guards(&text);
    if (!is_assignment(text)) {
        /* gfortran has but one place for all of a WHERE construct: its first statement. */
        if (statement->construct == PM_FORTRAN_WHERE && text.len == 0)
            add_operation(
                operations, n, max,
                (struct pm_fortran_operation){
                    verbs[PM_FORTRAN_WHERE], "Computations", NULL, {"", 0}, statement->text});
        return;
    }
    struct pm_str designator = {text.p, assignment_at(text)};
    if (statement->construct == PM_FORTRAN_PLAIN && !assigns_many(designator))
        return;
    add_operation(operations, n, max,
                  (struct pm_fortran_operation){
                      verbs[statement->construct], "Computations", NULL, {"", 0}, designator});
}

size_t pm_fortran_operations(const struct pm_fortran_statement *statement,
                             struct pm_fortran_operation *ret_operations, size_t max)
{
    size_t n = 0;
    struct pm_str rest = statement->text;
    /* `interface sum`, declarations and the like name intrinsics, too. */
    if (statement->text.len == 0 || take_words(&rest, "intrinsic", NULL))
        return 0;
    find_intrinsics(statement->text, ret_operations, &n, max);
    find_assignment(statement, ret_operations, &n, max);
    return n;
}
