/* Binaries: are they those that ran, what do they say about themselves, and the names of their
 * code with sleds. */
#include "binaries.h"

#include "bodies.h"
#include "call_paths.h"
#include "code.h"
#include "collector.h"
#include "debug.h"
#include "heap.h"
#include "model.h"
#include "pif.h"
#include "places.h"
#include "regions.h"
#include "routes.h"
#include "accesses.h"
#include "writer.h"

#include "format/pm_sled.h"
#include "mapping/archive/archive.h"
#include "mapping/base/arena.h"
#include "mapping/base/map.h"
#include "mapping/code/binary.h"
#include "mapping/code/blame.h"
#include "mapping/code/code_map.h"
#include "mapping/debuginfo/debuginfo.h"
#include "mapping/pif/pif.h"
#include "mapping/run/run_file.h"

#include <stdlib.h>
#include <sys/stat.h>

/* --- facts --- */

static enum pm_status import_binary(struct collector *c, struct collect_binary *binary)
{
    size_t n = pm_pif_n_nouns(binary->pif);
    uint32_t first = c->model->n_nouns + 1;
    if (n > UINT32_MAX - c->model->n_nouns || !pm_map_reserve(&binary->nouns, n))
        return collect_no_memory(c);
    for (size_t i = 0; i < n; i++) {
        struct pm_pif_noun noun;
        pm_pif_get_noun(binary->pif, i, &noun);
        if (!pm_map_put(&binary->nouns, noun.id, ++c->model->n_nouns))
            return collect_no_memory(c);
    }
    return collect_import(c, binary->pif, &binary->nouns, first, binary->row, binary->path);
}

/* Reads the compact PIF of the file that ran; what is sound of a damaged one is used. */
static enum pm_status read_facts(struct collector *c, struct collect_binary *binary)
{
    struct pm_error err = PM_ERROR_INIT;
    binary->pif = pm_pif_new();
    if (!binary->pif)
        return collect_no_memory(c);
    enum pm_status status = pm_pif_read_elf(binary->pif, binary->path, &err, NULL);
    binary->pif_state = "read";
    if (status == PM_ERR_MEMORY || pm_pif_failed(binary->pif)) {
        pm_error_release(&err);
        return collect_no_memory(c);
    }
    if (status == PM_ERR_NOT_FOUND) {
        binary->pif_state = "missing";
        if (binary->has_nouns)
            collect_warn(c,
                         "'%s' has sleds but no facts of the compiler (was it stripped?), so its "
                         "code has the names of its symbols",
                         binary->path);
    } else if (status != PM_OK) {
        binary->pif_state = "damaged";
        collect_warn(c, "the compiler's facts in '%s' are damaged, and used up to there: %s",
                     binary->path, pm_error_text(&err));
    }
    pm_error_release(&err);
    return import_binary(c, binary);
}

static enum pm_status read_map(struct collector *c, struct collect_binary *binary)
{
    struct pm_error err = PM_ERROR_INIT;
    enum pm_status status = pm_code_map_read_elf(binary->path, &err, &binary->map);
    if (status == PM_ERR_MEMORY) {
        pm_error_release(&err);
        return collect_no_memory(c);
    }
    size_t n_damaged = 0;
    const char *problem = status == PM_OK ? pm_code_map_problem(binary->map, &n_damaged) : NULL;
    binary->map_state = status == PM_ERR_NOT_FOUND ? "missing" : "read";
    if (status != PM_OK && status != PM_ERR_NOT_FOUND) {
        binary->map_state = "damaged";
        collect_warn(c, "the late map of '%s' cannot be read: %s", binary->path,
                     pm_error_text(&err));
    } else if (problem) {
        binary->map_state = "damaged";
        collect_warn(c, "%zu blocks of the late map of '%s' are damaged and left out: %s",
                     n_damaged, binary->path, problem);
    }
    pm_error_release(&err);
    return PM_OK;
}

/* --- is it the one that ran? --- */

static void tell_why_not(struct collector *c, const struct collect_binary *binary,
                         enum pm_binary_state state, const char *why)
{
    if (state == PM_BINARY_CHANGED)
        collect_warn(c,
                     "'%s' has changed since it ran%s%s, so its code has addresses and no names: "
                     "collect before you build again",
                     binary->path, *why ? ", " : "", why);
    else if (state == PM_BINARY_GONE)
        collect_warn(c,
                     "'%s' is no longer there, so its code has addresses and no names: collect "
                     "before you remove it",
                     binary->path);
    else
        collect_warn(c, "'%s' cannot be read (%s), so its code has addresses and no names",
                     binary->path, why);
}

enum pm_status collect_binary_read(struct collector *c, struct collect_binary *binary)
{
    if (binary->row)
        return PM_OK;
    char why[200];
    struct pm_binary_identity identity = {binary->build_id, binary->file_bytes, binary->mtime_ns};
    binary->row = ++c->binaries->n;
    if (binary->n_bad_sleds)
        collect_warn(c, "'%s' has %u damaged sled records, which were not measured", binary->path,
                     binary->n_bad_sleds);
    if (binary->is_runtime || binary->path[0] == '[') /* no file: [vdso], [perfmap] */
        return PM_OK;
    enum pm_binary_state state = pm_binary_check(binary->path, &identity, why, sizeof why);
    binary->same = state == PM_BINARY_SAME;
    if (!binary->same) {
        tell_why_not(c, binary, state, why);
        if (state == PM_BINARY_CHANGED)
            binary->pif_state = binary->map_state = "changed";
        return PM_OK;
    }
    size_t first_mapping = c->model->n_mappings;
    enum pm_status status = read_facts(c, binary);
    if (status == PM_OK)
        status = read_map(c, binary);
    if (status == PM_OK)
        status = collect_places_make(c, binary);
    if (status == PM_OK && binary->map)
        status = collect_regions_make(c, binary, first_mapping);
    return status == PM_OK && binary->map ? collect_mark_removed(c, binary) : status;
}

static bool is_perfmap_file(const char *path)
{
    return strncmp(collect_base_name(path), "libperfmap-rt.so", 16) == 0;
}

struct binary_parts {
    struct collect_binary binary;
    struct collect_places places;
    struct collect_regions regions;
    struct collect_accesses accesses;
    struct collect_code_keys codes;
    struct collect_calls calls;
    struct collect_routes routes;
    struct collect_body_calls body_calls;
};

enum pm_status collect_binary(struct collector *c, const struct pm_run_file_object *object,
                              struct collect_binary **ret_binary)
{
    const char *path = pm_intern_add(c->strings, object->path.p, object->path.len);
    if (!path)
        return collect_no_memory(c);
    struct collect_binary *binary = c->binaries->first;
    while (binary && (binary->path != path || !pm_str_eq(binary->build_id, object->build_id)))
        binary = binary->next;
    if (!binary) {
        struct binary_parts *parts = pm_arena_alloc(&c->arena, sizeof *parts);
        char *build_id = pm_arena_strndup(&c->arena, object->build_id.p, object->build_id.len);
        if (!parts || !build_id)
            return collect_no_memory(c);
        binary = &parts->binary;
        *binary = (struct collect_binary){
            .path = path,
            .build_id = {build_id, object->build_id.len},
            .file_bytes = object->file_bytes,
            .mtime_ns = object->mtime_ns,
            .n_sleds = object->n_sleds,
            .n_bad_sleds = object->n_bad_sleds,
            .is_runtime = object->kind == PM_RUN_OBJECT_RUNTIME || is_perfmap_file(path),
            .pif_state = "missing",
            .map_state = "missing",
            .places = &parts->places,
            .regions = &parts->regions,
            .accesses = &parts->accesses,
            .codes = &parts->codes,
            .calls = &parts->calls,
            .routes = &parts->routes,
            .body_calls = &parts->body_calls,
            .next = c->binaries->first,
        };
        c->binaries->first = binary;
    }
    binary->has_nouns |= object->n_nouns > 0 || object->n_sleds > 0;
    *ret_binary = binary;
    return PM_OK;
}

enum pm_status collect_binary_file(struct collector *c, const char *path)
{
    struct stat info;
    struct collect_binary *binary;
    if (stat(path, &info) != 0)
        return PM_OK;
    struct pm_run_file_object object = {
        .kind = PM_RUN_OBJECT_ELF,
        .path = pm_str_of(path),
        .file_bytes = (uint64_t)info.st_size,
        .mtime_ns = (uint64_t)info.st_mtim.tv_sec * 1000000000u + (uint64_t)info.st_mtim.tv_nsec,
    };
    enum pm_status status = collect_binary(c, &object, &binary);
    return status == PM_OK ? collect_binary_read(c, binary) : status;
}

/* --- rows --- */

static enum pm_status write_binary(struct collector *c, const struct collect_binary *binary)
{
    struct pm_buf hex = PM_BUF_INIT(4096);
    for (size_t i = 0; i < binary->build_id.len && i < 1024; i++)
        pm_buf_printf(&hex, "%02x", (unsigned char)binary->build_id.p[i]);
    if (hex.failed) {
        pm_buf_release(&hex);
        return collect_no_memory(c);
    }
    sqlite3_stmt *insert = c->writer->statements[INSERT_BINARY];
    sqlite3_bind_int64(insert, 1, binary->row);
    bind_text(insert, 2, binary->path);
    bind_text(insert, 3, hex.len ? hex.data : NULL);
    bind_number(insert, 4, binary->n_sleds);
    bind_number(insert, 5, binary->n_bad_sleds);
    bind_text(insert, 6, binary->pif_state);
    bind_text(insert, 7, binary->map_state);
    bind_text(insert, 8, binary->debug ? pm_debug_file(binary->debug) : NULL);
    bind_text(insert, 9, binary->debug ? pm_debug_problem(binary->debug) : binary->debug_problem);
    enum pm_status status = collect_insert(c, INSERT_BINARY);
    pm_buf_release(&hex);
    return status;
}

/* What debug information told is known only when all samples are placed. */
enum pm_status collect_binaries_end(struct collector *c)
{
    enum pm_status status = PM_OK;
    for (struct collect_binary *binary = c->binaries->first; binary && status == PM_OK;
         binary = binary->next)
        if (binary->row)
            status = write_binary(c, binary);
    return status;
}

void collect_binaries_release(struct collector *c)
{
    for (struct collect_binary *binary = c->binaries->first; binary; binary = binary->next) {
        pm_map_release(&binary->nouns);
        pm_map_release(&binary->variables);
        pm_pif_free(binary->pif);
        pm_code_map_free(binary->map);
        pm_debug_free(binary->debug);
        pm_blame_free(binary->blame);
        free(binary->debug_problem);
        collect_places_release(binary);
        collect_call_paths_release(binary);
        collect_routes_release(binary);
        collect_body_calls_release(binary);
        collect_heap_binary_release(binary);
        pm_map_release(&binary->codes->by_address);
        pm_map_release(&binary->codes->by_tuple);
        pm_map_release(&binary->codes->inlines);
        pm_map_release(&binary->codes->loops);
        pm_map_release(&binary->codes->callers);
    }
    pm_map_release(&c->binaries->lacking);
    free(c->codes->list);
    pm_map_release(&c->codes->calls);
}

/* --- code with sleds --- */

/* Code that no PIF explains: named by its symbol, else by its address. */
static enum pm_status add_unexplained(struct collector *c, struct collect_binary *binary,
                                      const struct pm_run_file_noun *noun, uint32_t *ret_row)
{
    struct pm_buf name = PM_BUF_INIT(1 << 16);
    const char *symbol = NULL;
    uint64_t offset = 0;
    enum pm_status status = PM_OK;
    if (binary->same && noun->address)
        status = collect_symbol_at(c, binary, noun->address, &symbol, &offset);
    if (status != PM_OK)
        return status;
    if (symbol)
        pm_buf_printf(&name, "%s+0x%llx in %s", symbol, (unsigned long long)offset,
                      collect_base_name(binary->path));
    else if (noun->address)
        pm_buf_printf(&name, "0x%llx in %s", (unsigned long long)noun->address,
                      collect_base_name(binary->path));
    else
        pm_buf_printf(&name, "#%016llx in %s", (unsigned long long)noun->id,
                      collect_base_name(binary->path));
    status = name.failed
                 ? collect_no_memory(c)
                 : collect_add_noun(c, noun->id, name.data,
                                    noun->kind == PM_SLED_LOOP_ENTER ? "loopcode" : "symbol",
                                    "code without PIF", binary->row, ret_row);
    pm_buf_release(&name);
    if (status == PM_OK && !pm_map_put(&binary->nouns, noun->id, *ret_row))
        return collect_no_memory(c);
    return status;
}

enum pm_status collect_code_noun(struct collector *c, struct collect_binary *binary,
                                 const struct pm_run_file_noun *noun, uint32_t *ret_row)
{
    if (binary) {
        *ret_row = pm_map_get(&binary->nouns, noun->id);
        return *ret_row ? PM_OK : add_unexplained(c, binary, noun, ret_row);
    }
    enum pm_status status = PM_OK;
    if (!c->model->unknown_noun)
        status = collect_add_noun(
            c, pm_pif_name_id("Base", "unknown code"), "unknown code", "unknown",
            "code that a damaged run file names and does not describe", 0, &c->model->unknown_noun);
    *ret_row = c->model->unknown_noun;
    return status;
}
