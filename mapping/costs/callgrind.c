/* Output files of valgrind's callgrind, "callgrind format" version 1 (Valgrind user manual,
 * "Callgrind Format Specification").
 *
 * What instructions cost themselves are costs. The line after "calls=" holds the inclusive cost of
 * the call, which is an arc. Addresses (--dump-instr=yes) are those of the ELF file
 * already: callgrind subtracts where an object was loaded. Seen with valgrind 3.19: `sweep` of a
 * PIE at 0x11d0 and of a program without PIE at 0x4011c0, `write` of libc.so.6 at 0xf8340, each
 * as nm says. Code that lies in no object ("ob=???" or none) has addresses of the process. */
#include "costs_internal.h"

#include <stdlib.h>

enum { N_POSITIONS_MAX = 4, N_EVENTS_MAX = 64, NAME_ID_MAX = 1 << 22 };

enum name_kind { NAME_OBJECT, NAME_FILE, NAME_FUNCTION, N_NAME_KINDS };

struct callgrind {
    struct costs_reader *r;
    struct costs_list names[N_NAME_KINDS]; /* const char * by id */
    enum { POSITION_OTHER, POSITION_ADDRESS, POSITION_LINE } positions[N_POSITIONS_MAX];
    unsigned n_positions;
    uint64_t at[N_POSITIONS_MAX];  /* the last line's, that the next one is relative to */
    uint32_t events[N_EVENTS_MAX]; /* metric of each */
    unsigned n_events;
    const char *object, *file, *function;
    const char *line_file; /* other than file in inlined functions */
    const char *called_object, *called_file, *called_function;
    uint64_t n_calls;    /* of the call that the next line of costs is of */
    bool is_call;        /* it is of a call */
    bool is_passed_over; /* it is of a jump */
};

bool costs_is_callgrind(struct pm_str text)
{
    static const char *const beginnings[] = {"# callgrind format", "version: 1\n",
                                             "creator: callgrind"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        size_t len = strlen(beginnings[i]);
        if (text.len >= len && !memcmp(text.p, beginnings[i], len))
            return true;
    }
    return false;
}

static bool begins(struct pm_str text, const char *with, struct pm_str *ret_rest)
{
    size_t len = strlen(with);
    if (text.len < len || memcmp(text.p, with, len))
        return false;
    *ret_rest = (struct pm_str){text.p + len, text.len - len};
    return true;
}

static struct pm_str next_word(struct pm_str *rest)
{
    *rest = costs_trimmed(*rest);
    struct pm_str word = {rest->p, 0};
    while (word.len < rest->len && rest->p[word.len] != ' ' && rest->p[word.len] != '\t')
        word.len++;
    rest->p += word.len;
    rest->len -= word.len;
    return word;
}

/* --- head --- */

static const struct {
    const char *name, *unit, *description;
} known_events[] = {
    {"Ir", "instructions", "instructions executed, counted by callgrind"},
    {"Dr", "reads", "data reads, counted by callgrind"},
    {"Dw", "writes", "data writes, counted by callgrind"},
    {"I1mr", "misses", "instruction fetches that missed the simulated first-level cache"},
    {"D1mr", "misses", "data reads that missed the simulated first-level cache"},
    {"D1mw", "misses", "data writes that missed the simulated first-level cache"},
    {"ILmr", "misses", "instruction fetches that missed the simulated last-level cache"},
    {"DLmr", "misses", "data reads that missed the simulated last-level cache"},
    {"DLmw", "misses", "data writes that missed the simulated last-level cache"},
    {"Bc", "branches", "conditional branches, counted by callgrind"},
    {"Bcm", "branches", "conditional branches that the simulated predictor missed"},
    {"Bi", "branches", "indirect branches, counted by callgrind"},
    {"Bim", "branches", "indirect branches that the simulated predictor missed"},
};

static enum pm_status find_metric(struct callgrind *c, struct pm_str name, uint32_t *ret_metric)
{
    struct costs_list *metrics = &c->r->costs->metrics;
    for (size_t i = 0; i < metrics->n; i++)
        if (pm_str_is(name, ((struct pm_cost_metric *)metrics->items)[i].name)) {
            *ret_metric = (uint32_t)i;
            return PM_OK;
        }
    const char *kept = costs_string(c->r, name);
    struct pm_cost_metric *metric = kept ? costs_add(metrics, sizeof *metric) : NULL;
    if (!metric)
        return costs_no_memory(c->r);
    *metric = (struct pm_cost_metric){.name = kept,
                                      .unit = "events",
                                      .kind = "count",
                                      .aggregation = "sum",
                                      .description = "events counted by callgrind"};
    for (size_t i = 0; i < sizeof known_events / sizeof *known_events; i++)
        if (!strcmp(known_events[i].name, kept)) {
            metric->unit = known_events[i].unit;
            metric->description = known_events[i].description;
        }
    *ret_metric = (uint32_t)metrics->n - 1;
    return PM_OK;
}

static enum pm_status read_events(struct callgrind *c, struct pm_str rest)
{
    c->n_events = 0;
    for (struct pm_str word; (word = next_word(&rest)).len;) {
        if (c->n_events == N_EVENTS_MAX)
            return costs_refuse(c->r, PM_ERR_LIMIT, "more than %d events", N_EVENTS_MAX);
        enum pm_status status = find_metric(c, word, &c->events[c->n_events++]);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status read_positions(struct callgrind *c, struct pm_str rest)
{
    c->n_positions = 0;
    for (struct pm_str word; (word = next_word(&rest)).len;) {
        if (c->n_positions == N_POSITIONS_MAX)
            return costs_refuse(c->r, PM_ERR_LIMIT, "more than %d positions", N_POSITIONS_MAX);
        unsigned at = c->n_positions++;
        c->positions[at] = POSITION_OTHER;
        if (pm_str_is(word, "instr"))
            c->positions[at] = POSITION_ADDRESS;
        else if (pm_str_is(word, "line"))
            c->positions[at] = POSITION_LINE;
    }
    return PM_OK;
}

static enum pm_status read_version(struct callgrind *c, struct pm_str rest)
{
    struct pm_str version = next_word(&rest);
    if (!pm_str_is(version, "1"))
        return costs_refuse(c->r, PM_ERR_VERSION,
                            "callgrind format of version '%.*s', this perfmap reads version 1",
                            COSTS_SHOWN(version));
    return PM_OK;
}

/* "key: value". A new part of the file begins with positions at 0. */
static enum pm_status read_head(struct callgrind *c, struct pm_str key, struct pm_str rest)
{
    if (pm_str_is(key, "version"))
        return read_version(c, rest);
    if (pm_str_is(key, "events"))
        return read_events(c, rest);
    if (pm_str_is(key, "positions"))
        return read_positions(c, rest);
    if (pm_str_is(key, "part"))
        memset(c->at, 0, sizeof c->at);
    if (pm_str_is(key, "creator") && !c->r->costs->producer) {
        c->r->costs->producer = costs_string(c->r, costs_trimmed(rest));
        return c->r->costs->producer ? PM_OK : costs_no_memory(c->r);
    }
    return PM_OK;
}

/* --- names --- */

/* "(id) name" tells a name, "(id)" stands for it, "name" is one without id. "???" is none: NULL. */
static enum pm_status read_name(struct callgrind *c, enum name_kind kind, struct pm_str text,
                                const char **ret_name)
{
    struct costs_list *names = &c->names[kind];
    uint64_t id = 0;
    const char *close = text.len && text.p[0] == '(' ? memchr(text.p, ')', text.len) : NULL;
    struct pm_str digits = {text.p, 0};
    if (close)
        digits = (struct pm_str){text.p + 1, (size_t)(close - text.p) - 1};
    bool has_id = close && pm_str_to_u64(digits, NAME_ID_MAX, &id);
    if (has_id)
        text = (struct pm_str){close + 1, text.len - digits.len - 2};
    text = costs_trimmed(text);
    if (has_id && text.len == 0) {
        const char *name = id < names->n ? ((const char **)names->items)[id] : NULL;
        if (!name)
            return costs_refuse(c->r, PM_ERR_FORMAT, "(%llu) was not given a name before",
                                (unsigned long long)id);
        *ret_name = strcmp(name, "???") ? name : NULL;
        return PM_OK;
    }
    const char *name = costs_string(c->r, text);
    while (name && has_id && names->n <= id)
        if (!costs_add(names, sizeof(const char *)))
            return costs_no_memory(c->r);
    if (!name)
        return costs_no_memory(c->r);
    if (has_id)
        ((const char **)names->items)[id] = name;
    *ret_name = text.len && strcmp(name, "???") ? name : NULL;
    return PM_OK;
}

static bool read_number(struct pm_str text, uint64_t *ret_number)
{
    struct pm_str hex;
    if (!begins(text, "0x", &hex))
        return pm_str_to_u64(text, UINT64_MAX, ret_number);
    uint64_t number = 0;
    if (hex.len == 0 || hex.len > 16)
        return false;
    for (size_t i = 0; i < hex.len; i++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit =
            memchr(digits, hex.p[i] | (hex.p[i] >= 'A' && hex.p[i] <= 'F' ? 32 : 0), 16);
        if (!digit)
            return false;
        number = number << 4 | (uint64_t)(digit - digits);
    }
    *ret_number = number;
    return true;
}

/* "calls=COUNT POSITION..." */
static enum pm_status read_calls(struct callgrind *c, struct pm_str value)
{
    struct pm_str word = next_word(&value);
    if (!read_number(word, &c->n_calls) || c->n_calls > INT64_MAX)
        return costs_refuse(c->r, PM_ERR_FORMAT, "'%.*s' is not a number of calls",
                            COSTS_SHOWN(word));
    c->is_call = true;
    return PM_OK;
}

/* "key=value" */
static enum pm_status read_assignment(struct callgrind *c, struct pm_str key, struct pm_str value)
{
    const char *unused; /* other names of what is called or jumped to only tell ids */
    enum pm_status status = PM_OK;
    if (pm_str_is(key, "ob"))
        return read_name(c, NAME_OBJECT, value, &c->object);
    if (pm_str_is(key, "cob"))
        return read_name(c, NAME_OBJECT, value, &c->called_object);
    if (pm_str_is(key, "cfn"))
        return read_name(c, NAME_FUNCTION, value, &c->called_function);
    if (pm_str_is(key, "job"))
        return read_name(c, NAME_OBJECT, value, &unused);
    if (pm_str_is(key, "cfi") || pm_str_is(key, "cfl"))
        return read_name(c, NAME_FILE, value, &c->called_file);
    if (pm_str_is(key, "jfi"))
        return read_name(c, NAME_FILE, value, &unused);
    if (pm_str_is(key, "jfn"))
        return read_name(c, NAME_FUNCTION, value, &unused);
    if (pm_str_is(key, "calls"))
        return read_calls(c, value);
    if (pm_str_is(key, "fi") || pm_str_is(key, "fe"))
        return read_name(c, NAME_FILE, value, &c->line_file);
    if (pm_str_is(key, "fl"))
        status = read_name(c, NAME_FILE, value, &c->file);
    else if (pm_str_is(key, "fn"))
        status = read_name(c, NAME_FUNCTION, value, &c->function);
    else if (pm_str_is(key, "jump") || pm_str_is(key, "jcnd"))
        c->is_passed_over = true;
    else
        return costs_refuse(c->r, PM_ERR_FORMAT, "'%.*s=' is not known", COSTS_SHOWN(key));
    if (pm_str_is(key, "fl") || pm_str_is(key, "fn"))
        c->line_file = c->file;
    return status;
}

/* --- costs --- */

/* A number, or relative to the line before: "+3", "-3", "*". */
static bool read_position(struct pm_str text, uint64_t *position)
{
    uint64_t number;
    if (pm_str_is(text, "*"))
        return true;
    bool more = text.len && text.p[0] == '+', less = text.len && text.p[0] == '-';
    if (more || less)
        text = (struct pm_str){text.p + 1, text.len - 1};
    if (!read_number(text, &number) || (less && number > *position) ||
        (more && number > UINT64_MAX - *position))
        return false;
    if (more)
        *position += number;
    else if (less)
        *position -= number;
    else
        *position = number;
    return true;
}

static enum pm_status add_cost(struct callgrind *c, unsigned event, uint64_t value)
{
    if (value > COSTS_VALUE_MAX)
        return costs_refuse(c->r, PM_ERR_LIMIT, "a cost is larger than %lld",
                            (long long)COSTS_VALUE_MAX);
    struct pm_imported_cost *cost = costs_add(&c->r->costs->costs, sizeof *cost);
    if (!cost)
        return costs_no_memory(c->r);
    *cost = (struct pm_imported_cost){.object = c->object,
                                      .function = c->function,
                                      .file = c->line_file,
                                      .metric = c->events[event],
                                      .text_line_no = c->r->line_no,
                                      .value = (int64_t)value};
    for (unsigned i = 0; i < c->n_positions; i++)
        if (c->positions[i] == POSITION_ADDRESS) {
            cost->has_address = true;
            cost->address = c->at[i];
        } else if (c->positions[i] == POSITION_LINE && c->at[i] <= UINT32_MAX) {
            cost->line_no = (uint32_t)c->at[i];
        }
    return PM_OK;
}

static enum pm_status add_arc(struct callgrind *c, unsigned event, uint64_t value)
{
    if (value > COSTS_VALUE_MAX)
        return costs_refuse(c->r, PM_ERR_LIMIT, "a cost is larger than %lld",
                            (long long)COSTS_VALUE_MAX);
    struct pm_imported_arc *arc = costs_add(&c->r->costs->arcs, sizeof *arc);
    if (!arc)
        return costs_no_memory(c->r);
    *arc = (struct pm_imported_arc){.object = c->object,
                                    .file = c->file,
                                    .function = c->function,
                                    .called_object = c->called_object,
                                    .called_file = c->called_file,
                                    .called_function = c->called_function,
                                    .metric = c->events[event],
                                    .n_calls = event ? 0 : c->n_calls,
                                    .value = (int64_t)value};
    return PM_OK;
}

/* Positions, then a cost for each event; those missing at the end are 0. */
static enum pm_status read_costs(struct callgrind *c)
{
    struct pm_str rest = c->r->line;
    bool passed_over = c->is_passed_over, is_call = c->is_call;
    c->is_passed_over = c->is_call = false;
    for (unsigned i = 0; i < c->n_positions; i++) {
        struct pm_str word = next_word(&rest);
        if (!read_position(word, &c->at[i]))
            return costs_refuse(c->r, PM_ERR_FORMAT, "'%.*s' is not a position", COSTS_SHOWN(word));
    }
    if (passed_over)
        return PM_OK;
    unsigned event = 0;
    for (struct pm_str word; (word = next_word(&rest)).len; event++) {
        uint64_t value;
        if (event == c->n_events)
            return costs_refuse(c->r, PM_ERR_FORMAT, "more costs than the %u that 'events:' states",
                                c->n_events);
        if (!read_number(word, &value))
            return costs_refuse(c->r, PM_ERR_FORMAT, "'%.*s' is not a cost", COSTS_SHOWN(word));
        enum pm_status status = PM_OK;
        if (is_call)
            status = add_arc(c, event, value);
        else if (value)
            status = add_cost(c, event, value);
        if (status != PM_OK)
            return status;
    }
    if (is_call) /* the next call names its own */
        c->called_object = c->called_file = c->called_function = NULL;
    return PM_OK;
}

static enum pm_status read_line(struct callgrind *c)
{
    struct pm_str line = costs_trimmed(c->r->line), key = {line.p, 0};
    if (line.len == 0 || line.p[0] == '#')
        return PM_OK;
    if ((line.p[0] >= '0' && line.p[0] <= '9') || strchr("+-*", line.p[0]))
        return read_costs(c);
    while (key.len < line.len && line.p[key.len] >= 'a' && line.p[key.len] <= 'z')
        key.len++;
    struct pm_str rest = {line.p + key.len, line.len - key.len};
    if (key.len && begins(rest, ":", &rest))
        return read_head(c, key, rest);
    if (key.len && begins(rest, "=", &rest))
        return read_assignment(c, key, rest);
    return costs_refuse(c->r, PM_ERR_FORMAT,
                        "'%.*s' is neither 'key: value', 'key=value' nor a line of costs",
                        COSTS_SHOWN(line));
}

enum pm_status costs_read_callgrind(struct costs_reader *r)
{
    struct callgrind c = {.r = r, .positions = {POSITION_LINE}, .n_positions = 1};
    enum pm_status status = PM_OK;
    while (costs_next_line(r)) {
        status = read_line(&c);
        if (status != PM_OK)
            goto out;
    }
    if (c.n_events == 0) {
        status = pm_error_set(r->err, PM_ERR_FORMAT,
                              "cost file '%s': no line 'events:' says what was counted", r->name);
        goto out;
    }
    if (!r->costs->producer)
        r->costs->producer = "callgrind";
out:
    for (int kind = 0; kind < N_NAME_KINDS; kind++)
        free(c.names[kind].items);
    return status;
}
