/* Directives of OpenMP: pragmas, and the statements that follow them. */
#include "body.h"

void pdt_begin_directives(struct pdt_body *body, CXFile file, unsigned from, unsigned to)
{
    struct pdt_reader *reader = body->reader;
    pdt_read_pragmas_of(reader, file);
    body->first_omp = body->end_omp = 0;
    for (uint32_t i = 0; i < reader->n_pragmas; i++) {
        const struct pdt_omp *omp = &reader->pragmas[i];
        if (omp->file != file || omp->line < from || omp->line > to)
            continue;
        if (body->first_omp == body->end_omp)
            body->first_omp = i;
        body->end_omp = i + 1;
    }
}

/* Words of a directive's name come before its clauses. */
static size_t name_length(const char *text)
{
    static const char *const words[] = {
        "parallel", "for",          "sections",   "section",       "single",   "task",
        "taskloop", "simd",         "master",     "masked",        "critical", "barrier",
        "taskwait", "taskgroup",    "taskyield",  "flush",         "ordered",  "atomic",
        "target",   "teams",        "distribute", "data",          "enter",    "exit",
        "update",   "declare",      "reduction",  "threadprivate", "cancel",   "cancellation",
        "point",    "scan",         "loop",       "tile",          "unroll",   "metadirective",
        "depobj",   "requires",     "variant",    "begin",         "end",      "allocate",
        "interop",  "dispatch",     "scope",      "error",         "assume",   "nothing",
        "assumes",  "groupprivate", "split",      "fuse",          "reverse",  "interchange",
        "stripe"};
    size_t len = 0, taken = 0;
    bool is_name = true;
    while (is_name) {
        size_t n = strcspn(text + len, " (");
        is_name = false;
        for (size_t i = 0; n && i < sizeof words / sizeof *words; i++)
            is_name |= strlen(words[i]) == n && !memcmp(words[i], text + len, n) &&
                       !(taken && !strcmp(words[i], "reduction") && text[taken - 1] != 'e');
        if (is_name)
            taken = len + n;
        len += n + (text[len + n] == ' ');
        is_name &= text[taken] == ' ';
    }
    return taken;
}

/* Those that stand alone, by their whole names; and by what their names begin with. An `ordered`
 * that names dependences stands alone, too. */
static bool has_statement(const char *text, size_t len)
{
    static const char *const alone[] = {
        "barrier",           "taskwait", "taskyield",       "flush",    "threadprivate",
        "groupprivate",      "scan",     "interop",         "depobj",   "error",
        "nothing",           "requires", "assumes",         "allocate", "target update",
        "target enter data", "cancel",   "target exit data"};
    static const char *const begin[] = {"cancel ", "cancellation ", "declare ", "begin ", "end "};
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        if (strlen(alone[i]) == len && !memcmp(text, alone[i], len))
            return false;
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (len > strlen(begin[i]) && !memcmp(text, begin[i], strlen(begin[i])))
            return false;
    bool is_ordered = len == 7 && !memcmp(text, "ordered", len);
    return !is_ordered || (!strstr(text, "depend") && !strstr(text, "doacross"));
}

/* The first statement behind a directive is what it is of. */
void pdt_end_of_directive(struct pdt_body *body, CXCursor statement)
{
    struct pdt_reader *reader = body->reader;
    struct pdt_place from, to;
    pdt_cursor_range(reader, statement, &from, &to);
    for (uint32_t i = body->first_omp; i < body->end_omp; i++) {
        struct pdt_omp *omp = &reader->pragmas[i];
        if (omp->file != from.file || omp->text_end_line >= from.line ||
            omp->end_line != omp->text_end_line)
            continue;
        if (has_statement(omp->text, name_length(omp->text)))
            omp->end_line = to.line;
    }
}

static uint32_t loop_around(const struct pdt_body *body, unsigned line)
{
    uint32_t loop = 0;
    for (uint32_t i = 0; i < body->n_loops; i++)
        if (body->loops[i].from <= line && line <= body->loops[i].to)
            loop = i + 1; /* inner ones come later */
    return loop;
}

static void put_directive(struct pm_buf *buf, const struct pdt_omp *omp, uint32_t loop)
{
    pdt_put_text(buf, omp->text, name_length(omp->text));
    pdt_put_string(buf, omp->text);
    pm_buf_add_uleb(buf, loop);
    pm_buf_add_uleb(buf, omp->line);
    pm_buf_add_uleb(buf, omp->column);
    pm_buf_add_uleb(buf, omp->end_line);
}

void pdt_put_directives(struct pdt_body *body)
{
    struct pdt_reader *reader = body->reader;
    for (uint32_t i = body->first_omp; i < body->end_omp; i++) {
        struct pdt_omp *omp = &reader->pragmas[i];
        if (omp->is_of_a_body) /* of a routine within this one */
            continue;
        struct pdt_place place = {.file = omp->file, .line = omp->line, .column = omp->column};
        put_directive(pdt_begin_record(body, PDT_DIRECTIVE, place), omp,
                      loop_around(body, omp->line));
        omp->is_of_a_body = true;
    }
    body->first_omp = body->end_omp = 0;
}

void pdt_put_other_directives(struct pdt_reader *reader)
{
    for (uint32_t i = 0; i < reader->n_pragmas; i++) {
        const struct pdt_omp *omp = &reader->pragmas[i];
        if (omp->is_of_a_body)
            continue;
        struct pm_buf *buf = pdt_group_buf(reader, omp->group);
        pm_buf_add_byte(buf, PDT_OUTSIDE);
        pm_buf_add_byte(buf, PDT_DIRECTIVE);
        put_directive(buf, omp, 0);
    }
}
