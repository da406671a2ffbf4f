/* Code without late map: nouns from debug information, else from symbols. */
#include "debug.h"

#include "binaries.h"
#include "call_paths.h"
#include "code.h"
#include "collector.h"
#include "model.h"
#include "places.h"

#include "format/pm_id.h"
#include "format/pm_map.h"
#include "mapping/base/arena.h"
#include "mapping/base/map.h"
#include "mapping/base/path.h"
#include "mapping/base/reasons.h"
#include "mapping/code/blame.h"
#include "mapping/code/code_map.h"
#include "mapping/debuginfo/debuginfo.h"
#include "mapping/pif/pif.h"

#include <stdlib.h>

enum { MAX_FRAMES = 32, MAX_LOOPS = 32 };

static enum pm_status open_debug(struct collector *c, struct collect_binary *binary)
{
    if (binary->debug_tried)
        return PM_OK;
    binary->debug_tried = true;
    struct pm_buf hex = PM_BUF_INIT(4096);
    for (size_t i = 0; i < binary->build_id.len && i < 1024; i++)
        pm_buf_printf(&hex, "%02x", (unsigned char)binary->build_id.p[i]);
    struct pm_error err = PM_ERROR_INIT;
    enum pm_status status =
        hex.failed ? PM_ERR_MEMORY
                   : pm_debug_open(binary->path, hex.len ? hex.data : NULL, &err, &binary->debug);
    if (status != PM_OK && status != PM_ERR_MEMORY) {
        const char *text = pm_error_text(&err);
        binary->debug_problem = pm_strndup(text, strlen(text));
        status = binary->debug_problem ? PM_OK : PM_ERR_MEMORY;
    }
    pm_error_release(&err);
    pm_buf_release(&hex);
    return status == PM_ERR_MEMORY ? collect_no_memory(c) : status;
}

static const char *function_name(const struct pm_debug_frame *frame)
{
    return frame->function ? frame->function : frame->linkage;
}

/* Its file as the compiler's facts have it: without detours. */
static bool make_file_straight(struct collector *c, struct pm_debug_frame *frame)
{
    const char *file = frame->file;
    if (!file || file[0] != '/' ||
        (!strstr(file, "/../") && !strstr(file, "/./") && !strstr(file, "//")))
        return true;
    struct pm_buf path = PM_BUF_INIT(1 << 16);
    pm_path_add_absolute(&path, "", file);
    frame->file = path.failed ? NULL : pm_intern_add(c->strings, path.data, path.len);
    pm_buf_release(&path);
    return frame->file != NULL;
}

/* Compilers split functions, and put one part back into the other (libc's mmap): that is no call of
 * itself. The function's own frame has the place of the inner one. Returns how many are left. */
static size_t join_split(struct pm_debug_frame *frames, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const struct pm_debug_frame *inner = kept ? &frames[kept - 1] : NULL;
        bool is_split = inner && inner->is_inlined && inner->source == PM_DEBUG_DWARF &&
                        function_name(inner) && function_name(&frames[i]) &&
                        strcmp(function_name(inner), function_name(&frames[i])) == 0 &&
                        inner->declared_line_no != 0 &&
                        inner->declared_line_no == frames[i].declared_line_no;
        struct pm_debug_frame frame = frames[i];
        if (is_split) {
            frame.file = inner->file;
            frame.line_no = inner->line_no;
            frame.column_no = inner->column_no;
            kept--;
        }
        frames[kept++] = frame;
    }
    return kept;
}

/* What inlined what at an address, the innermost first: up to MAX_FRAMES. */
static enum pm_status find_frames(struct collector *c, struct collect_binary *binary,
                                  uint64_t address, struct pm_debug_frame *ret_frames,
                                  size_t *ret_n)
{
    *ret_n = binary->debug ? pm_debug_find(binary->debug, address, ret_frames, MAX_FRAMES) : 0;
    for (size_t i = 0; i < *ret_n; i++)
        if (!make_file_straight(c, &ret_frames[i]))
            return collect_no_memory(c);
    *ret_n = join_split(ret_frames, *ret_n);
    return PM_OK;
}

enum pm_status collect_symbol_at(struct collector *c, struct collect_binary *binary,
                                 uint64_t address, const char **ret_name, uint64_t *ret_offset)
{
    struct pm_debug_frame frames[MAX_FRAMES];
    size_t n = 0;
    enum pm_status status = open_debug(c, binary);
    if (status != PM_OK)
        return status;
    status = find_frames(c, binary, address, frames, &n);
    const struct pm_debug_frame *symbol = n ? &frames[n - 1] : NULL;
    *ret_name = symbol ? symbol->linkage ? symbol->linkage : symbol->function : NULL;
    *ret_offset = *ret_name ? address - symbol->low : 0;
    return status;
}

/* --- level Source --- */

static const char *spelling_of(const struct collect_binary *binary, const char *file);

/* The entry of a function is where it is declared, whatever is inlined at its beginning; a sled
 * there has the line of what stands before the function. */
static enum pm_status line_by_debug(struct collector *c, struct collect_binary *binary,
                                    uint64_t address, const struct pm_code_range *range,
                                    const char **ret_file, uint32_t *ret_line_no)
{
    struct pm_debug_frame frames[MAX_FRAMES];
    size_t n;
    enum pm_status status = find_frames(c, binary, address, frames, &n);
    bool is_entry = n != 0 && frames[n - 1].low == address;
    if (is_entry && range && range->tuple->kind == PM_MAP_SLED)
        status = find_frames(c, binary, range->address + range->size_bytes, frames, &n);
    if (status != PM_OK || n == 0)
        return status;
    const struct pm_debug_frame *frame = &frames[is_entry ? n - 1 : 0];
    uint32_t line_no = frame->line_no;
    if (is_entry && frame->declared_line_no)
        line_no = frame->declared_line_no;
    if (!line_no || !frame->file)
        return PM_OK;
    *ret_line_no = line_no;
    *ret_file = collect_intern(c, spelling_of(binary, frame->file));
    return *ret_file ? PM_OK : collect_no_memory(c);
}

/* Of calls that GCC makes for OpenMP the late map has the line of the statement around them, so
 * debug information comes first. */
enum pm_status collect_line_of(struct collector *c, struct collect_binary *binary, uint64_t address,
                               const char **ret_file, uint32_t *ret_line_no)
{
    const struct pm_code_range *range = NULL;
    *ret_file = NULL;
    *ret_line_no = 0;
    enum pm_status status = collect_binary_read(c, binary);
    if (status != PM_OK)
        return status;
    if ((status = open_debug(c, binary)) != PM_OK)
        return status;
    if (binary->map)
        range = pm_code_map_find(binary->map, address);
    status = line_by_debug(c, binary, address, range, ret_file, ret_line_no);
    if (status != PM_OK || *ret_file || !range)
        return status;
    *ret_line_no = range->tuple->place.line_no;
    if (*ret_line_no)
        *ret_file = collect_place_file(c, binary, range->tuple->place.file, &status);
    return status;
}

/* Ids are those that the compiler's facts would have, so that both are one noun where both are
 * there. */
static pm_id file_id(const char *file)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "file");
    pm_id_hash_string(&hash, file);
    return pm_id_hash_done(&hash);
}

/* As the facts spell it: by the absolute name, rows of one file would be two. */
static const char *spelling_of(const struct collect_binary *binary, const char *file)
{
    struct pm_pif_noun noun;
    bool is_known = file && binary->pif && pm_pif_find_noun(binary->pif, file_id(file), &noun);
    return is_known && noun.file ? noun.file : file;
}

/* A noun of the binary by id, made when it is new. */
static enum pm_status source_noun(struct collector *c, struct collect_binary *binary,
                                  const struct pm_pif_noun *noun, uint32_t parent,
                                  uint32_t *ret_row)
{
    *ret_row = pm_map_get(&binary->nouns, noun->id);
    if (*ret_row)
        return PM_OK;
    *ret_row = ++c->model->n_nouns;
    if (!pm_map_put(&binary->nouns, noun->id, *ret_row))
        return collect_no_memory(c);
    struct pm_pif_noun spelt = *noun;
    spelt.file = spelling_of(binary, noun->file);
    return collect_write_noun(c, *ret_row, &spelt, c->model->source_level, binary->row, parent);
}

static enum pm_status file_row(struct collector *c, struct collect_binary *binary, const char *file,
                               uint32_t *ret_row)
{
    struct pm_pif_noun noun = {.id = file_id(file), .name = file, .kind = "file", .file = file};
    return source_noun(c, binary, &noun, 0, ret_row);
}

static enum pm_status function_row(struct collector *c, struct collect_binary *binary,
                                   const struct pm_debug_frame *frame, const char *file,
                                   uint32_t *ret_row)
{
    const char *linkage = frame->linkage ? frame->linkage : frame->function;
    uint32_t parent = 0;
    *ret_row = collect_function_named(binary, linkage);
    if (*ret_row)
        return PM_OK;
    enum pm_status status = file ? file_row(c, binary, file, &parent) : PM_OK;
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "func");
    pm_id_hash_string(&hash, linkage);
    if (file)
        pm_id_hash_string(&hash, file);
    struct pm_pif_noun noun = {.id = pm_id_hash_done(&hash),
                               .name = function_name(frame),
                               .kind = "function",
                               .linkage = linkage,
                               .file = file,
                               .line = frame->declared_line_no};
    return status == PM_OK ? source_noun(c, binary, &noun, parent, ret_row) : status;
}

static enum pm_status line_row(struct collector *c, struct collect_binary *binary,
                               const struct pm_debug_frame *frame, uint32_t function,
                               uint32_t *ret_row)
{
    struct pm_buf name = PM_BUF_INIT(1 << 16);
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "line");
    pm_id_hash_string(&hash, frame->linkage ? frame->linkage : frame->function);
    pm_id_hash_string(&hash, frame->file);
    pm_id_hash_number(&hash, frame->line_no);
    pm_buf_printf(&name, "%s:%u", collect_base_name(frame->file), frame->line_no);
    struct pm_pif_noun noun = {.id = pm_id_hash_done(&hash),
                               .name = name.data,
                               .kind = "line",
                               .file = frame->file,
                               .line = frame->line_no};
    enum pm_status status =
        name.failed ? collect_no_memory(c) : source_noun(c, binary, &noun, function, ret_row);
    pm_buf_release(&name);
    return status;
}

/* What the innermost frame tells: its line, or its function. */
static enum pm_status map_frame(struct collector *c, struct collect_code *code,
                                const struct pm_debug_frame *frame)
{
    struct collect_mapping mapping = {.source = code->sentence, .origin = "debug"};
    uint32_t function, row;
    if (frame->source != PM_DEBUG_DWARF || !function_name(frame))
        return PM_OK;
    enum pm_status status = collect_need_source(c);
    if (status == PM_OK)
        status = function_row(c, code->binary, frame, frame->file, &function);
    row = function;
    if (status == PM_OK && frame->file && frame->line_no)
        status = line_row(c, code->binary, frame, function, &row);
    if (status == PM_OK)
        status = collect_short_sentence(c, c->model->source_executes, row, &mapping.destination);
    if (status == PM_OK)
        status = collect_add_mapping(c, &mapping);
    code->n_mappings += status == PM_OK;
    return status;
}

/* --- loops, told from the machine code --- */

/* Where a loop is in the source: in the innermost frame that its first instruction and its jump
 * back have in common, at the lesser of their lines: a `for` or `while` has its test, and so the
 * jump, at its own line, and `do` stands before its body. */
struct loop_place {
    uint32_t function; /* row; 0: nothing is known */
    const char *file;
    uint32_t line_no;
    const char *linkage;
    size_t n_frames; /* from the outermost on, that are around it */
};

/* From the outermost on: equal functions, inlined at equal places. */
static size_t n_common(const struct pm_debug_frame *a, size_t n_a, const struct pm_debug_frame *b,
                       size_t n_b)
{
    size_t n = 0;
    for (; n < n_a && n < n_b; n++) {
        const struct pm_debug_frame *x = &a[n_a - 1 - n], *y = &b[n_b - 1 - n];
        const char *x_name = function_name(x), *y_name = function_name(y);
        if (!x_name || !y_name || strcmp(x_name, y_name) != 0)
            break;
        if (n > 0 && (x[1].line_no != y[1].line_no || x[1].column_no != y[1].column_no))
            break;
    }
    return n;
}

static enum pm_status place_of_loop(struct collector *c, struct collect_binary *binary,
                                    const struct pm_blame_loop *loop, struct loop_place *ret_place)
{
    struct pm_debug_frame heads[MAX_FRAMES], lasts[MAX_FRAMES];
    size_t n_heads, n_lasts;
    *ret_place = (struct loop_place){0};
    enum pm_status status = find_frames(c, binary, loop->head, heads, &n_heads);
    if (status != PM_OK)
        return status;
    status = find_frames(c, binary, loop->last, lasts, &n_lasts);
    size_t n = status == PM_OK ? n_common(heads, n_heads, lasts, n_lasts) : 0;
    if (n == 0)
        return status;
    const struct pm_debug_frame *head = &heads[n_heads - n], *last = &lasts[n_lasts - n];
    if (head->source != PM_DEBUG_DWARF || !head->file || !last->file ||
        strcmp(head->file, last->file) != 0)
        return PM_OK;
    uint32_t line_no = head->line_no && (!last->line_no || head->line_no < last->line_no)
                           ? head->line_no
                           : last->line_no;
    if (!line_no)
        return PM_OK;
    *ret_place = (struct loop_place){.file = head->file,
                                     .line_no = line_no,
                                     .linkage = head->linkage ? head->linkage : head->function,
                                     .n_frames = n};
    status = collect_need_source(c);
    return status == PM_OK ? function_row(c, binary, head, head->file, &ret_place->function)
                           : status;
}

/* Copies of one loop (what a vectorised one leaves over, inlined ones) are one noun. depth: how
 * many loops around it are at this place, too. */
static enum pm_status loop_noun(struct collector *c, struct collect_binary *binary,
                                const struct loop_place *place, uint32_t depth, uint32_t parent,
                                uint32_t *ret_row)
{
    struct pm_buf name = PM_BUF_INIT(1 << 16);
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "code loop");
    pm_id_hash_string(&hash, place->linkage);
    pm_id_hash_string(&hash, place->file);
    pm_id_hash_number(&hash, place->line_no);
    pm_id_hash_number(&hash, depth);
    pm_buf_printf(&name, "loop:%s:%u", collect_base_name(place->file), place->line_no);
    if (depth)
        pm_buf_printf(&name, "#%u", depth + 1);
    struct pm_pif_noun noun = {.id = pm_id_hash_done(&hash),
                               .name = name.data,
                               .kind = "loop",
                               .description = "told from the machine code and debug information",
                               .type = COLLECT_LOOP_OF_CODE,
                               .file = place->file,
                               .line = place->line_no};
    enum pm_status status =
        name.failed ? collect_no_memory(c) : source_noun(c, binary, &noun, parent, ret_row);
    pm_buf_release(&name);
    return status;
}

/* Nouns of loops, the innermost first; each lies in the next one of its function, or in that. */
static enum pm_status loop_nouns(struct collector *c, struct collect_binary *binary,
                                 const struct pm_blame_loop *loops, size_t n)
{
    struct loop_place places[MAX_LOOPS];
    uint32_t rows[MAX_LOOPS];
    enum pm_status status = PM_OK;
    for (size_t i = n; i-- > 0 && status == PM_OK;) {
        uint32_t depth = 0, parent = 0;
        status = place_of_loop(c, binary, &loops[i], &places[i]);
        rows[i] = 0;
        if (status != PM_OK || !places[i].function)
            continue;
        for (size_t k = i + 1; k < n; k++) {
            if (places[k].function != places[i].function)
                continue;
            depth += places[k].line_no == places[i].line_no;
            parent = parent ? parent : rows[k];
        }
        status =
            loop_noun(c, binary, &places[i], depth, parent ? parent : places[i].function, &rows[i]);
    }
    for (size_t i = 0; i < n && status == PM_OK; i++)
        if (!pm_map_put(&binary->codes->loops, loops[i].head, rows[i] + 1))
            status = collect_no_memory(c);
    return status;
}

/* A loop around an address, and the position of the frame of the address that it lies in. */
struct code_loop {
    uint64_t head;
    uint32_t row;
    size_t frame; /* SIZE_MAX: of none */
};

/* As that of an address with these frames. */
static enum pm_status describe_loop(struct collector *c, struct collect_binary *binary,
                                    const struct pm_blame_loop *loop,
                                    const struct pm_debug_frame *frames, size_t n,
                                    struct code_loop *ret_loop)
{
    struct pm_debug_frame heads[MAX_FRAMES];
    struct loop_place place;
    size_t n_heads;
    enum pm_status status = find_frames(c, binary, loop->head, heads, &n_heads);
    if (status != PM_OK)
        return status;
    status = place_of_loop(c, binary, loop, &place);
    if (status != PM_OK)
        return status;
    bool is_around = n_common(frames, n, heads, n_heads) >= place.n_frames;
    *ret_loop = (struct code_loop){loop->head, pm_map_get(&binary->codes->loops, loop->head) - 1,
                                   is_around ? n - place.n_frames : SIZE_MAX};
    return PM_OK;
}

/* Loops around the address whose places are known, innermost first. */
static enum pm_status find_loops(struct collector *c, struct collect_binary *binary,
                                 uint64_t address, const struct pm_debug_frame *frames, size_t n,
                                 struct code_loop *ret_loops, size_t *ret_n)
{
    const struct pm_debug_frame *symbol = &frames[n - 1];
    struct pm_blame_loop loops[MAX_LOOPS];
    *ret_n = 0;
    if (symbol->source != PM_DEBUG_DWARF || symbol->low >= symbol->high)
        return PM_OK;
    enum pm_status status = collect_need_blame(c, binary);
    if (status != PM_OK || !binary->blame)
        return status;
    size_t n_loops = pm_blame_loops(binary->blame, symbol->low, symbol->high - symbol->low, address,
                                    loops, MAX_LOOPS);
    if (n_loops && !pm_map_get(&binary->codes->loops, loops[0].head))
        status = loop_nouns(c, binary, loops, n_loops);
    for (size_t i = 0; i < n_loops; i++) {
        if (status != PM_OK)
            return status;
        if (pm_map_get(&binary->codes->loops, loops[i].head) > 1)
            status = describe_loop(c, binary, &loops[i], frames, n, &ret_loops[(*ret_n)++]);
    }
    return status;
}

static enum pm_status map_loop(struct collector *c, struct collect_code *code, uint32_t loop)
{
    struct collect_mapping mapping = {.source = code->sentence, .origin = "debug"};
    enum pm_status status =
        collect_short_sentence(c, c->model->source_executes, loop, &mapping.destination);
    if (status == PM_OK)
        status = collect_add_mapping(c, &mapping);
    code->n_mappings += status == PM_OK;
    return status;
}

/* --- calls: of code without facts nobody knows what they led to --- */

static uint64_t caller_key(const struct pm_debug_frame *symbol, const char *function, uint64_t loop)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "caller");
    pm_id_hash_number(&hash, symbol->low);
    pm_id_hash_string(&hash, function);
    pm_id_hash_number(&hash, loop);
    return pm_id_hash_done(&hash);
}

static const char *key_name(const struct pm_debug_frame *frame)
{
    const char *name = frame->linkage ? frame->linkage : frame->function;
    return name ? name : "";
}

/* The functions and loops that a call lies in. */
static enum pm_status note_call(struct collector *c, struct collect_binary *binary,
                                const struct pm_debug_frame *symbol, uint64_t address)
{
    struct pm_map *callers = &binary->codes->callers;
    struct pm_debug_frame frames[MAX_FRAMES];
    struct pm_blame_loop loops[MAX_LOOPS];
    size_t n = binary->debug ? pm_debug_find(binary->debug, address, frames, MAX_FRAMES) : 0;
    n = join_split(frames, n);
    size_t n_loops = pm_blame_loops(binary->blame, symbol->low, symbol->high - symbol->low, address,
                                    loops, MAX_LOOPS);
    bool ok = pm_map_put(callers, caller_key(symbol, key_name(symbol), 0), 1);
    for (size_t i = 0; i < n && ok; i++)
        ok = pm_map_put(callers, caller_key(symbol, key_name(&frames[i]), 0), 1);
    for (size_t i = 0; i < n_loops && ok; i++)
        ok = pm_map_put(callers, caller_key(symbol, "", loops[i].head), 1);
    return ok ? PM_OK : collect_no_memory(c);
}

/* *ret_known: whether its instructions can be read. Once for each symbol. */
static enum pm_status note_calls(struct collector *c, struct collect_binary *binary,
                                 const struct pm_debug_frame *symbol, bool *ret_known)
{
    uint64_t size_bytes = symbol->high - symbol->low, address = symbol->low;
    uint64_t key = caller_key(symbol, "", 0);
    *ret_known = false;
    if (symbol->low >= symbol->high)
        return PM_OK;
    enum pm_status status = collect_need_blame(c, binary);
    if (status != PM_OK)
        return status;
    *ret_known =
        binary->blame && pm_blame_instruction(binary->blame, symbol->low, size_bytes, symbol->low);
    if (!*ret_known || pm_map_get(&binary->codes->callers, key))
        return PM_OK;
    if (!pm_map_put(&binary->codes->callers, key, 1))
        return collect_no_memory(c);
    for (; pm_blame_next_call(binary->blame, symbol->low, size_bytes, &address); address++) {
        status = note_call(c, binary, symbol, address);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* --- level Base --- */

/* What every program of a language uses: it works on what it is passed, and on no data of the
 * program's own. */
static bool is_language_library(const struct collect_binary *binary)
{
    static const char *const names[] = {
        "libc.so",        "libc-2",         "libm.so",    "libm-2",       "libmvec",
        "ld-linux",       "ld-2",           "libpthread", "libstdc++.so", "libgcc_s.so",
        "libgfortran.so", "libquadmath.so", "libgomp.so", "libc++.so",    "[vdso]"};
    const char *name = collect_base_name(binary->path);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* The linker's jumps to libraries, and what the compiler links to each program: its names begin
 * with two underscores, as Fortran's procedures of modules do, too. */
static bool is_of_tools(const struct pm_debug_frame *symbol)
{
    const char *name = symbol->linkage ? symbol->linkage : symbol->function;
    if (symbol->source == PM_DEBUG_DWARF || !name)
        return false;
    size_t len = strlen(name);
    return (len > 4 && strcmp(name + len - 4, "@plt") == 0) ||
           (strncmp(name, "__", 2) == 0 && !strstr(name, "_MOD_"));
}

/* NULL: it touches what it is passed, and no more. */
static const char *type_of_code(const struct collect_binary *binary,
                                const struct pm_debug_frame *frames, size_t n)
{
    bool is_tool = n ? is_of_tools(&frames[n - 1]) : !binary->pif;
    return is_tool || binary->is_runtime || is_language_library(binary) ? NULL
                                                                        : PM_CODE_OF_UNKNOWN_DATA;
}

/* Functions of several files may have one name. */
static void hash_place(struct pm_id_hash *hash, const struct pm_debug_frame *frame)
{
    pm_id_hash_string(hash, key_name(frame));
    pm_id_hash_string(hash, frame->file ? frame->file : "");
    pm_id_hash_number(hash, frame->declared_line_no);
}

/* A noun of the binary by name; one for each line of a function that has lines. frames: the
 * innermost that the name is of first, the symbol's last. */
static enum pm_status code_row(struct collector *c, struct collect_code *code, const char *name,
                               const char *type, const struct pm_debug_frame *frames, size_t n,
                               uint32_t parent)
{
    struct collect_binary *binary = code->binary;
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "debug code");
    pm_id_hash_string(&hash, name);
    if (n)
        hash_place(&hash, &frames[0]);
    if (n > 1)
        hash_place(&hash, &frames[n - 1]);
    struct pm_pif_noun noun = {
        .id = pm_id_hash_done(&hash), .name = name, .kind = "code", .type = type};
    code->noun = pm_map_get(&binary->nouns, noun.id);
    if (code->noun)
        return collect_short_sentence(c, c->model->executes, code->noun, &code->sentence);
    code->noun = ++c->model->n_nouns;
    if (!pm_map_put(&binary->nouns, noun.id, code->noun))
        return collect_no_memory(c);
    enum pm_status status =
        collect_write_noun(c, code->noun, &noun, c->model->base_level, binary->row, parent);
    return status == PM_OK
               ? collect_short_sentence(c, c->model->executes, code->noun, &code->sentence)
               : status;
}

static void add_code_name(struct pm_buf *out, const struct collect_binary *binary,
                          const struct pm_debug_frame *frames, size_t n, bool with_line,
                          uint64_t loop_head)
{
    const struct pm_debug_frame *symbol = n ? &frames[n - 1] : NULL;
    if (symbol && function_name(symbol))
        pm_buf_add_str(out, function_name(symbol));
    else
        pm_buf_add_str(out, "unknown code");
    if (with_line && n > 1 && function_name(&frames[0]))
        pm_buf_printf(out, "/%s", function_name(&frames[0]));
    if (with_line)
        pm_buf_printf(out, ":%u", frames[0].line_no);
    if (with_line && loop_head)
        pm_buf_printf(out, ", loop at 0x%llx", (unsigned long long)loop_head);
    pm_buf_printf(out, " (%s)", collect_base_name(binary->path));
}

static enum pm_status make_noun(struct collector *c, struct collect_code *code,
                                const struct pm_debug_frame *frames, size_t n, uint64_t loop_head)
{
    struct pm_buf name = PM_BUF_INIT(1 << 16);
    bool has_line = n && frames[0].line_no;
    const char *type = type_of_code(code->binary, frames, n);
    struct collect_code whole = {.binary = code->binary};
    add_code_name(&name, code->binary, frames, n, false, 0);
    const struct pm_debug_frame *symbol = n ? &frames[n - 1] : NULL;
    enum pm_status status =
        name.failed ? collect_no_memory(c)
                    : code_row(c, &whole, name.data, type, symbol, n != 0, code->symbol);
    if (has_line && status == PM_OK) {
        pm_buf_clear(&name);
        add_code_name(&name, code->binary, frames, n, true, loop_head);
        status = name.failed ? collect_no_memory(c)
                             : code_row(c, code, name.data, type, frames, n, whole.noun);
    } else {
        code->noun = whole.noun;
        code->sentence = whole.sentence;
    }
    code->whole = whole.noun;
    pm_buf_release(&name);
    return status;
}

/* Its symbol, where the facts know it: compiled with the plugin, but without a map. */
static void find_symbol(struct collect_code *code, const struct pm_debug_frame *frame)
{
    struct pm_pif_noun noun;
    const char *linkage = frame->linkage ? frame->linkage : frame->function;
    if (linkage && collect_symbol_named(code->binary, linkage, &noun)) {
        code->symbol_id = noun.id;
        code->symbol = pm_map_get(&code->binary->nouns, noun.id);
    }
}

/* --- what lies around it in its symbol --- */

/* Its function, what was inlined there around it, and the loops that this was inlined into. */
struct around {
    struct collector *c;
    struct collect_code *code;
    const struct pm_debug_frame *frames; /* innermost first */
    size_t n;
};

static enum pm_status step_noun(const struct around *a, const struct pm_pif_noun *noun,
                                struct collect_code *ret_step, bool *ret_is_new)
{
    struct collector *c = a->c;
    struct collect_binary *binary = a->code->binary;
    uint32_t row = pm_map_get(&binary->nouns, noun->id);
    *ret_is_new = !row;
    *ret_step = (struct collect_code){.binary = binary, .noun = row ? row : ++c->model->n_nouns};
    if (row)
        return PM_OK;
    return pm_map_put(&binary->nouns, noun->id, ret_step->noun)
               ? collect_write_noun(c, ret_step->noun, noun, c->model->base_level, binary->row,
                                    a->code->symbol)
               : collect_no_memory(c);
}

/* {symbol Executes}, or {symbol/step Executes}: in this frame, for others have its name, too. */
static enum pm_status make_step(const struct around *a, const char *step, size_t frame,
                                struct collect_code *ret_step, bool *ret_is_new)
{
    const struct pm_debug_frame *symbol = &a->frames[a->n - 1];
    const char *outer = function_name(symbol);
    struct pm_buf name = PM_BUF_INIT(1 << 16);
    pm_buf_add_str(&name, outer ? outer : "unknown code");
    if (step)
        pm_buf_printf(&name, "/%s", step);
    struct pm_pif_noun noun = {.name = name.data, .kind = "inline"};
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "debug inline");
    pm_id_hash_string(&hash, name.failed ? "" : name.data);
    hash_place(&hash, symbol);
    hash_place(&hash, &a->frames[frame]);
    noun.id = pm_id_hash_done(&hash);
    enum pm_status status =
        name.failed ? collect_no_memory(a->c) : step_noun(a, &noun, ret_step, ret_is_new);
    pm_buf_release(&name);
    if (status != PM_OK)
        return status;
    return collect_short_sentence(a->c, a->c->model->executes, ret_step->noun, &ret_step->sentence);
}

static enum pm_status function_step(const struct around *a, size_t frame, uint32_t *ret_sentence)
{
    struct pm_debug_frame whole = a->frames[frame];
    const char *name = frame == a->n - 1 ? NULL : function_name(&whole);
    struct collect_code step = {0};
    bool is_new = false;
    whole.line_no = 0; /* the function, not one of its lines */
    enum pm_status status = make_step(a, name, frame, &step, &is_new);
    *ret_sentence = step.sentence;
    return status != PM_OK || !is_new ? status : map_frame(a->c, &step, &whole);
}

static enum pm_status loop_step(const struct around *a, const struct code_loop *loop,
                                uint32_t *ret_sentence)
{
    char name[64];
    struct collect_code step = {0};
    bool is_new = false;
    snprintf(name, sizeof name, "loop at 0x%llx", (unsigned long long)loop->head);
    enum pm_status status = make_step(a, name, loop->frame, &step, &is_new);
    *ret_sentence = step.sentence;
    return status != PM_OK || !is_new ? status : map_loop(a->c, &step, loop->row);
}

/* A frame that was inlined, and before it the loops of the one around that lie around it: but
 * those of the function of the innermost one, which the code maps to, for that lies in them. */
static enum pm_status add_inlined(const struct around *a, size_t frame,
                                  const struct code_loop *loops, size_t n_loops)
{
    struct collect_code *code = a->code;
    for (size_t i = n_loops; i-- > 0;) {
        if (loops[i].frame != frame + 1 || loops[i].frame <= loops[0].frame)
            continue;
        enum pm_status status = loop_step(a, &loops[i], &code->inlines[code->n_inlines++]);
        if (status != PM_OK)
            return status;
    }
    if (!a->frames[frame].is_inlined || !function_name(&a->frames[frame]))
        return PM_OK;
    return function_step(a, frame, &code->inlines[code->n_inlines++]);
}

static enum pm_status make_around(const struct around *a, const struct code_loop *loops,
                                  size_t n_loops)
{
    struct collect_code *code = a->code;
    enum pm_status status = PM_OK;
    code->inlines = pm_arena_alloc(&a->c->arena, (a->n + n_loops) * sizeof *code->inlines);
    if (!code->inlines)
        return collect_no_memory(a->c);
    if (!code->symbol && a->frames[a->n - 1].source == PM_DEBUG_DWARF)
        status = function_step(a, a->n - 1, &code->function);
    for (size_t i = a->n - 1; i-- > 0;) {
        if (status != PM_OK)
            return status;
        status = add_inlined(a, i, loops, n_loops);
    }
    return status;
}

/* It has a sentence, by which questions meet it. */
static enum pm_status mark_source(struct collector *c, uint32_t row)
{
    uint32_t sentence;
    enum pm_status status = collect_mark_lacking(c, row);
    if (status != PM_OK)
        return status;
    return collect_short_sentence(c, c->model->source_executes, row, &sentence);
}

static enum pm_status make_function(struct collector *c, struct collect_code *code,
                                    const struct pm_debug_frame *frame, bool calls)
{
    uint32_t *row = &code->functions[code->n_functions];
    if (frame->source != PM_DEBUG_DWARF || !function_name(frame))
        return PM_OK;
    enum pm_status status = function_row(c, code->binary, frame, frame->file, row);
    if (status != PM_OK)
        return status;
    code->n_functions++;
    return calls ? mark_source(c, *row) : PM_OK;
}

/* Its functions at level Source; those and loops that call something have what was called there
 * not below them. */
static enum pm_status make_functions(struct collector *c, struct collect_code *code,
                                     const struct pm_debug_frame *frames, size_t n)
{
    const struct pm_debug_frame *symbol = &frames[n - 1];
    bool is_known, calls = false;
    code->functions = pm_arena_alloc(&c->arena, n * sizeof *code->functions);
    if (!code->functions)
        return collect_no_memory(c);
    enum pm_status status = collect_need_source(c);
    if (status != PM_OK)
        return status;
    status = note_calls(c, code->binary, symbol, &is_known);
    if (status != PM_OK)
        return status;
    for (size_t i = 0; i < n; i++) {
        uint64_t key = caller_key(symbol, key_name(&frames[i]), 0);
        calls = !is_known || pm_map_get(&code->binary->codes->callers, key);
        status = make_function(c, code, &frames[i], calls);
        if (status != PM_OK)
            return status;
    }
    return calls ? collect_mark_lacking(c, code->whole) : PM_OK;
}

/* The same of the loops around its address. */
static enum pm_status mark_loops(struct collector *c, struct collect_binary *binary,
                                 const struct pm_debug_frame *symbol, uint64_t address)
{
    struct pm_blame_loop loops[MAX_LOOPS];
    size_t n = pm_blame_loops(binary->blame, symbol->low, symbol->high - symbol->low, address,
                              loops, MAX_LOOPS);
    for (size_t i = 0; i < n; i++) {
        uint32_t row = pm_map_get(&binary->codes->loops, loops[i].head);
        uint64_t key = caller_key(symbol, "", loops[i].head);
        if (row <= 1 || !pm_map_get(&binary->codes->callers, key))
            continue;
        enum pm_status status = mark_source(c, row - 1);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* frames: innermost first. */
/* What the code itself maps to: its line, the innermost loop, or where neither is known what is
 * known of its symbol. */
static enum pm_status map_code(struct collector *c, struct collect_code *code,
                               const struct pm_debug_frame *frames, size_t n, uint32_t loop)
{
    code->first_mapping = c->model->n_mappings;
    enum pm_status status = n ? map_frame(c, code, &frames[0]) : PM_OK;
    if (status == PM_OK && loop)
        status = map_loop(c, code, loop);
    if (status != PM_OK || code->n_mappings || !code->symbol)
        return status;
    struct collect_mapping mapping = {.source = code->sentence, .origin = "debug"};
    status = collect_short_sentence(c, c->model->executes, code->symbol, &mapping.destination);
    if (status != PM_OK)
        return status;
    code->n_mappings++;
    return collect_add_mapping(c, &mapping);
}

/* What is known of code without sleds: its functions, and which calls something. */
static enum pm_status make_plain(struct collector *c, struct collect_code *code,
                                 const struct pm_debug_frame *frames, size_t n,
                                 const uint64_t *address, bool has_loop)
{
    if (code->symbol)
        return PM_OK;
    if (!n)
        return collect_mark_lacking(c, code->whole);
    enum pm_status status = make_functions(c, code, frames, n);
    if (status != PM_OK || !has_loop)
        return status;
    return mark_loops(c, code->binary, &frames[n - 1], *address);
}

/* frames: innermost first. */
static enum pm_status frames_code(struct collector *c, struct collect_binary *binary,
                                  const struct pm_debug_frame *frames, size_t n,
                                  const uint64_t *address, struct collect_code *ret_code)
{
    struct collect_code code = {.binary = binary};
    struct code_loop loops[MAX_LOOPS] = {{0}};
    size_t n_loops = 0;
    enum pm_status status = PM_OK;
    if (n)
        find_symbol(&code, &frames[n - 1]);
    if (n && address)
        status = find_loops(c, binary, *address, frames, n, loops, &n_loops);
    if (status == PM_OK)
        status = make_noun(c, &code, frames, n, loops[0].head);
    if (status == PM_OK)
        status = map_code(c, &code, frames, n, loops[0].row);
    if (status == PM_OK && n)
        status = make_around(&(struct around){c, &code, frames, n}, loops, n_loops);
    if (status == PM_OK)
        status = make_plain(c, &code, frames, n, address, n_loops != 0);
    *ret_code = code;
    return status;
}

enum pm_status collect_debug_code(struct collector *c, struct collect_binary *binary,
                                  uint64_t address, struct collect_code *ret_code)
{
    struct pm_debug_frame frames[MAX_FRAMES];
    size_t n;
    enum pm_status status = open_debug(c, binary);
    if (status != PM_OK)
        return status;
    status = find_frames(c, binary, address, frames, &n);
    return status == PM_OK ? frames_code(c, binary, frames, n, &address, ret_code) : status;
}

enum pm_status collect_named_code(struct collector *c, struct collect_binary *binary,
                                  const struct pm_debug_frame *frame, struct collect_code *ret_code)
{
    struct pm_debug_frame straight = *frame;
    if (!make_file_straight(c, &straight))
        return collect_no_memory(c);
    return frames_code(c, binary, &straight, 1, NULL, ret_code);
}
