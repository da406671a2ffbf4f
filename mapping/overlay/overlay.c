/* An overlay's file. It is PIF with attributes and a record of its own, so pm_pif_read_text reads
 * it; what an overlay must be beyond that is checked here. */
#include "overlay.h"

#include "mapping/base/map.h"
#include "mapping/pif/pif.h"

#include <stdlib.h>

struct reading {
    struct pm_overlay *overlay;
    struct pm_error *err;
    struct pm_pif *pif;
    struct pm_map position; /* id of a noun -> 1 + its index in pif */
    uint32_t *placed;       /* per index in pif: 1 + its position; 0: not yet */
    uint32_t cap_patterns, n_scanned;
};

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

static enum pm_status refuse(const struct reading *r, enum pm_status status, const char *format,
                             ...) PM_PRINTF(3, 4);

static enum pm_status refuse(const struct reading *r, enum pm_status status, const char *format,
                             ...)
{
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    va_list args;
    va_start(args, format);
    pm_buf_vprintf(&text, format, args);
    va_end(args);
    pm_error_set(r->err, status, "overlay '%s': %s", r->overlay->name, text.len ? text.data : "");
    pm_buf_release(&text);
    return status;
}

static const char *keep_n(const struct reading *r, const char *text, size_t len)
{
    return pm_arena_strndup(&r->overlay->arena, text, len);
}

static const char *keep(const struct reading *r, const char *text)
{
    return keep_n(r, text, strlen(text));
}

/* --- the level --- */

static enum pm_status take_level(struct reading *r, const char *name)
{
    if (!*name || (r->overlay->level && !strcmp(r->overlay->level, name)))
        return PM_OK;
    if (r->overlay->level)
        return refuse(r, PM_ERR_FORMAT, "it is of two levels, '%s' and '%s'", r->overlay->level,
                      name);
    r->overlay->level = keep(r, name);
    return r->overlay->level ? PM_OK : no_memory(r->err);
}

static enum pm_status find_level(struct reading *r)
{
    for (size_t i = 0; i < pm_pif_n_levels(r->pif); i++) {
        const char *name, *above;
        pm_pif_get_level(r->pif, i, &name, &above);
        enum pm_status status = take_level(r, name);
        if (status != PM_OK)
            return status;
    }
    for (size_t i = 0; i < pm_pif_n_nouns(r->pif); i++) {
        struct pm_pif_noun noun;
        pm_pif_get_noun(r->pif, i, &noun);
        enum pm_status status = take_level(r, noun.level);
        if (status != PM_OK)
            return status;
    }
    if (!r->overlay->level)
        return refuse(r, PM_ERR_FORMAT, "it names no level: a record LEVEL, with a name");
    return PM_OK;
}

/* --- patterns --- */

static enum pm_status add_pattern(struct reading *r, struct pm_str text)
{
    struct pm_overlay *to = r->overlay;
    bool is_exact = text.len > 6 && !strncmp(text.p, "exact:", 6);
    const char **patterns =
        pm_grow_array(to->patterns, to->n_patterns, &r->cap_patterns, 64, sizeof *patterns);
    if (!patterns)
        return no_memory(r->err);
    to->patterns = patterns;
    patterns[to->n_patterns] = keep_n(r, text.p, text.len);
    if (!patterns[to->n_patterns++])
        return no_memory(r->err);
    r->n_scanned += !is_exact;
    if (r->n_scanned > PM_OVERLAY_MOST_PATTERNS || to->n_patterns > PM_OVERLAY_MOST_NOUNS)
        return refuse(r, PM_ERR_LIMIT, "it has more than %d patterns, or %d of the form exact:NAME",
                      PM_OVERLAY_MOST_PATTERNS, PM_OVERLAY_MOST_NOUNS);
    return PM_OK;
}

static struct pm_str trimmed(const char *p, size_t len)
{
    while (len && (*p == ' ' || *p == '\t')) {
        p++;
        len--;
    }
    while (len && (p[len - 1] == ' ' || p[len - 1] == '\t'))
        len--;
    return (struct pm_str){p, len};
}

/* The text up to " | ", which is not in it. */
static struct pm_str next_alternative(const char **text)
{
    const char *end = strstr(*text, " | ");
    struct pm_str item = trimmed(*text, end ? (size_t)(end - *text) : strlen(*text));
    *text = end ? end + 3 : *text + strlen(*text);
    return item;
}

static enum pm_status add_patterns(struct reading *r, const char *value, const char *noun)
{
    do {
        struct pm_str item = next_alternative(&value);
        if (!item.len)
            return refuse(r, PM_ERR_FORMAT, "noun '%.200s' has an empty pattern in 'match'", noun);
        enum pm_status status = add_pattern(r, item);
        if (status != PM_OK)
            return status;
    } while (*value);
    return PM_OK;
}

/* --- nouns --- */

/* Its position; parents come first. */
static enum pm_status place(struct reading *r, uint32_t index, uint32_t parent)
{
    struct pm_overlay *to = r->overlay;
    struct pm_pif_noun noun;
    const char *key, *value;
    pm_pif_get_noun(r->pif, index, &noun);
    uint32_t depth = parent == PM_NONE ? 0 : to->nouns[parent].depth + 1;
    if (depth == PM_OVERLAY_MOST_DEPTH)
        return refuse(r, PM_ERR_LIMIT, "noun '%.200s' lies more than %d deep", noun.name,
                      PM_OVERLAY_MOST_DEPTH);
    struct pm_overlay_noun *at = &to->nouns[to->n_nouns];
    *at = (struct pm_overlay_noun){.name = keep(r, noun.name),
                                   .kind = keep(r, noun.kind ? noun.kind : "part"),
                                   .parent = parent,
                                   .depth = depth,
                                   .first_pattern = to->n_patterns};
    if (!at->name || !at->kind)
        return no_memory(r->err);
    for (size_t i = 0; pm_pif_nth_attribute(r->pif, noun.id, i, &key, &value); i++) {
        enum pm_status status =
            strcmp(key, "match") != 0 ? PM_OK : add_patterns(r, value, noun.name);
        if (status != PM_OK)
            return status;
    }
    at->n_patterns = to->n_patterns - at->first_pattern;
    r->placed[index] = ++to->n_nouns;
    return PM_OK;
}

/* With all that it lies in: a chain that comes back to itself, or is too long, is refused. */
static enum pm_status place_with_parents(struct reading *r, uint32_t index)
{
    uint32_t path[PM_OVERLAY_MOST_DEPTH], n = 0;
    for (uint32_t up = index; up != PM_NONE && !r->placed[up];) {
        struct pm_pif_noun noun;
        pm_pif_get_noun(r->pif, up, &noun);
        if (n == PM_OVERLAY_MOST_DEPTH)
            return refuse(r, PM_ERR_FORMAT,
                          "noun '%.200s' lies in itself, or more than %d deep: 'parent'", noun.name,
                          PM_OVERLAY_MOST_DEPTH);
        path[n++] = up;
        up = noun.parent ? pm_map_get(&r->position, noun.parent) - 1 : PM_NONE;
    }
    while (n-- > 0) {
        struct pm_pif_noun noun;
        pm_pif_get_noun(r->pif, path[n], &noun);
        uint32_t up = noun.parent ? pm_map_get(&r->position, noun.parent) - 1 : PM_NONE;
        enum pm_status status =
            place(r, path[n], up == PM_NONE ? (uint32_t)PM_NONE : r->placed[up] - 1);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status take_nouns(struct reading *r)
{
    size_t n = pm_pif_n_nouns(r->pif);
    if (!n)
        return refuse(r, PM_ERR_FORMAT, "it has no nouns");
    if (n > PM_OVERLAY_MOST_NOUNS)
        return refuse(r, PM_ERR_LIMIT, "it has more than %d nouns", PM_OVERLAY_MOST_NOUNS);
    r->placed = pm_alloc_array(n, sizeof *r->placed);
    r->overlay->nouns = pm_alloc_array(n, sizeof *r->overlay->nouns);
    bool good = r->placed && r->overlay->nouns;
    for (uint32_t i = 0; i < n && good; i++) {
        struct pm_pif_noun noun;
        pm_pif_get_noun(r->pif, i, &noun);
        good = pm_map_put(&r->position, noun.id, i + 1);
    }
    for (uint32_t i = 0; i < n && good; i++) {
        enum pm_status status = place_with_parents(r, i);
        if (status != PM_OK)
            return status;
    }
    if (!good)
        return no_memory(r->err);
    if (!r->overlay->n_patterns)
        return refuse(r, PM_ERR_FORMAT, "no noun has a 'match', so nothing can be put into any");
    return PM_OK;
}

/* --- metrics --- */

/* The value of a key in a record's text; len 0: it is not there. */
static struct pm_str field_of(const char *record, const char *key)
{
    for (const char *line = record; *line;) {
        size_t len = strcspn(line, "\n");
        struct pm_str text = trimmed(line, len);
        size_t key_len = strlen(key);
        line += len + (line[len] == '\n');
        if (text.len <= key_len || strncmp(text.p, key, key_len) != 0)
            continue;
        struct pm_str rest = trimmed(text.p + key_len, text.len - key_len);
        if (rest.len && *rest.p == '=')
            return trimmed(rest.p + 1, rest.len - 1);
    }
    return (struct pm_str){0};
}

static bool is_metric_name(struct pm_str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", name.p[i]))
            return false;
    return name.len && !strchr("0123456789", *name.p);
}

static enum pm_status take_metric(struct reading *r, const char *record)
{
    struct pm_str name = field_of(record, "name"), value = field_of(record, "value");
    if (!is_metric_name(name))
        return refuse(r, PM_ERR_FORMAT, "a METRIC needs a name, of letters, digits and '_'");
    if (!value.len)
        return refuse(r, PM_ERR_FORMAT, "METRIC '%.*s' has no value", (int)name.len, name.p);
    struct pm_overlay_metric *to = &r->overlay->metrics[r->overlay->n_metrics++];
    *to = (struct pm_overlay_metric){keep_n(r, name.p, name.len), keep_n(r, value.p, value.len)};
    return to->name && to->value ? PM_OK : no_memory(r->err);
}

static enum pm_status take_metrics(struct reading *r)
{
    uint32_t n = 0;
    while (pm_pif_nth_record(r->pif, n))
        n++;
    r->overlay->metrics = pm_alloc_array((size_t)n + 1, sizeof *r->overlay->metrics);
    if (!r->overlay->metrics)
        return no_memory(r->err);
    for (uint32_t i = 0; i < n; i++) {
        const char *record = pm_pif_nth_record(r->pif, i);
        enum pm_status status =
            strncmp(record, "METRIC\n", 7) != 0 ? PM_OK : take_metric(r, record);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* --- all of it --- */

static enum pm_status read_all(struct reading *r, const char *text, size_t len)
{
    enum pm_status status = pm_pif_read_text(r->pif, r->overlay->name, text, len, r->err);
    if (status != PM_OK)
        return status;
    if (pm_pif_n_mappings(r->pif))
        return refuse(r, PM_ERR_FORMAT, "it has records MAPPING: an overlay maps by 'match'");
    status = find_level(r);
    if (status != PM_OK)
        return status;
    status = take_nouns(r);
    return status != PM_OK ? status : take_metrics(r);
}

enum pm_status pm_overlay_read_text(const char *name, const char *text, size_t len,
                                    struct pm_error *err, struct pm_overlay **ret_overlay)
{
    struct reading r = {.err = err, .pif = pm_pif_new(), .overlay = pm_alloc(sizeof *r.overlay)};
    enum pm_status status = PM_ERR_MEMORY;
    if (r.overlay)
        r.overlay->name = keep(&r, name);
    if (r.pif && r.overlay && r.overlay->name)
        status = read_all(&r, text, len);
    else
        status = no_memory(err);
    pm_map_release(&r.position);
    free(r.placed);
    pm_pif_free(r.pif);
    if (status != PM_OK)
        pm_overlay_free(r.overlay);
    else
        *ret_overlay = r.overlay;
    return status;
}

enum pm_status pm_overlay_read(const char *path, struct pm_error *err,
                               struct pm_overlay **ret_overlay)
{
    char *text;
    size_t len;
    enum pm_status status = pm_file_read_named(path, PM_OVERLAY_MOST_BYTES, err, &text, &len);
    if (status != PM_OK)
        return status;
    status = pm_overlay_read_text(path, text, len, err, ret_overlay);
    free(text);
    return status;
}

void pm_overlay_free(struct pm_overlay *overlay)
{
    if (!overlay)
        return;
    free(overlay->nouns);
    free(overlay->patterns);
    free(overlay->metrics);
    pm_arena_release(&overlay->arena);
    free(overlay);
}

/* --- formulas --- */

/* Are all names in it metrics of the graph? */
static bool is_measured(const struct pm_graph *graph, struct pm_str formula)
{
    for (size_t i = 0; i < formula.len;) {
        size_t n = strspn(formula.p + i, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                         "0123456789_.");
        char name[64];
        n = n > formula.len - i ? formula.len - i : n;
        bool is_name = n && !strchr("0123456789.", formula.p[i]);
        snprintf(name, sizeof name, "%.*s", (int)n, formula.p + i);
        if (is_name && (n >= sizeof name || pm_graph_find_metric(graph, name) == PM_NONE))
            return false;
        i += n ? n : 1;
    }
    return true;
}

static const struct pm_overlay_metric *metric_named(const struct pm_overlay *overlay,
                                                    struct pm_str name)
{
    for (uint32_t i = 0; i < overlay->n_metrics; i++)
        if (pm_str_is(name, overlay->metrics[i].name))
            return &overlay->metrics[i];
    return NULL;
}

static enum pm_status expand_one(const struct pm_overlay *overlay, const struct pm_graph *graph,
                                 const struct pm_overlay_metric *metric, struct pm_error *err,
                                 struct pm_buf *out)
{
    const char *value = metric->value;
    while (*value) {
        struct pm_str formula = next_alternative(&value);
        if (!formula.len || !is_measured(graph, formula))
            continue;
        if (!is_metric_name(formula)) /* as it is called in the archive */
            pm_buf_printf(out, "%s = ", metric->name);
        pm_buf_add(out, formula.p, formula.len);
        return PM_OK;
    }
    return pm_error_set(err, PM_ERR_NOT_FOUND,
                        "overlay '%s': nothing of what metric '%s' can be was measured: %s",
                        overlay->name, metric->name, metric->value);
}

enum pm_status pm_overlay_expand(const struct pm_overlay *overlay, const struct pm_graph *graph,
                                 const char *metrics, struct pm_error *err, struct pm_buf *out)
{
    for (const char *p = metrics; *p;) {
        size_t len = strcspn(p, ",");
        const struct pm_overlay_metric *metric = metric_named(overlay, trimmed(p, len));
        enum pm_status status = PM_OK;
        if (metric)
            status = expand_one(overlay, graph, metric, err, out);
        else
            pm_buf_add(out, p, len);
        if (status != PM_OK)
            return status;
        p += len;
        if (*p)
            pm_buf_add_byte(out, (unsigned char)*p++);
    }
    return PM_OK;
}
