/* Values that several outputs in JSON have. */
#include "show.h"

#include "mapping/base/json.h"
#include "mapping/code/vectors.h"

void show_known_json(struct pm_json *json, const char *key, int64_t value)
{
    if (value == PM_UNKNOWN)
        pm_json_null(json, key);
    else
        pm_json_i64(json, key, value);
}

void show_vectors_json(const struct pm_vectors *v, struct pm_json *json)
{
    if (!v->n_instructions) {
        pm_json_null(json, "vectors");
        return;
    }
    pm_json_object(json, "vectors");
    pm_json_u64(json, "n_instructions", v->n_instructions);
    pm_json_u64(json, "n_vector_instructions", v->n_vector);
    pm_json_u64(json, "n_scalar_float_instructions", v->n_scalar);
    pm_json_u64(json, "n_vector_moves", v->n_moves);
    pm_json_u64(json, "vector_bytes", v->width_bytes);
    pm_json_u64(json, "element_bytes", v->element_bytes);
    pm_json_end(json);
}

void show_foci_json(struct pm_json *json, const char *key, const char *const *foci)
{
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    pm_view_add_foci(foci, &text);
    pm_json_string(json, key, text.data);
    pm_buf_release(&text);
}
