/* Source functions and their loops, as the compiler's front end saw them. */
#include "source.h"

#include <stdlib.h>

struct pm_source_function *pm_source_function_new(const char *linkage, const char *name,
                                                  const char *local_path,
                                                  const struct pm_place *place)
{
    struct pm_source_function *function = pm_alloc(sizeof *function);
    if (!function)
        return NULL;
    function->linkage = linkage;
    function->name = name;
    function->local = local_path != NULL;
    function->place = *place;
    function->id = pm_id_of_function(linkage, local_path);
    return function;
}

void pm_source_function_free(struct pm_source_function *function)
{
    if (!function)
        return;
    for (uint32_t i = 0; i < function->n_loops; i++)
        free(function->loops[i].outside);
    free(function->loops);
    free(function->by_first);
    free(function->around);
    pm_positions_release(&function->by_id);
    free(function);
}

/* --- the loops --- */

static struct pm_source_loop *append_loop(struct pm_source_function *function)
{
    struct pm_source_loop *loops =
        pm_grow_array(function->loops, function->n_loops, &function->loops_cap, 4, sizeof *loops);
    if (!loops)
        return NULL;
    function->loops = loops;
    struct pm_source_loop *loop = &loops[function->n_loops++];
    *loop = (struct pm_source_loop){0};
    return loop;
}

int pm_source_loop_add(struct pm_source_function *function, const struct pm_place *place,
                       int parent)
{
    struct pm_text_point point = pm_place_point(place);
    bool shares_line = false;
    for (uint32_t i = 0; i < function->n_loops; i++) {
        struct pm_source_loop *loop = &function->loops[i];
        if (loop->place.line != point.line || strcmp(loop->file, place->file) != 0)
            continue;
        if (loop->place.column == point.column)
            return (int)i;
        loop->shares_line = shares_line = true;
    }
    struct pm_source_loop *loop = append_loop(function);
    if (!loop)
        return -1;
    loop->file = place->file;
    loop->shown = place->shown;
    loop->place = loop->first = loop->last = point;
    loop->parent = parent;
    loop->nest = 1;
    loop->shares_line = shares_line;
    loop->id = pm_id_of_loop(function->id, place->file, point);
    return (int)function->n_loops - 1;
}

bool pm_source_loop_exclude(struct pm_source_loop *loop, struct pm_text_point point)
{
    struct pm_text_point *outside =
        pm_grow_array(loop->outside, loop->n_outside, &loop->outside_cap, 4, sizeof *outside);
    if (!outside)
        return false;
    loop->outside = outside;
    outside[loop->n_outside++] = point;
    return true;
}

/* --- by place: some functions (generated code, tests) have thousands of loops --- */

static int compare_begins(const void *a, const void *b)
{
    const struct pm_loop_begin *one = a, *other = b;
    if (pm_text_point_less(one->first, other->first))
        return -1;
    if (pm_text_point_less(other->first, one->first))
        return 1;
    return one->loop < other->loop ? -1 : one->loop > other->loop;
}

bool pm_source_loops_sort(struct pm_source_function *function)
{
    uint32_t n = function->n_loops;
    free(function->by_first);
    free(function->around);
    function->by_first = pm_alloc_array(n + 1, sizeof *function->by_first);
    function->around = pm_alloc_array(n + 1, sizeof *function->around);
    if (!function->by_first || !function->around)
        return false;
    struct pm_loop_begin *sorted = function->by_first;
    for (uint32_t i = 0; i < n; i++) {
        const struct pm_source_loop *loop = &function->loops[i];
        sorted[i] = (struct pm_loop_begin){loop->first, loop->last, (int)i};
        pm_positions_add(&function->by_id, loop->id);
    }
    qsort(sorted, n, sizeof *sorted, compare_begins);
    for (uint32_t i = 1; i < n; i++)
        if (pm_text_point_less(sorted[i].furthest, sorted[i - 1].furthest))
            sorted[i].furthest = sorted[i - 1].furthest;
    return !function->by_id.failed;
}

static bool begins_at_most_at(const void *item, const void *point)
{
    const struct pm_loop_begin *begin = item;
    return !pm_text_point_less(*(const struct pm_text_point *)point, begin->first);
}

static int compare_numbers(const void *a, const void *b)
{
    int one = *(const int *)a, other = *(const int *)b;
    return one < other ? -1 : one > other;
}

const int *pm_source_loops_around(const struct pm_source_function *function,
                                  struct pm_text_point point, uint32_t *ret_n)
{
    const struct pm_loop_begin *sorted = function->by_first;
    int *around = function->around;
    uint32_t n = 0;
    *ret_n = 0;
    if (!sorted || !around)
        return NULL;
    size_t behind =
        pm_lower_bound(sorted, function->n_loops, sizeof *sorted, &point, begins_at_most_at);
    for (; behind > 0 && !pm_text_point_less(sorted[behind - 1].furthest, point); behind--) {
        int loop = sorted[behind - 1].loop;
        if (!pm_text_point_less(function->loops[loop].last, point))
            around[n++] = loop;
    }
    if (n > 1)
        qsort(around, n, sizeof *around, compare_numbers);
    *ret_n = n;
    return around;
}

int pm_source_loop_with(const struct pm_source_function *function, pm_id id)
{
    uint32_t position = pm_positions_find(&function->by_id, id);
    return position != PM_POSITION_NONE ? (int)position : -1;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The process that reads a table may run in another folder than the one that wrote it, and GCC 12
 * spells names anew. */
static bool same_file(const struct pm_source_function *function, const char *a, const char *b)
{
    if (a == b || strcmp(a, b) == 0)
        return true;
    return function->was_read && strcmp(base_name(a), base_name(b)) == 0;
}

static bool loop_holds(const struct pm_source_function *function, int index, const char *file,
                       struct pm_text_point point)
{
    const struct pm_source_loop *loop = &function->loops[index];
    if (!same_file(function, file, loop->file))
        return false;
    for (uint32_t i = 0; i < loop->n_outside; i++)
        if (pm_text_point_same(loop->outside[i], point))
            return false;
    return true;
}

/* Is loop a the loop b, or inside of it? */
static bool loop_within(const struct pm_source_function *function, int a, int b)
{
    for (int i = a; i >= 0; i = function->loops[i].parent)
        if (i == b)
            return true;
    return false;
}

int pm_source_loop_at(const struct pm_source_function *function, const char *file,
                      struct pm_text_point point)
{
    uint32_t n;
    int innermost = -1;
    if (function->n_loops == 0)
        return -1;
    const int *around = pm_source_loops_around(function, point, &n);
    for (uint32_t i = 0; i < n; i++)
        if (loop_holds(function, around[i], file, point) &&
            (innermost < 0 || loop_within(function, around[i], innermost)))
            innermost = around[i];
    return innermost;
}

void pm_source_loop_name(const struct pm_source_loop *loop, struct pm_buf *out)
{
    pm_buf_add_str(out, loop->shown);
    pm_buf_add_byte(out, ':');
    pm_buf_add_u64(out, loop->place.line);
    if (!loop->shares_line)
        return;
    pm_buf_add_byte(out, ':');
    pm_buf_add_u64(out, loop->place.column);
}

/* --- the table that travels ---
 *
 * Text, fields that end with '\n' (a '\n' in a file's name is written as '\1'):
 */
/* clang-format off */
/*     marks               "1" local, "0" not; then "a" when it is abstract
 *     linkage name file shown
 *     line column end_line
 * and for each loop:
 *     file shown          both empty: as the function's
 *     line column first.line first.column last.line last.column parent nest shares_line
 *     is_split n          and n times the line and column of a point outside
 */
/* clang-format on */

static void add_name(struct pm_buf *out, const char *name)
{
    for (; *name != 0; name++)
        pm_buf_add_byte(out, *name == '\n' ? '\1' : (unsigned char)*name);
    pm_buf_add_byte(out, '\n');
}

static void add_number(struct pm_buf *out, int number, char end)
{
    if (number < 0)
        pm_buf_add_byte(out, '-');
    pm_buf_add_u64(out, number < 0 ? -(uint64_t)number : (uint64_t)number);
    pm_buf_add_byte(out, (unsigned char)end);
}

static void add_point(struct pm_buf *out, struct pm_text_point point)
{
    add_number(out, (int)point.line, ' ');
    add_number(out, (int)point.column, ' ');
}

static void add_loop(struct pm_buf *out, const struct pm_source_function *function,
                     const struct pm_source_loop *loop)
{
    bool is_elsewhere = loop->file != function->place.file;
    add_name(out, is_elsewhere ? loop->file : "");
    add_name(out, is_elsewhere ? loop->shown : "");
    add_point(out, loop->place);
    add_point(out, loop->first);
    add_point(out, loop->last);
    add_number(out, loop->parent, ' ');
    add_number(out, loop->nest, ' ');
    add_number(out, loop->shares_line, ' ');
    add_number(out, loop->is_split, ' ');
    add_number(out, (int)loop->n_outside, ' ');
    for (uint32_t i = 0; i < loop->n_outside; i++)
        add_point(out, loop->outside[i]);
    pm_buf_add_byte(out, '\n');
}

void pm_source_function_write(const struct pm_source_function *function, struct pm_buf *out)
{
    pm_buf_add_byte(out, function->local ? '1' : '0');
    pm_buf_add_str(out, function->abstract ? "a\n" : "\n");
    add_name(out, function->linkage);
    add_name(out, function->name);
    add_name(out, function->place.file);
    add_name(out, function->place.shown);
    add_point(out, pm_place_point(&function->place));
    add_number(out, (int)function->end_line, '\n');
    for (uint32_t i = 0; i < function->n_loops; i++)
        add_loop(out, function, &function->loops[i]);
}

struct reader {
    const char *p;
    struct pm_intern *strings;
    bool failed; /* memory */
};

static const char *take_name(struct reader *reader)
{
    size_t len = strcspn(reader->p, "\n");
    struct pm_buf name = PM_BUF_INIT(SIZE_MAX / 2);
    for (size_t i = 0; i < len; i++)
        pm_buf_add_byte(&name, reader->p[i] == '\1' ? '\n' : (unsigned char)reader->p[i]);
    reader->p += len;
    reader->p += *reader->p != 0;
    /* Names are compared by pointer in places: one copy each. */
    pm_buf_add(&name, "", 0); /* so that there is a text */
    const char *kept = name.failed ? NULL : pm_intern_add(reader->strings, name.data, name.len);
    pm_buf_release(&name);
    reader->failed |= kept == NULL;
    return kept ? kept : "";
}

static int take_number(struct reader *reader)
{
    char *end;
    long number = strtol(reader->p, &end, 10);
    reader->p = end + (*end == ' ' || *end == '\n');
    return (int)number;
}

static struct pm_text_point take_point(struct reader *reader)
{
    struct pm_text_point point;
    point.line = (unsigned)take_number(reader);
    point.column = (unsigned)take_number(reader);
    return point;
}

static void take_loop(struct reader *reader, struct pm_source_function *function)
{
    const char *file = take_name(reader), *shown = take_name(reader);
    struct pm_source_loop *loop = append_loop(function);
    if (!loop) {
        reader->failed = true;
        return;
    }
    loop->file = *file != 0 ? file : function->place.file;
    loop->shown = *file != 0 ? shown : function->place.shown;
    loop->place = take_point(reader);
    loop->first = take_point(reader);
    loop->last = take_point(reader);
    loop->parent = take_number(reader);
    loop->nest = take_number(reader);
    loop->shares_line = take_number(reader) != 0;
    loop->is_split = take_number(reader) != 0;
    for (int n = take_number(reader); n > 0 && !reader->failed; n--)
        reader->failed = !pm_source_loop_exclude(loop, take_point(reader));
    take_name(reader);
    loop->id = pm_id_of_loop(function->id, loop->file, loop->place);
}

static void take_function(struct reader *reader, struct pm_source_function *function)
{
    const char *marks = take_name(reader);
    function->local = marks[0] == '1';
    function->abstract = marks[0] != 0 && marks[1] == 'a';
    function->linkage = take_name(reader);
    function->name = take_name(reader);
    function->place.file = take_name(reader);
    function->place.shown = take_name(reader);
    struct pm_text_point point = take_point(reader);
    function->place.line = point.line;
    function->place.column = point.column;
    function->end_line = (unsigned)take_number(reader);
    function->scanned = function->was_read = true;
    function->id =
        pm_id_of_function(function->linkage, function->local ? function->place.file : NULL);
}

struct pm_source_function *pm_source_function_read(const char *text, struct pm_intern *strings)
{
    struct reader reader = {.p = text, .strings = strings};
    struct pm_source_function *function = pm_alloc(sizeof *function);
    if (!function)
        return NULL;
    take_function(&reader, function);
    while (*reader.p != 0 && !reader.failed)
        take_loop(&reader, function);
    if (!reader.failed && pm_source_loops_sort(function))
        return function;
    pm_source_function_free(function);
    return NULL;
}
