/* Profiles of pprof (github.com/google/pprof, proto/profile.proto): protocol buffers, packed by
 * gzip as a rule. Written by Go's runtime, by `pprof -proto`, and by profilers of many languages.
 *
 * Strings, functions and locations stand behind the samples that use them, so samples are put
 * into a temporary file until all of the rest was read. Fields of unknown numbers are passed over.
 * Lists of numbers come packed or one by one, and both in one file. */
#include "reader.h"

#include "../base/arena.h"
#include "../base/map.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    MAX_TABLE = 1 << 26,  /* strings, functions, locations */
    MAX_FRAMES = 1 << 14, /* of a sample */
    MAX_TYPES = 64,       /* numbers of a sample */
    MAX_ID_BYTES = 64,    /* of a build-id */
};

/* Fields of messages, by their numbers in profile.proto. */
enum { SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING, DURATION = 10, COMMENT = 13 };

/* --- protocol buffers --- */

enum wire { WIRE_NUMBER, WIRE_8_BYTES, WIRE_BYTES, WIRE_4_BYTES = 5 };

struct field {
    unsigned number;
    enum wire wire;
    uint64_t value;      /* WIRE_NUMBER */
    struct pm_str bytes; /* WIRE_BYTES */
};

/* False at the end, and with cursor->failed when the message is damaged. */
static bool next_field(struct pm_cursor *cursor, struct field *ret)
{
    uint64_t tag, n = 0;
    if (cursor->failed || cursor->p == cursor->end || !pm_cursor_uleb(cursor, &tag))
        return false;
    *ret = (struct field){.number = (unsigned)(tag >> 3 & 0x1fffffff), .wire = tag & 7};
    switch (ret->wire) {
    case WIRE_NUMBER:
        return pm_cursor_uleb(cursor, &ret->value);
    case WIRE_BYTES:
        return pm_cursor_uleb(cursor, &n) && pm_cursor_bytes(cursor, (size_t)n, &ret->bytes);
    case WIRE_8_BYTES:
        return pm_cursor_bytes(cursor, 8, &ret->bytes);
    case WIRE_4_BYTES:
        return pm_cursor_bytes(cursor, 4, &ret->bytes);
    }
    cursor->failed = true;
    return false;
}

/* The numbers of a field of a list: one, or several packed. */
struct numbers {
    struct pm_cursor cursor;
    uint64_t one;
    bool has_one;
};

static struct numbers numbers_of(const struct field *field)
{
    struct numbers numbers = {.one = field->value, .has_one = field->wire == WIRE_NUMBER};
    pm_cursor_init(&numbers.cursor, field->bytes.p,
                   field->wire == WIRE_BYTES ? field->bytes.len : 0);
    return numbers;
}

static bool next_number(struct numbers *numbers, uint64_t *ret)
{
    if (numbers->has_one) {
        numbers->has_one = false;
        *ret = numbers->one;
        return true;
    }
    return numbers->cursor.p < numbers->cursor.end && pm_cursor_uleb(&numbers->cursor, ret);
}

/* --- tables --- */

struct mapping {
    uint64_t start, limit, offset, path, build_id; /* path, build_id: strings */
    uint32_t object;                               /* 0: not asked for yet */
    bool is_known;                                 /* our facts or debug information explain it */
};

struct line {
    uint64_t function, line_no;
};

struct location {
    uint64_t mapping, address; /* mapping: its id */
    uint32_t first_line, n_lines;
    uint32_t frames[2]; /* 1 + position of its first frame; as the innermost, and as a caller */
    uint32_t n_frames[2];
};

struct function {
    uint64_t name, system_name, file; /* strings */
};

struct type {
    uint64_t name, unit; /* strings */
    uint32_t metric;
    uint64_t factor;
};

struct pprof {
    struct import *im;
    struct pm_arena arena;
    struct pm_str *strings;
    struct mapping *mappings;
    struct location *locations;
    struct line *lines;
    struct function *functions;
    uint32_t n_strings, strings_cap, n_mappings, mappings_cap, n_locations, locations_cap, n_lines,
        lines_cap, n_functions, functions_cap;
    struct pm_map by_mapping, by_location, by_function; /* id -> 1 + position */
    struct type types[MAX_TYPES];
    uint32_t n_types;
    uint64_t comment, duration_ns; /* comment: a string */
    FILE *samples;                 /* each its length, then its bytes */
    uint32_t process, thread;
    uint32_t *frames; /* of locations */
    uint32_t n_frames, frames_cap;
    uint32_t *stack; /* of a sample */
    uint32_t n_stack, stack_cap;
    uint64_t n_samples;
};

static enum pm_status refuse(const struct pprof *p, const char *what)
{
    return import_refuse_byte(p->im->in, p->im->err, PM_ERR_FORMAT, "%s", what);
}

/* Room for one more of a table. */
#define GROW(p, list, n, cap)                                                                   \
    ({                                                                                          \
        void *grown_ = (p)->n < MAX_TABLE                                                       \
                           ? pm_grow_array((p)->list, (p)->n, &(p)->cap, 64, sizeof *(p)->list) \
                           : NULL;                                                              \
        if (grown_)                                                                             \
            (p)->list = grown_;                                                                 \
        grown_ != NULL;                                                                         \
    })

static enum pm_status string_of(const struct pprof *p, uint64_t number, struct pm_str *ret)
{
    *ret = PM_STR("");
    if (number >= p->n_strings)
        return pm_error_set(p->im->err, PM_ERR_FORMAT, "profile '%s' names string %llu, and has %u",
                            p->im->path, (unsigned long long)number, p->n_strings);
    *ret = p->strings[number];
    return PM_OK;
}

static enum pm_status add_string(struct pprof *p, struct pm_str bytes)
{
    char *copy = pm_arena_strndup(&p->arena, bytes.p, bytes.len);
    if (!copy || !GROW(p, strings, n_strings, strings_cap))
        return import_no_memory(p->im);
    p->strings[p->n_strings++] = (struct pm_str){copy, strnlen(copy, bytes.len)};
    return PM_OK;
}

static enum pm_status add_type(struct pprof *p, struct pm_str bytes)
{
    struct pm_cursor cursor;
    struct field field;
    struct type type = {.factor = 1};
    pm_cursor_init(&cursor, bytes.p, bytes.len);
    while (next_field(&cursor, &field))
        if (field.number == 1)
            type.name = field.value;
        else if (field.number == 2)
            type.unit = field.value;
    if (cursor.failed)
        return refuse(p, "a type of samples is damaged");
    if (p->n_types == MAX_TYPES)
        return refuse(p, "samples have more than 64 numbers");
    p->types[p->n_types++] = type;
    return PM_OK;
}

static enum pm_status add_mapping(struct pprof *p, struct pm_str bytes)
{
    struct pm_cursor cursor;
    struct field field;
    struct mapping made = {0};
    uint64_t id = 0;
    uint64_t *const places[] = {NULL,         &id,        &made.start,   &made.limit,
                                &made.offset, &made.path, &made.build_id};
    pm_cursor_init(&cursor, bytes.p, bytes.len);
    while (next_field(&cursor, &field))
        if (field.number >= 1 && field.number < sizeof places / sizeof *places)
            *places[field.number] = field.value;
    if (cursor.failed)
        return refuse(p, "a mapping is damaged");
    if (!GROW(p, mappings, n_mappings, mappings_cap))
        return import_no_memory(p->im);
    p->mappings[p->n_mappings++] = made;
    return pm_map_put(&p->by_mapping, id, p->n_mappings) ? PM_OK : import_no_memory(p->im);
}

static enum pm_status add_line(struct pprof *p, struct pm_str bytes)
{
    struct pm_cursor cursor;
    struct field field;
    struct line line = {0};
    pm_cursor_init(&cursor, bytes.p, bytes.len);
    while (next_field(&cursor, &field))
        if (field.number == 1)
            line.function = field.value;
        else if (field.number == 2)
            line.line_no = field.value;
    if (cursor.failed)
        return refuse(p, "a line is damaged");
    if (!GROW(p, lines, n_lines, lines_cap))
        return import_no_memory(p->im);
    p->lines[p->n_lines++] = line;
    return PM_OK;
}

static enum pm_status add_location(struct pprof *p, struct pm_str bytes)
{
    struct pm_cursor cursor;
    struct field field;
    struct location made = {.first_line = p->n_lines};
    uint64_t id = 0;
    enum pm_status status = PM_OK;
    pm_cursor_init(&cursor, bytes.p, bytes.len);
    while (next_field(&cursor, &field)) {
        if (field.number == 1)
            id = field.value;
        else if (field.number == 2)
            made.mapping = field.value;
        else if (field.number == 3)
            made.address = field.value;
        else if (field.number == 4 && field.wire == WIRE_BYTES)
            status = add_line(p, field.bytes);
        if (status != PM_OK)
            return status;
    }
    made.n_lines = p->n_lines - made.first_line;
    if (cursor.failed)
        return refuse(p, "a location is damaged");
    if (!GROW(p, locations, n_locations, locations_cap))
        return import_no_memory(p->im);
    p->locations[p->n_locations++] = made;
    return pm_map_put(&p->by_location, id, p->n_locations) ? PM_OK : import_no_memory(p->im);
}

static enum pm_status add_function(struct pprof *p, struct pm_str bytes)
{
    struct pm_cursor cursor;
    struct field field;
    struct function made = {0};
    uint64_t id = 0;
    uint64_t *const places[] = {NULL, &id, &made.name, &made.system_name, &made.file};
    pm_cursor_init(&cursor, bytes.p, bytes.len);
    while (next_field(&cursor, &field))
        if (field.number >= 1 && field.number < sizeof places / sizeof *places)
            *places[field.number] = field.value;
    if (cursor.failed)
        return refuse(p, "a function is damaged");
    if (!GROW(p, functions, n_functions, functions_cap))
        return import_no_memory(p->im);
    p->functions[p->n_functions++] = made;
    return pm_map_put(&p->by_function, id, p->n_functions) ? PM_OK : import_no_memory(p->im);
}

/* --- the first pass --- */

static enum pm_status keep_sample(struct pprof *p, struct pm_str bytes)
{
    uint32_t len = (uint32_t)bytes.len;
    if (!p->samples)
        p->samples = tmpfile();
    if (!p->samples || fwrite(&len, sizeof len, 1, p->samples) != 1 ||
        (len && fwrite(bytes.p, len, 1, p->samples) != 1))
        return pm_error_system(p->im->err, errno, "cannot write a temporary file");
    p->n_samples++;
    return PM_OK;
}

static enum pm_status read_message(struct pprof *p, unsigned number, struct pm_str bytes)
{
    static enum pm_status (*const readers[])(struct pprof *, struct pm_str) = {
        [SAMPLE_TYPE] = add_type,  [SAMPLE] = keep_sample,    [MAPPING] = add_mapping,
        [LOCATION] = add_location, [FUNCTION] = add_function, [STRING] = add_string};
    if (number == 0 || number >= sizeof readers / sizeof *readers)
        return PM_OK;
    return readers[number](p, bytes);
}

/* A number of the file itself. False at the end, or when there is none. */
static bool read_varint(struct pprof *p, uint64_t *ret)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        int byte = import_byte(p->im->in);
        if (byte < 0)
            return false;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *ret = value;
            return true;
        }
    }
    return false;
}

static enum pm_status read_field(struct pprof *p, uint64_t tag)
{
    struct pm_str bytes = {NULL, 0};
    uint64_t value = 0, number = tag >> 3;
    enum wire wire = tag & 7;
    bool good = true;
    if (wire == WIRE_NUMBER || wire == WIRE_BYTES)
        good = read_varint(p, &value);
    else if (wire == WIRE_8_BYTES || wire == WIRE_4_BYTES)
        value = wire == WIRE_8_BYTES ? 8 : 4;
    else
        return refuse(p, "this is no profile of pprof, or it is damaged");
    if (good && wire != WIRE_NUMBER)
        good = import_take(p->im->in, value, &bytes);
    if (!good)
        return refuse(p, "the profile ends in the middle, or is damaged");
    if (wire == WIRE_BYTES)
        return number <= STRING ? read_message(p, (unsigned)number, bytes) : PM_OK;
    if (number == DURATION)
        p->duration_ns = value;
    else if (number == COMMENT)
        p->comment = value;
    return PM_OK;
}

static enum pm_status read_tables(struct pprof *p)
{
    struct import *im = p->im;
    while (import_peek(im->in, 1).len) {
        uint64_t tag = 0;
        if (!read_varint(p, &tag))
            return refuse(p, "the profile ends in the middle, or is damaged");
        enum pm_status status = read_field(p, tag);
        if (status != PM_OK)
            return status;
    }
    enum pm_status status = import_input_status(im->in, im->err);
    if (status != PM_OK)
        return status;
    if (p->n_types && p->n_samples)
        return PM_OK;
    return pm_error_set(im->err, PM_ERR_FORMAT, "profile '%s' has no samples", im->path);
}

/* --- frames --- */

static size_t raw_build_id(struct pm_str hex, char *out)
{
    size_t n = 0;
    uint64_t byte;
    for (; 2 * n + 1 < hex.len && n < MAX_ID_BYTES; n++) {
        if (!import_hex((struct pm_str){hex.p + 2 * n, 2}, &byte))
            return 0; /* Go's own build-id, which is none of the linker's */
        out[n] = (char)byte;
    }
    return n;
}

static enum pm_status open_mapping(struct pprof *p, struct mapping *mapping)
{
    char id[MAX_ID_BYTES];
    struct pm_import_object object;
    struct pm_str hex;
    enum pm_status status = string_of(p, mapping->path, &object.path);
    if (status != PM_OK)
        return status;
    status = string_of(p, mapping->build_id, &hex);
    if (status != PM_OK)
        return status;
    object.build_id = (struct pm_str){id, raw_build_id(hex, id)};
    if (object.path.len == 0 || object.path.p[0] != '/')
        return PM_OK;
    return pm_sink_object(p->im->sink, &object, &mapping->object, &mapping->is_known);
}

static enum pm_status push_frame(struct pprof *p, const struct pm_import_frame *frame)
{
    uint32_t made;
    enum pm_status status = pm_sink_frame(p->im->sink, frame, &made);
    if (status != PM_OK)
        return status;
    if (!GROW(p, frames, n_frames, frames_cap))
        return import_no_memory(p->im);
    p->frames[p->n_frames++] = made;
    return PM_OK;
}

static enum pm_status name_line(struct pprof *p, const struct line *line,
                                struct pm_import_frame *frame)
{
    uint32_t at = pm_map_get(&p->by_function, line->function);
    if (!at)
        return PM_OK;
    const struct function *function = &p->functions[at - 1];
    uint64_t name = function->system_name ? function->system_name : function->name;
    frame->line_no = line->line_no <= INT32_MAX ? (uint32_t)line->line_no : 0;
    enum pm_status status = string_of(p, name, &frame->function);
    return status != PM_OK ? status : string_of(p, function->file, &frame->file);
}

static void set_address(const struct mapping *mapping, uint64_t address,
                        struct pm_import_frame *frame)
{
    frame->object = mapping->object;
    if (!mapping->object || address < mapping->start || address >= mapping->limit)
        return;
    frame->kind = PM_IMPORT_OFFSET;
    frame->address = address - mapping->start + mapping->offset;
}

/* Outermost first. What explains addresses itself is given the address, for it knows what was
 * inlined; else each line is a frame. */
static enum pm_status make_frames(struct pprof *p, const struct location *location, bool is_caller)
{
    struct mapping none = {0}, *mapping = &none;
    uint32_t at = location->mapping ? pm_map_get(&p->by_mapping, location->mapping) : 0;
    enum pm_status status = PM_OK;
    struct pm_import_frame frame = {.is_caller = is_caller};
    if (at) {
        mapping = &p->mappings[at - 1];
        status = mapping->object ? PM_OK : open_mapping(p, mapping);
    }
    if (status != PM_OK)
        return status;
    set_address(mapping, location->address, &frame);
    for (uint32_t i = location->n_lines; i-- > 0;) {
        struct pm_import_frame line = frame;
        status = name_line(p, &p->lines[location->first_line + i], &line);
        if (status != PM_OK)
            return status;
        bool has_address = mapping->is_known && frame.kind;
        if (!has_address && location->n_lines > 1)
            line.kind = PM_IMPORT_NO_ADDRESS;
        line.is_inlined = !has_address && i + 1 < location->n_lines;
        status = push_frame(p, &line);
        if (status != PM_OK || has_address)
            return status;
    }
    return location->n_lines ? PM_OK : push_frame(p, &frame);
}

/* Puts the location's frames on the stack, innermost first. */
static enum pm_status push_location(struct pprof *p, uint64_t id)
{
    bool is_caller = p->n_stack != 0;
    uint32_t at = pm_map_get(&p->by_location, id);
    if (!at)
        return pm_error_set(p->im->err, PM_ERR_FORMAT, "profile '%s' has no location %llu",
                            p->im->path, (unsigned long long)id);
    struct location *location = &p->locations[at - 1];
    if (!location->frames[is_caller]) {
        uint32_t first = p->n_frames;
        enum pm_status status = make_frames(p, location, is_caller);
        if (status != PM_OK)
            return status;
        location->frames[is_caller] = first + 1;
        location->n_frames[is_caller] = p->n_frames - first;
    }
    for (uint32_t i = location->n_frames[is_caller]; i-- > 0;) {
        if (p->n_stack == MAX_FRAMES)
            return PM_OK; /* the outermost are cut off */
        if (!GROW(p, stack, n_stack, stack_cap))
            return import_no_memory(p->im);
        p->stack[p->n_stack++] = p->frames[location->frames[is_caller] - 1 + i];
    }
    return PM_OK;
}

/* --- samples --- */

struct sample {
    uint64_t values[MAX_TYPES];
    uint32_t n_values;
    uint32_t labels; /* context of its labels; 0: it has none */
};

static enum pm_status push_locations(struct pprof *p, const struct field *field)
{
    struct numbers numbers = numbers_of(field);
    uint64_t id;
    while (next_number(&numbers, &id)) {
        enum pm_status status = push_location(p, id);
        if (status != PM_OK)
            return status;
    }
    return numbers.cursor.failed ? refuse(p, "a sample is damaged") : PM_OK;
}

static enum pm_status take_values(struct pprof *p, const struct field *field, struct sample *sample)
{
    struct numbers numbers = numbers_of(field);
    uint64_t value;
    while (next_number(&numbers, &value)) {
        if (sample->n_values == p->n_types)
            return refuse(p, "a sample has more numbers than types are stated");
        if (value > INT64_MAX)
            return pm_error_set(p->im->err, PM_ERR_FORMAT,
                                "profile '%s' has negative numbers: it is a difference of two "
                                "profiles, which are to be imported each, and compared by "
                                "'perfmap diff'",
                                p->im->path);
        sample->values[sample->n_values++] = value;
    }
    return numbers.cursor.failed ? refuse(p, "a sample is damaged") : PM_OK;
}

/* Key and value of a label; a number with its unit. */
static enum pm_status take_label(struct pprof *p, struct pm_str bytes, struct sample *sample)
{
    struct pm_cursor cursor;
    struct field field;
    uint64_t fields[5] = {0};
    char number[100];
    struct pm_str key, value, unit;
    pm_cursor_init(&cursor, bytes.p, bytes.len);
    while (next_field(&cursor, &field))
        if (field.number < 5)
            fields[field.number] = field.value;
    if (cursor.failed)
        return refuse(p, "a label is damaged");
    enum pm_status status = string_of(p, fields[1], &key);
    if (status != PM_OK)
        return status;
    status = string_of(p, fields[2], &value);
    if (status != PM_OK)
        return status;
    status = string_of(p, fields[4], &unit);
    if (status != PM_OK)
        return status;
    if (!fields[2]) {
        snprintf(number, sizeof number, "%lld %.*s", (long long)fields[3], IMPORT_SHOWN(unit));
        value = import_trimmed(pm_str_of(number));
    }
    return key.len && value.len
               ? pm_sink_label(p->im->sink, p->process, sample->labels, key, value, &sample->labels)
               : PM_OK;
}

static void turn_round(uint32_t *list, uint32_t n)
{
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t kept = list[i];
        list[i] = list[n - 1 - i];
        list[n - 1 - i] = kept;
    }
}

static enum pm_status add_costs(struct pprof *p, const struct sample *sample)
{
    uint32_t place = 0;
    turn_round(p->stack, p->n_stack);
    enum pm_status status =
        pm_sink_place_below(p->im->sink, p->process, sample->labels, p->stack, p->n_stack, &place);
    for (uint32_t i = 0; i < sample->n_values; i++) {
        uint64_t value;
        if (status != PM_OK)
            return status;
        if (__builtin_mul_overflow(sample->values[i], p->types[i].factor, &value) ||
            value > INT64_MAX)
            return refuse(p, "a number is too large");
        status = pm_sink_cost(p->im->sink, p->thread, place, p->types[i].metric, value);
    }
    return status;
}

static enum pm_status read_sample(struct pprof *p, struct pm_str bytes)
{
    struct pm_cursor cursor;
    struct field field;
    struct sample sample = {.n_values = 0};
    enum pm_status status = PM_OK;
    p->n_stack = 0;
    pm_cursor_init(&cursor, bytes.p, bytes.len);
    while (next_field(&cursor, &field)) {
        if (field.number == 1)
            status = push_locations(p, &field);
        else if (field.number == 2)
            status = take_values(p, &field, &sample);
        else if (field.number == 3 && field.wire == WIRE_BYTES)
            status = take_label(p, field.bytes, &sample);
        if (status != PM_OK)
            return status;
    }
    if (cursor.failed)
        return refuse(p, "a sample is damaged");
    return add_costs(p, &sample);
}

static enum pm_status read_samples(struct pprof *p)
{
    struct pm_buf bytes = PM_BUF_INIT(IMPORT_MAX_TAKE + 1);
    enum pm_status status = PM_OK;
    uint32_t len;
    rewind(p->samples);
    while (fread(&len, sizeof len, 1, p->samples) == 1) {
        char *room = pm_realloc_array(bytes.data, (size_t)len + 1, 1);
        if (!room) {
            status = import_no_memory(p->im);
            break;
        }
        bytes.data = room;
        if (len && fread(room, len, 1, p->samples) != 1) {
            status = pm_error_system(p->im->err, errno, "cannot read a temporary file");
            break;
        }
        if ((status = read_sample(p, (struct pm_str){room, len})) != PM_OK)
            break;
    }
    pm_buf_release(&bytes);
    return status;
}

/* --- types --- */

/* What is CPU time or samples is so under our name; others keep theirs. */
static const struct {
    const char *type, *unit, *name;
} known_types[] = {
    {"samples", "count", "n_samples"},
    {"sample", "count", "n_samples"},
    {"cpu", NULL, "cpu_ns"},
    {"wall", NULL, "sampled_wall_ns"},
};

static const struct {
    const char *unit, *shown, *kind;
    uint64_t factor;
} known_units[] = {
    {"nanoseconds", "ns", "time", 1},        {"microseconds", "ns", "time", 1000},
    {"milliseconds", "ns", "time", 1000000}, {"seconds", "ns", "time", 1000000000},
    {"bytes", "bytes", "bytes", 1},
};

static enum pm_status make_type(struct pprof *p, struct type *type)
{
    char name[200], unit[100], description[400];
    struct pm_str shown, unit_text;
    enum pm_status status = string_of(p, type->name, &shown);
    if (status != PM_OK)
        return status;
    status = string_of(p, type->unit, &unit_text);
    if (status != PM_OK)
        return status;
    import_metric_name(shown, name, sizeof name);
    snprintf(unit, sizeof unit, "%.*s", (int)unit_text.len, unit_text.p);
    snprintf(description, sizeof description, "'%s' of the imported profile", name);
    struct pm_import_metric metric = {
        .name = name, .unit = unit, .kind = "count", .description = description};
    for (size_t i = 0; i < sizeof known_units / sizeof *known_units; i++) {
        if (strcmp(unit, known_units[i].unit) != 0)
            continue;
        metric.unit = known_units[i].shown;
        metric.kind = known_units[i].kind;
        type->factor = known_units[i].factor;
    }
    for (size_t i = 0; i < sizeof known_types / sizeof *known_types; i++)
        if (!strcmp(name, known_types[i].type) &&
            (known_types[i].unit ? !strcmp(unit, known_types[i].unit)
                                 : !strcmp(metric.kind, "time")))
            metric.name = known_types[i].name;
    return pm_sink_metric(p->im->sink, &metric, &type->metric);
}

/* --- the whole --- */

static enum pm_status make_types(struct pprof *p)
{
    for (uint32_t i = 0; i < p->n_types; i++) {
        enum pm_status status = make_type(p, &p->types[i]);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* The first mapping is of the program itself. */
static enum pm_status make_process(struct pprof *p)
{
    struct import *im = p->im;
    struct pm_import_process process = {.name = pm_str_of(import_base_name(im->path)), .rank = -1};
    struct pm_str name;
    enum pm_status status = PM_OK;
    if (p->n_mappings) {
        status = string_of(p, p->mappings[0].path, &name);
        if (name.len && name.p[0] == '/')
            process.name = name;
    }
    if (status != PM_OK)
        return status;
    status = pm_sink_process(im->sink, &process, &p->process);
    if (status != PM_OK)
        return status;
    struct pm_import_thread thread = {.process = p->process};
    return pm_sink_thread(im->sink, &thread, &p->thread);
}

static enum pm_status tell(struct pprof *p)
{
    struct pm_str comment;
    if (p->duration_ns && p->duration_ns <= INT64_MAX)
        pm_sink_span(p->im->sink, 0, p->duration_ns);
    if (!p->comment)
        return PM_OK;
    enum pm_status status = string_of(p, p->comment, &comment);
    if (status != PM_OK)
        return status;
    pm_sink_attribute(p->im->sink, "comment", comment);
    return PM_OK;
}

static enum pm_status read_all(struct pprof *p)
{
    static enum pm_status (*const steps[])(struct pprof *) = {read_tables, make_process, make_types,
                                                              read_samples, tell};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        enum pm_status status = steps[i](p);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status read_pprof(struct import *im)
{
    struct pprof p = {.im = im};
    enum pm_status status = read_all(&p);
    if (p.samples)
        fclose(p.samples);
    pm_map_release(&p.by_mapping);
    pm_map_release(&p.by_location);
    pm_map_release(&p.by_function);
    pm_arena_release(&p.arena);
    free(p.strings);
    free(p.mappings);
    free(p.locations);
    free(p.lines);
    free(p.functions);
    free(p.frames);
    free(p.stack);
    return status;
}

/* Type and unit: numbers of two strings. */
static bool looks_like_type(struct pm_str bytes)
{
    struct pm_cursor cursor;
    struct field field;
    pm_cursor_init(&cursor, bytes.p, bytes.len);
    while (next_field(&cursor, &field))
        if (field.number < 1 || field.number > 2 || field.wire != WIRE_NUMBER)
            return false;
    return !cursor.failed;
}

/* Fields come in any order: those of the head are all of a profile's, and among them is a type of
 * samples. */
static bool is_pprof(struct pm_str head, const char *path)
{
    static const char wires[] = " 222222000020?0"; /* by number; ?: either */
    struct pm_cursor cursor;
    struct field field;
    bool has_type = false;
    (void)path;
    pm_cursor_init(&cursor, head.p, head.len);
    while (next_field(&cursor, &field)) {
        bool is_ours =
            field.number >= 1 && field.number < sizeof wires - 1 &&
            (wires[field.number] == '?' || wires[field.number] == '0' + (char)field.wire);
        if (!is_ours || (field.number == SAMPLE_TYPE && !looks_like_type(field.bytes)))
            return false;
        has_type |= field.number == SAMPLE_TYPE;
    }
    return has_type;
}

const struct import_format import_format_pprof = {.is = is_pprof, .read = read_pprof};
