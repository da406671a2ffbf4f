#include "vectors.h"

#include <string.h>

static bool starts_with_any(const char *text, const char *const *starts)
{
    for (; *starts; starts++)
        if (!strncmp(text, *starts, strlen(*starts)))
            return true;
    return false;
}

static uint32_t width_of(const char *operands)
{
    if (strstr(operands, "zmm"))
        return 64;
    if (strstr(operands, "ymm"))
        return 32;
    return strstr(operands, "xmm") ? 16 : 0;
}

/* Conversions are not listed: GCC converts one number with instructions for vectors. Nor are
 * and, or, xor: they change signs. */
static const char *const float_operations[] = {
    "add",   "sub",   "mul",    "div",    "sqrt", "min",   "max",   "hadd", "hsub",
    "fmadd", "fmsub", "fnmadd", "fnmsub", "rcp",  "rsqrt", "round", "cmp",  NULL};
static const char *const integer_operations[] = {"padd", "psub",   "pmul",   "pmadd", "pmin",
                                                 "pmax", "pcmpeq", "pcmpgt", "psad",  "pavg",
                                                 "pabs", "psll",   "psrl",   "psra",  NULL};
static const char *const no_operations[] = {"pslldq", "psrldq", NULL}; /* of all bytes, as one */
static const char *const moves[] = {"movup", "movap", "movdqu", "movdqa", "lddqu", NULL};

/* Bytes of what the last letter stands for: paddd, pmuludq; 0: none of them. */
static uint32_t integer_bytes(const char *mnemonic)
{
    if (!strncmp(mnemonic, "psad", 4))
        return 8; /* sums of bytes */
    switch (mnemonic[strlen(mnemonic) - 1]) {
    case 'b':
        return 1;
    case 'w':
        return 2;
    case 'd':
        return 4;
    case 'q':
        return 8;
    default:
        return 0;
    }
}

static void note_vector(struct pm_vectors *v, uint32_t width_bytes, uint32_t element_bytes,
                        bool is_float)
{
    v->n_vector++;
    if (width_bytes < v->width_bytes && v->element_bytes)
        return;
    v->width_bytes = width_bytes;
    v->element_bytes = element_bytes;
    v->is_float = is_float;
}

void pm_vectors_count(void *vectors, const char *mnemonic, const char *operands)
{
    struct pm_vectors *v = vectors;
    const char *name = mnemonic + (*mnemonic == 'v'); /* AVX */
    size_t len = strlen(name);
    uint32_t width_bytes = width_of(operands);
    v->n_instructions++;
    if (!width_bytes || len < 4)
        return;
    const char *end = name + len - 2;
    bool is_double = end[1] == 'd';
    if (starts_with_any(name, float_operations) && *end == 'p' && (is_double || end[1] == 's'))
        note_vector(v, width_bytes, is_double ? 8 : 4, true);
    else if (starts_with_any(name, float_operations) && *end == 's' && (is_double || end[1] == 's'))
        v->n_scalar++;
    else if (starts_with_any(name, integer_operations) && !starts_with_any(name, no_operations) &&
             integer_bytes(name))
        note_vector(v, width_bytes, integer_bytes(name), false);
    else if (starts_with_any(name, moves) && strchr(operands, '[')) {
        v->n_moves++;
        if (!v->element_bytes && width_bytes > v->width_bytes)
            v->width_bytes = width_bytes;
    }
}

static const char *element_word(const struct pm_vectors *v)
{
    if (v->is_float)
        return v->element_bytes == 8 ? "doubles" : "floats";
    switch (v->element_bytes) {
    case 1:
        return "integers of 1 byte";
    case 2:
        return "integers of 2 bytes";
    case 4:
        return "integers of 4 bytes";
    default:
        return "integers of 8 bytes";
    }
}

bool pm_vectors_say(const struct pm_vectors *v, bool expects_vectors, struct pm_buf *out)
{
    if (v->n_vector) {
        pm_buf_printf(out,
                      "vectorised: %u of %u instructions compute on vectors of %u bytes (%u %s)",
                      v->n_vector, v->n_instructions, v->width_bytes,
                      v->width_bytes / v->element_bytes, element_word(v));
        if (v->n_scalar)
            pm_buf_printf(out, ", %u on single floating-point numbers", v->n_scalar);
    } else if (v->n_scalar) {
        pm_buf_printf(out,
                      "not vectorised: %u of %u instructions compute on single floating-point "
                      "numbers, none on vectors",
                      v->n_scalar, v->n_instructions);
    } else if (v->n_moves) {
        pm_buf_printf(out, "moves %u bytes at a time, computes on no vectors", v->width_bytes);
    } else if (v->n_instructions && expects_vectors) {
        pm_buf_printf(out, "not vectorised: none of %u instructions computes on vectors",
                      v->n_instructions);
    } else {
        return false;
    }
    return true;
}
