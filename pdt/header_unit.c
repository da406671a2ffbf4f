/* A header as a unit of C, with the headers in front of it that it needs. */
#include "header_internal.h"

#include <stdlib.h>

#define UNIT "perfmap-wrap.c"
enum { MAX_ARGUMENTS = 256 };

/* What old headers expect their users to have included: jpeglib.h, cmocka.h. */
static const char *const usual[] = {"<stdarg.h>", "<stdbool.h>", "<stddef.h>",
                                    "<stdint.h>", "<stdio.h>",   "<setjmp.h>"};
enum { N_USUAL = sizeof usual / sizeof *usual };

static const char *lines_of(struct header_reading *reading, const char *const *firsts, size_t n)
{
    struct pm_buf lines = PM_BUF_INIT(1 << 20);
    for (size_t i = 0; i < n; i++)
        pm_buf_printf(&lines, "#include %s\n", firsts[i]);
    pm_buf_printf(&lines, "#include %s\n", reading->request->include);
    const char *kept =
        lines.failed ? NULL : pm_arena_strndup(&reading->header->arena, lines.data, lines.len);
    pm_buf_release(&lines);
    return kept;
}

static void drop_unit(struct header_reading *reading)
{
    if (reading->unit)
        reading->clang->disposeTranslationUnit(reading->unit);
    reading->unit = NULL;
}

/* As wrappers are compiled. C11's _Noreturn is no part of a type; the attribute is. GCC's
 * __malloc__(omp_free), which says what frees, is an error for clang. */
static enum pm_status parse(struct header_reading *reading, const char *language, const char *lines,
                            struct pm_error *err)
{
    const struct pdt_header_request *request = reading->request;
    const char *const first[] = {"cc",
                                 "-x",
                                 language,
                                 "-D_GNU_SOURCE",
                                 "-D_Noreturn=__attribute__((__noreturn__))",
                                 "-D__malloc__(...)=__malloc__"};
    enum { N_FIRST = sizeof first / sizeof *first };
    const char *arguments[MAX_ARGUMENTS];
    if (request->n_flags > MAX_ARGUMENTS - N_FIRST - 1)
        return pm_error_set(err, PM_ERR_LIMIT, "too many options");
    if (!lines)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory for the header");
    struct CXUnsavedFile file = {UNIT, lines, strlen(lines)};
    memcpy(arguments, first, sizeof first);
    for (size_t i = 0; i < request->n_flags; i++)
        arguments[N_FIRST + i] = request->flags[i];
    arguments[N_FIRST + request->n_flags] = UNIT;
    drop_unit(reading);
    enum CXErrorCode code = reading->clang->parseTranslationUnit2FullArgv(
        reading->index, NULL, arguments, (int)(N_FIRST + request->n_flags + 1), &file, 1,
        CXTranslationUnit_SkipFunctionBodies, &reading->unit);
    return code == CXError_Success
               ? PM_OK
               : pm_error_set(err, PM_ERR_FORMAT, "libclang gave up reading %s", request->include);
}

/* The first error in the unit, in the arena. NULL: there is none. */
static const char *error_in(struct header_reading *reading)
{
    const struct pdt_clang *clang = reading->clang;
    const char *found = NULL;
    unsigned n = clang->getNumDiagnostics(reading->unit);
    for (unsigned i = 0; i < n && !found; i++) {
        CXDiagnostic diagnostic = clang->getDiagnostic(reading->unit, i);
        if (clang->getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) {
            CXString text = clang->getDiagnosticSpelling(diagnostic);
            struct pm_str what = pm_str_of(clang->getCString(text));
            found = pm_arena_strndup(&reading->header->arena, what.p, what.len);
            found = found ? found : "out of memory";
            clang->disposeString(text);
        }
        clang->disposeDiagnostic(diagnostic);
    }
    return found;
}

/* What the unit itself includes. */
static void find_own(CXFile included, CXSourceLocation *stack, unsigned n_stack, CXClientData data)
{
    struct header_reading *reading = data;
    (void)stack;
    if (n_stack == 1 && !reading->header->path)
        reading->header->path = header_file_path(reading->clang, included);
}

static enum pm_status refuse(const struct header_reading *reading, const char *why,
                             struct pm_error *err)
{
    const char *include = reading->request->include;
    if (reading->is_cxx)
        return pm_error_set(err, PM_ERR_FORMAT,
                            "%s is a header of C++, not C: %s / without the header, --cxx "
                            "--library NAME counts the calls of a C++ library's functions",
                            include, why);
    return pm_error_set(err, PM_ERR_FORMAT,
                        "%s does not compile as C: %s / -I and -D say where its own headers are "
                        "and what it needs, --include-first what comes in front of it",
                        include, why);
}

/* why: it did not compile alone. */
static enum pm_status try_usual(struct header_reading *reading, const char *why,
                                struct pm_error *err)
{
    const char *lines = lines_of(reading, usual, N_USUAL);
    enum pm_status status = parse(reading, "c", lines, err);
    if (status != PM_OK)
        return status;
    if (!error_in(reading)) {
        reading->header->lines = lines;
        reading->header->has_usual = true;
        return PM_OK;
    }
    status = parse(reading, "c++", lines, err);
    if (status != PM_OK)
        return status;
    reading->is_cxx = !error_in(reading);
    return refuse(reading, why, err);
}

static enum pm_status add_firsts(struct header_reading *reading, struct pm_error *err)
{
    const struct pdt_header_request *request = reading->request;
    const char *lines = lines_of(reading, request->firsts, request->n_firsts);
    enum pm_status status = parse(reading, "c", lines, err);
    if (status != PM_OK)
        return status;
    const char *why = error_in(reading);
    reading->header->lines = lines;
    return why ? refuse(reading, why, err) : PM_OK;
}

/* Alone first, which says what file it is, whatever includes it besides. */
enum pm_status header_unit_open(struct header_reading *reading, struct pm_error *err)
{
    const char *lines = lines_of(reading, NULL, 0);
    reading->index = reading->clang->createIndex(0, 0);
    enum pm_status status = parse(reading, "c", lines, err);
    if (status != PM_OK)
        return status;
    const char *why = error_in(reading);
    reading->header->lines = lines;
    reading->clang->getInclusions(reading->unit, find_own, reading);
    if (!reading->header->path)
        return why ? refuse(reading, why, err)
                   : pm_error_set(err, PM_ERR_NOT_FOUND, "%s was not read",
                                  reading->request->include);
    if (reading->request->n_firsts)
        return add_firsts(reading, err);
    return why ? try_usual(reading, why, err) : PM_OK;
}

void header_unit_close(struct header_reading *reading)
{
    drop_unit(reading);
    if (reading->index)
        reading->clang->disposeIndex(reading->index);
}
