/* Callees that the compiler chooses: branches of _Generic, and <tgmath.h>. */
#include "body.h"

enum { MAX_DEPTH = 16 };

/* --- names of types --- */

static const char *const words[] = {"int",   "unsigned", "signed", "short", "long", "char",
                                    "float", "double",   "_Bool",  "bool",  NULL};
enum { INT, UNSIGNED, SIGNED, SHORT, LONG, CHAR, FLOAT, DOUBLE, BOOL, BOOL_CXX, N_KINDS };

static int kind_of_word(const char *p, size_t len)
{
    for (int i = 0; words[i]; i++)
        if (strlen(words[i]) == len && !memcmp(words[i], p, len))
            return i;
    return -1;
}

/* How often each word stands in it; "unsigned" is "unsigned int". False: other words, too. */
static bool count_words(const char *text, unsigned counts[N_KINDS])
{
    memset(counts, 0, N_KINDS * sizeof *counts);
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t len = strcspn(text, " ");
        int kind = kind_of_word(text, len);
        if (kind < 0)
            return false;
        counts[kind]++;
        text += len;
    }
    counts[BOOL] += counts[BOOL_CXX];
    bool is_whole = !counts[CHAR] && !counts[FLOAT] && !counts[DOUBLE] && !counts[BOOL];
    counts[INT] = is_whole;
    if (is_whole)
        counts[SIGNED] = 0;
    return true;
}

static bool is_same_type(const char *written, const char *type)
{
    unsigned a[N_KINDS], b[N_KINDS];
    if (!strcmp(written, type))
        return true;
    return count_words(written, a) && count_words(type, b) && !memcmp(a, b, sizeof a);
}

/* --- branches --- */

static struct pdt_place spelled(struct pdt_reader *reader, CXSourceLocation location)
{
    struct pdt_place place = {0};
    reader->clang->getSpellingLocation(location, &place.file, &place.line, &place.column,
                                       &place.offset);
    return place;
}

/* ", long: " before a branch: "long". Within macros only beginnings are known. */
static void type_before(struct pdt_reader *reader, CXCursor selection, CXCursor branch,
                        char ret[PDT_TEXT_BYTES + 1])
{
    const struct pdt_clang *clang = reader->clang;
    CXSourceLocation begin = clang->getRangeStart(clang->getCursorExtent(selection));
    CXSourceLocation end = clang->getRangeStart(clang->getCursorExtent(branch));
    const char *text = pdt_long_text(reader, spelled(reader, begin), spelled(reader, end));
    const char *comma = strrchr(text, ','), *colon = comma ? strchr(comma, ':') : NULL;
    size_t len = 0;
    if (colon) {
        comma += 1 + strspn(comma + 1, " \\");
        for (len = (size_t)(colon - comma); len > 0 && comma[len - 1] == ' ';)
            len--;
    }
    len = len < PDT_TEXT_BYTES ? len : 0;
    memcpy(ret, comma ? comma : "", len);
    ret[len] = 0;
}

static bool has_type(struct pdt_reader *reader, CXCursor branch, CXCursor selection)
{
    const struct pdt_clang *clang = reader->clang;
    return clang->equalTypes(clang->getCanonicalType(clang->getCursorType(branch)),
                             clang->getCanonicalType(clang->getCursorType(selection))) != 0;
}

struct choice {
    CXCursor only, named, other;
    uint32_t n_of_type, n_named, n_other;
    bool is_clear; /* all names of types could be compared */
};

static void look_at(struct pdt_reader *reader, CXCursor selection, uint32_t first, uint32_t n,
                    struct choice *choice)
{
    const struct pdt_clang *clang = reader->clang;
    char text[PDT_TEXT_BYTES + 1];
    unsigned counts[N_KINDS];
    CXType type = clang->getCursorType(reader->stack[first]);
    const char *canonical =
        pdt_string(reader, clang->getTypeSpelling(clang->getCanonicalType(type)));
    const char *as_written = pdt_string(reader, clang->getTypeSpelling(type));
    for (uint32_t i = 1; i < n; i++) {
        CXCursor branch = reader->stack[first + i];
        if (!clang->isExpression(branch.kind))
            continue;
        type_before(reader, selection, branch, text);
        if (!has_type(reader, branch, selection))
            continue;
        choice->only = branch;
        choice->n_of_type++;
        if (!strcmp(text, "default")) {
            choice->other = branch;
            choice->n_other++;
        } else if (is_same_type(text, canonical) || is_same_type(text, as_written)) {
            choice->named = branch;
            choice->n_named++;
        } else {
            choice->is_clear &= count_words(text, counts) && count_words(canonical, counts);
        }
    }
}

/* The type of the whole says which; where several branches have it, what stands before them. */
bool pdt_choose_branch(struct pdt_reader *reader, CXCursor selection, CXCursor *ret_branch)
{
    struct choice choice = {.is_clear = true};
    uint32_t first, n = pdt_children(reader, selection, &first);
    if (n > 1 && reader->clang->isExpression(reader->stack[first].kind))
        look_at(reader, selection, first, n, &choice);
    pdt_drop(reader, first);
    if (choice.n_of_type == 1)
        *ret_branch = choice.only;
    else if (choice.n_named == 1)
        *ret_branch = choice.named;
    else if (choice.is_clear && choice.n_other == 1)
        *ret_branch = choice.other;
    else
        return false;
    return true;
}

void pdt_walk_selection(struct pdt_body *body, CXCursor selection, enum pdt_use use)
{
    struct pdt_reader *reader = body->reader;
    CXCursor branch;
    if (pdt_choose_branch(reader, selection, &branch)) {
        pdt_walk(body, branch, false, use);
        return;
    }
    uint32_t first, n = pdt_children(reader, selection, &first);
    for (uint32_t i = 1; i < n && !reader->failed; i++)
        pdt_walk(body, reader->stack[first + i], false, use);
    pdt_drop(reader, first);
}

/* --- tgmath.h: Clang's __tg_sin(double) calls sin() --- */

static CXCursor find_call(struct pdt_reader *reader, CXCursor cursor, unsigned depth)
{
    CXCursor found = {0};
    uint32_t first, n = pdt_children(reader, cursor, &first);
    for (uint32_t i = 0; i < n && !found.kind && depth < MAX_DEPTH; i++) {
        CXCursor child = reader->stack[first + i];
        if (child.kind == CXCursor_CallExpr)
            found = reader->clang->getCursorReferenced(child);
        else
            found = find_call(reader, child, depth + 1);
    }
    pdt_drop(reader, first);
    return found;
}

CXCursor pdt_behind_tgmath(struct pdt_reader *reader, CXCursor callee)
{
    CXString spelling = reader->clang->getCursorSpelling(callee);
    const char *name = reader->clang->getCString(spelling);
    bool is_tgmath = callee.kind == CXCursor_FunctionDecl && name && !strncmp(name, "__tg_", 5);
    reader->clang->disposeString(spelling);
    if (!is_tgmath)
        return callee;
    CXCursor called = find_call(reader, callee, 0);
    return called.kind == CXCursor_FunctionDecl ? called : callee;
}
