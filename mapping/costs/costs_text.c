/* Costs as text that people and other tools write: docs/formats/costs.md.
 *
 * Values are whole numbers in the archive. A metric's decimals are those that its METRIC record
 * states, else the most that any of its values in the file has: they are known at the end, so
 * values wait with the decimals that they were written with. */
#include "costs_internal.h"

#include <stdlib.h>

enum { DECIMALS_MAX = 18, LINE_MAX_BYTES = 1 << 20 };

struct text_metric {
    const char *unit;
    bool is_declared;  /* by a METRIC record */
    bool has_decimals; /* stated */
};

struct text_reader {
    struct costs_reader *r;
    struct costs_list metrics;  /* struct text_metric, beside the metrics of the costs */
    struct costs_list decimals; /* unsigned char, of each value */
    bool in_record;             /* behind METRIC */
    bool has_name;              /* of the record */
    uint32_t record;            /* its metric */
    uint32_t record_line_no;
};

static struct pm_cost_metric *metric_at(struct text_reader *t, uint32_t index)
{
    return (struct pm_cost_metric *)t->r->costs->metrics.items + index;
}

static struct text_metric *traits_at(struct text_reader *t, uint32_t index)
{
    return (struct text_metric *)t->metrics.items + index;
}

/* --- metrics --- */

static bool is_metric_name(struct pm_str name)
{
    if (name.len == 0 || name.len > 200 || (name.p[0] >= '0' && name.p[0] <= '9'))
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.p[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            c != '_' && c != '.' && c != '-')
            return false;
    }
    return true;
}

static enum pm_status find_metric(struct text_reader *t, struct pm_str name, uint32_t *ret_index)
{
    struct costs_list *metrics = &t->r->costs->metrics;
    if (!is_metric_name(name))
        return costs_refuse(t->r, PM_ERR_FORMAT,
                            "'%.*s' is not the name of a metric: letters, digits, '_', '.' and '-'",
                            COSTS_SHOWN(name));
    for (uint32_t i = 0; i < metrics->n; i++)
        if (pm_str_is(name, metric_at(t, i)->name)) {
            *ret_index = i;
            return PM_OK;
        }
    const char *kept = costs_string(t->r, name);
    struct pm_cost_metric *metric = kept ? costs_add(metrics, sizeof *metric) : NULL;
    if (!metric || !costs_add(&t->metrics, sizeof(struct text_metric)))
        return costs_no_memory(t->r);
    *metric = (struct pm_cost_metric){.name = kept,
                                      .unit = "",
                                      .kind = "count",
                                      .aggregation = "sum",
                                      .description = "stated by the user"};
    *ret_index = (uint32_t)metrics->n - 1;
    return PM_OK;
}

static enum pm_status record_name(struct text_reader *t, struct pm_str name)
{
    enum pm_status status = find_metric(t, name, &t->record);
    if (status != PM_OK)
        return status;
    if (t->has_name || traits_at(t, t->record)->is_declared)
        return costs_refuse(t->r, PM_ERR_FORMAT, "metric '%.*s' was described before",
                            COSTS_SHOWN(name));
    t->has_name = traits_at(t, t->record)->is_declared = true;
    return PM_OK;
}

/* value must be one of words, which NULL ends. */
static enum pm_status one_of(struct text_reader *t, struct pm_str value, const char *const *words,
                             const char *expected, const char **ret_word)
{
    for (; *words; words++)
        if (pm_str_is(value, *words)) {
            *ret_word = *words;
            return PM_OK;
        }
    return costs_refuse(t->r, PM_ERR_FORMAT, "'%.*s' is not one of %s", COSTS_SHOWN(value),
                        expected);
}

static enum pm_status record_decimals(struct text_reader *t, struct pm_str value)
{
    uint64_t decimals;
    if (!pm_str_to_u64(value, DECIMALS_MAX, &decimals))
        return costs_refuse(t->r, PM_ERR_FORMAT, "'%.*s' is not a number of decimals up to %d",
                            COSTS_SHOWN(value), DECIMALS_MAX);
    metric_at(t, t->record)->decimals = (unsigned)decimals;
    traits_at(t, t->record)->has_decimals = true;
    return PM_OK;
}

/* "key = value" of a METRIC record. */
static enum pm_status read_field(struct text_reader *t, struct pm_str line)
{
    static const char *const aggregations[] = {"sum", "average", "minimum", "maximum", NULL};
    static const char *const kinds[] = {"count", "time", "bytes", NULL};
    const char *equals = memchr(line.p, '=', line.len);
    if (!equals)
        return costs_refuse(t->r, PM_ERR_FORMAT, "'%.*s' is not 'key = value'", COSTS_SHOWN(line));
    struct pm_str key = costs_trimmed((struct pm_str){line.p, (size_t)(equals - line.p)});
    struct pm_str value = {equals + 1, line.len - (size_t)(equals - line.p) - 1};
    value = costs_trimmed(value);
    if (pm_str_is(key, "name"))
        return record_name(t, value);
    if (!t->has_name)
        return costs_refuse(t->r, PM_ERR_FORMAT, "a METRIC record begins with 'name'");
    if (pm_str_is(key, "decimals"))
        return record_decimals(t, value);
    if (pm_str_is(key, "aggregation"))
        return one_of(t, value, aggregations, "sum, average, minimum, maximum",
                      &metric_at(t, t->record)->aggregation);
    if (pm_str_is(key, "kind"))
        return one_of(t, value, kinds, "count, time, bytes", &metric_at(t, t->record)->kind);
    bool is_unit = pm_str_is(key, "unit");
    if (!is_unit && !pm_str_is(key, "description"))
        return costs_refuse(t->r, PM_ERR_FORMAT,
                            "'%.*s' is not one of name, unit, kind, aggregation, decimals, "
                            "description",
                            COSTS_SHOWN(key));
    const char *text = costs_string(t->r, value);
    if (!text)
        return costs_no_memory(t->r);
    *(is_unit ? &traits_at(t, t->record)->unit : &metric_at(t, t->record)->description) = text;
    return PM_OK;
}

/* --- values --- */

static bool times_ten(int64_t *value)
{
    return !__builtin_mul_overflow(*value, (int64_t)10, value);
}

/* "12.50": 1250 and two decimals. False with the reason. */
static bool parse_value(struct pm_str text, int64_t *ret_value, unsigned char *ret_decimals,
                        const char **ret_why)
{
    int64_t value = 0;
    size_t n_digits = 0, n_decimals = 0;
    bool has_point = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.p[i];
        if (c == '.' && !has_point && n_digits) {
            has_point = true;
        } else if (c < '0' || c > '9') {
            *ret_why = "is not a decimal number from 0";
            return false;
        } else if (!times_ten(&value) ||
                   __builtin_add_overflow(value, (int64_t)(c - '0'), &value)) {
            *ret_why = "has too many digits: at most 9223372036854775807 without its point";
            return false;
        } else {
            n_digits++;
            n_decimals += has_point;
        }
    }
    if (n_digits == 0 || (has_point && n_decimals == 0) || n_decimals > DECIMALS_MAX) {
        *ret_why = n_decimals > DECIMALS_MAX ? "has more than 18 decimals"
                                             : "is not a decimal number from 0";
        return false;
    }
    *ret_value = value;
    *ret_decimals = (unsigned char)n_decimals;
    return true;
}

static enum pm_status note_decimals(struct text_reader *t, uint32_t index, unsigned n)
{
    struct pm_cost_metric *metric = metric_at(t, index);
    if (n > metric->decimals && traits_at(t, index)->has_decimals)
        return costs_refuse(t->r, PM_ERR_FORMAT, "metric '%s' has %u decimals, not %u",
                            metric->name, metric->decimals, n);
    if (n > metric->decimals)
        metric->decimals = n;
    return PM_OK;
}

/* {noun, noun, verb} METRIC VALUE */
static enum pm_status read_sentence(struct text_reader *t, struct pm_str line)
{
    struct pm_pif_reference references[PM_PIF_MAX_NOUNS + 1];
    struct pm_imported_cost cost = {.text_line_no = t->r->line_no};
    struct pm_str shown = line;
    const char *why =
        pm_pif_read_references(t->r->costs->pif, &line, &cost.n_references, references);
    if (pm_pif_failed(t->r->costs->pif))
        return costs_no_memory(t->r);
    if (why)
        return costs_refuse(t->r, PM_ERR_FORMAT, "sentence '%.*s': %s", COSTS_SHOWN(shown), why);
    line = costs_trimmed(line);
    size_t name_len = 0;
    while (name_len < line.len && line.p[name_len] != ' ' && line.p[name_len] != '\t')
        name_len++;
    struct pm_str value = costs_trimmed((struct pm_str){line.p + name_len, line.len - name_len});
    if (name_len == 0 || value.len == 0)
        return costs_refuse(t->r, PM_ERR_FORMAT,
                            "expected the name of a metric and a number after the sentence");
    enum pm_status status = find_metric(t, (struct pm_str){line.p, name_len}, &cost.metric);
    if (status != PM_OK)
        return status;
    unsigned char decimals;
    if (!parse_value(value, &cost.value, &decimals, &why))
        return costs_refuse(t->r, PM_ERR_FORMAT, "value '%.*s' %s", COSTS_SHOWN(value), why);
    if ((status = note_decimals(t, cost.metric, decimals)) != PM_OK)
        return status;
    struct pm_pif_reference *kept =
        pm_arena_alloc(&t->r->costs->arena, cost.n_references * sizeof *kept);
    unsigned char *written = costs_add(&t->decimals, 1);
    struct pm_imported_cost *added = costs_add(&t->r->costs->costs, sizeof *added);
    if (!kept || !written || !added)
        return costs_no_memory(t->r);
    memcpy(kept, references, cost.n_references * sizeof *kept);
    cost.references = kept;
    *added = cost;
    *written = decimals;
    return PM_OK;
}

/* --- the whole --- */

static enum pm_status end_record(struct text_reader *t)
{
    bool is_empty = t->in_record && !t->has_name;
    t->in_record = t->has_name = false;
    if (!is_empty)
        return PM_OK;
    t->r->line_no = t->record_line_no;
    return costs_refuse(t->r, PM_ERR_FORMAT, "METRIC record without 'name'");
}

static enum pm_status read_line(struct text_reader *t)
{
    struct pm_str line = costs_trimmed(t->r->line);
    if (line.len > LINE_MAX_BYTES)
        return costs_refuse(t->r, PM_ERR_LIMIT, "a line has at most %d bytes", LINE_MAX_BYTES);
    if (line.len == 0 || line.p[0] == '#')
        return PM_OK;
    bool is_record = pm_str_is(line, "METRIC"), is_sentence = line.p[0] == '{';
    if (!is_record && !is_sentence && t->in_record)
        return read_field(t, line);
    enum pm_status status = end_record(t);
    if (status != PM_OK)
        return status;
    if (is_sentence)
        return read_sentence(t, line);
    if (!is_record)
        return costs_refuse(
            t->r, PM_ERR_FORMAT,
            "'%.*s' is neither '{noun, verb} METRIC VALUE' nor METRIC nor a comment",
            COSTS_SHOWN(line));
    t->in_record = true;
    t->record_line_no = t->r->line_no;
    return PM_OK;
}

/* Brings all values to their metric's decimals. */
static enum pm_status scale_values(struct text_reader *t)
{
    struct pm_imported_cost *costs = t->r->costs->costs.items;
    for (size_t i = 0; i < t->r->costs->costs.n; i++) {
        const struct pm_cost_metric *metric = metric_at(t, costs[i].metric);
        for (unsigned n = ((unsigned char *)t->decimals.items)[i]; n < metric->decimals; n++)
            if (!times_ten(&costs[i].value)) {
                t->r->line_no = costs[i].text_line_no;
                return costs_refuse(t->r, PM_ERR_LIMIT,
                                    "the value is too large for the %u decimals of metric '%s'",
                                    metric->decimals, metric->name);
            }
    }
    return PM_OK;
}

/* "%" with one decimal: "0.1 %". */
static enum pm_status finish_units(struct text_reader *t)
{
    for (uint32_t i = 0; i < t->metrics.n; i++) {
        struct pm_cost_metric *metric = metric_at(t, i);
        const char *unit = traits_at(t, i)->unit ? traits_at(t, i)->unit : "";
        char text[300];
        const char *space = *unit ? " " : "";
        int len;
        if (metric->decimals)
            len = snprintf(text, sizeof text, "0.%0*d%s%.200s", (int)metric->decimals, 1, space,
                           unit);
        else
            len = snprintf(text, sizeof text, "%.200s", unit);
        metric->unit = costs_string(t->r, (struct pm_str){text, (size_t)len});
        if (!metric->unit)
            return costs_no_memory(t->r);
    }
    return PM_OK;
}

enum pm_status costs_read_text(struct costs_reader *r)
{
    struct text_reader t = {.r = r};
    enum pm_status status = PM_OK;
    r->costs->producer = "user";
    while (costs_next_line(r)) {
        status = read_line(&t);
        if (status != PM_OK)
            goto out;
    }
    status = end_record(&t);
    if (status != PM_OK)
        goto out;
    status = scale_values(&t);
    if (status != PM_OK)
        goto out;
    status = finish_units(&t);
out:
    free(t.metrics.items);
    free(t.decimals.items);
    return status;
}
