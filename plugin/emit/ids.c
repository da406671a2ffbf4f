/* The ids of nouns, by what they are. */
#include "ids.h"

/* "func" and "var" of the whole program, "symbol": a name, and the file that it is local to. */
static pm_id named(const char *kind, const char *name, const char *local_path)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, kind);
    pm_id_hash_string(&hash, name);
    if (local_path)
        pm_id_hash_string(&hash, local_path);
    return pm_id_hash_done(&hash);
}

static void add_point(struct pm_id_hash *hash, struct pm_text_point point)
{
    pm_id_hash_number(hash, point.line);
    pm_id_hash_number(hash, point.column);
}

/* What lies at a place in the text of a function; word: NULL, or what tells those at one place
 * apart. */
static pm_id placed(const char *kind, pm_id function, const char *path, struct pm_text_point place,
                    const char *word)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, kind);
    pm_id_hash_id(&hash, function);
    pm_id_hash_string(&hash, path);
    add_point(&hash, place);
    if (word)
        pm_id_hash_string(&hash, word);
    return pm_id_hash_done(&hash);
}

/* A part of another noun, by name or number. */
static pm_id part_named(const char *kind, pm_id whole, const char *name)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, kind);
    pm_id_hash_id(&hash, whole);
    pm_id_hash_string(&hash, name);
    return pm_id_hash_done(&hash);
}

static pm_id part_numbered(const char *kind, pm_id whole, unsigned index)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, kind);
    pm_id_hash_id(&hash, whole);
    pm_id_hash_number(&hash, index);
    return pm_id_hash_done(&hash);
}

pm_id pm_id_of_file(const char *path)
{
    return named("file", path, NULL);
}

pm_id pm_id_of_function(const char *linkage, const char *local_path)
{
    return named("func", linkage, local_path);
}

pm_id pm_id_of_loop(pm_id function, const char *path, struct pm_text_point place)
{
    return placed("loop", function, path, place, NULL);
}

pm_id pm_id_of_statement(pm_id function, const char *path, struct pm_text_point place)
{
    return placed("stmt", function, path, place, NULL);
}

pm_id pm_id_of_region(pm_id function, const char *path, struct pm_text_point place,
                      const char *construct)
{
    return placed("region", function, path, place, construct);
}

pm_id pm_id_of_symbol(const char *name, const char *local_path)
{
    return named("symbol", name, local_path);
}

static pm_id code_of(const char *kind, pm_id symbol, pm_id implemented)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, kind);
    pm_id_hash_id(&hash, symbol);
    pm_id_hash_id(&hash, implemented);
    return pm_id_hash_done(&hash);
}

pm_id pm_id_of_loopcode(pm_id symbol, pm_id loop)
{
    return code_of("loopcode", symbol, loop);
}

pm_id pm_id_of_loop_rest(pm_id symbol, pm_id loop)
{
    return code_of("looprest", symbol, loop);
}

pm_id pm_id_of_local(pm_id function, const char *name, struct pm_text_point place)
{
    return placed("var", function, name, place, NULL);
}

pm_id pm_id_of_global(const char *linkage, const char *local_path)
{
    return named("var", linkage, local_path);
}

pm_id pm_id_of_member(pm_id block, const char *name)
{
    return part_named("var", block, name);
}

pm_id pm_id_of_type(const char *name, const char *path, const struct pm_text_point *first_field)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "type");
    pm_id_hash_string(&hash, name);
    pm_id_hash_string(&hash, path);
    if (first_field)
        add_point(&hash, *first_field);
    return pm_id_hash_done(&hash);
}

pm_id pm_id_of_field(pm_id type, const char *name)
{
    return part_named("field", type, name);
}

pm_id pm_id_of_parameter(pm_id function, unsigned index)
{
    return part_numbered("parameter", function, index);
}

pm_id pm_id_of_pointed(pm_id pointer, unsigned index)
{
    return pointer != 0 ? part_numbered("pointed", pointer, index) : 0;
}

pm_id pm_id_of_bound(const char *type, const char *binding, unsigned index)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "bound");
    pm_id_hash_string(&hash, type);
    pm_id_hash_string(&hash, binding);
    pm_id_hash_number(&hash, index);
    return pm_id_hash_done(&hash);
}

pm_id pm_id_of_variable_arguments(pm_id function)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "variable arguments");
    pm_id_hash_id(&hash, function);
    return pm_id_hash_done(&hash);
}

pm_id pm_id_of_range(pm_id block, uint64_t offset, uint64_t size)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "range");
    pm_id_hash_id(&hash, block);
    pm_id_hash_number(&hash, offset);
    pm_id_hash_number(&hash, size);
    return pm_id_hash_done(&hash);
}

pm_id pm_id_of_elsewhere(void)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "elsewhere");
    return pm_id_hash_done(&hash);
}

pm_id pm_id_of_returned(pm_id function)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "returned");
    pm_id_hash_id(&hash, function);
    return pm_id_hash_done(&hash);
}
