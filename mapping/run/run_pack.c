/* Packs run files. A context takes 128 bytes there, of which the runtime needs half and readers
 * 40, and the chunks of a thread are larger than what it has touched of them. So what means
 * nothing to readers becomes zeros, which zstd takes for nothing: 600 runs of a small Tcl script
 * in mode exact, 5.1 GB, are 0.3 GB then. */
#include "run_pack.h"
#include "run_internal.h"

#include "../base/banned.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum {
    PIECE_BYTES = 1 << 20,
    LEVEL = 1, /* 3 took twice the time and was no smaller */
    CONTENT = PM_RUN_PAGE + sizeof(struct pm_run_packed),
};

struct packing {
    struct run_source from;
    int to;
    struct pm_run_header header;
    struct pm_run_packed packed;
    ZSTD_CCtx *zstd;
    unsigned char *in, *out;
    size_t out_bytes;
    bool (*go_on)(void *context);
    void *context;
    struct pm_error *err;
};

static enum pm_status write_at(struct packing *p, const void *bytes, size_t len, uint64_t offset)
{
    for (const char *from = bytes; len;) {
        ssize_t n = pwrite(p->to, from, len, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return pm_error_system(p->err, n < 0 ? errno : EIO, "cannot write a packed run file");
        from += n;
        len -= (size_t)n;
        offset += (uint64_t)n;
    }
    return PM_OK;
}

static enum pm_status leave(const struct packing *p, const char *why)
{
    return pm_error_set(p->err, PM_ERR_USAGE, "the run file is not packed: %s", why);
}

/* --- what readers do not need --- */

/* The time at which a context was last entered, when that is over, tells when its thread ended,
 * of processes that did not note their end or threads that ran on behind it (run_times.c). */
static bool needs_start(const struct packing *p, const struct pm_run_node *node)
{
    const struct pm_run_header *h = &p->header;
    return node->noun == PM_RUN_NOUN_ROOT || node->sp != 0 || !(h->flags & PM_RUN_FLAG_ENDED) ||
           node->start_tsc > h->end_tsc;
}

/* Half of a node: they lie at multiples of 64, so pieces of a file hold whole ones. */
enum { HALF = sizeof(struct pm_run_node) / 2 };
_Static_assert(offsetof(struct pm_run_node, cached_child) < HALF &&
                   offsetof(struct pm_run_node, first_child) >= HALF,
               "fields of halves");

static void clean_half(const struct packing *p, unsigned char *bytes, bool is_second)
{
    struct pm_run_node node = {0};
    memcpy(is_second ? (char *)&node + HALF : (char *)&node, bytes, HALF);
    node.parent_ptr = node.cached_child = node.first_child = node.next_sibling = 0;
    node.cached_noun = 0;
    node.flags &= 0xffffffu;
    memset(node.reserved, 0, sizeof node.reserved);
    if (!is_second && !needs_start(p, &node))
        node.start_tsc = 0;
    memcpy(bytes, is_second ? (char *)&node + HALF : (char *)&node, HALF);
}

/* bytes: [at, at + n) of a chunk whose nodes begin at `first`. */
static void clean_nodes(const struct packing *p, const struct pm_run_chunk *chunk, uint64_t first,
                        uint64_t at, unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i += HALF) {
        if (at + i < first)
            continue;
        uint64_t half = (at + i - first) / HALF;
        if (half / 2 < chunk->n_items)
            clean_half(p, bytes + i, half % 2);
        /* was never touched */
        else
            memset(bytes + i, 0, HALF);
    }
}

/* --- compressing --- */

static enum pm_status flush_out(struct packing *p)
{
    enum pm_status status = write_at(p, p->out, p->out_bytes, CONTENT + p->packed.packed_bytes);
    p->packed.packed_bytes += p->out_bytes;
    p->out_bytes = 0;
    return status;
}

static enum pm_status compress(struct packing *p, size_t n, ZSTD_EndDirective directive)
{
    ZSTD_inBuffer in = {p->in, n, 0};
    for (size_t left = 1; in.pos < in.size || left;) {
        ZSTD_outBuffer out = {p->out, PIECE_BYTES, p->out_bytes};
        left = ZSTD_compressStream2(p->zstd, &out, &in, directive);
        if (ZSTD_isError(left))
            return pm_error_set(p->err, PM_ERR_MEMORY, "cannot pack a run file: %s",
                                ZSTD_getErrorName(left));
        p->out_bytes = out.pos;
        if (directive == ZSTD_e_continue)
            left = 0;
        if (out.pos != out.size && (directive != ZSTD_e_end || left != 0))
            continue;
        enum pm_status status = flush_out(p);
        if (status != PM_OK)
            return status;
    }
    if (p->go_on && !p->go_on(p->context))
        return pm_error_set(p->err, PM_ERR_LIMIT, "there is no time to pack a run file");
    return PM_OK;
}

static enum pm_status pack_chunk(struct packing *p, uint64_t offset,
                                 const struct pm_run_chunk *chunk)
{
    bool is_thread = chunk->kind == PM_RUN_CHUNK_THREAD;
    bool has_nodes = is_thread || chunk->kind == PM_RUN_CHUNK_NODES;
    uint64_t first = is_thread ? PM_RUN_THREAD_NODES : PM_RUN_NODES_DATA;
    for (uint64_t at = 0; at < chunk->size_bytes;) {
        uint64_t left = chunk->size_bytes - at;
        size_t n = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
        if (!run_read_at(&p->from, offset + at, p->in, n))
            return leave(p, "it cannot be read");
        if (has_nodes)
            clean_nodes(p, chunk, first, at, p->in, n);
        enum pm_status status = compress(p, n, ZSTD_e_continue);
        if (status != PM_OK)
            return status;
        at += n;
    }
    return PM_OK;
}

/* A page where a chunk was being made is kept as it is. */
static enum pm_status pack_chunks(struct packing *p)
{
    for (uint64_t at = PM_RUN_PAGE; at < p->from.size_bytes;) {
        struct pm_run_chunk chunk;
        if (!run_read_at(&p->from, at, &chunk, sizeof chunk))
            return leave(p, "it cannot be read");
        if (chunk.magic != PM_RUN_CHUNK_MAGIC)
            chunk = (struct pm_run_chunk){.size_bytes = PM_RUN_PAGE};
        if (chunk.size_bytes == 0 || chunk.size_bytes % PM_RUN_PAGE ||
            chunk.size_bytes > p->from.size_bytes - at)
            return leave(p, "it is damaged");
        if (chunk.kind == PM_RUN_CHUNK_TRACE_HEAD || chunk.kind == PM_RUN_CHUNK_TRACE_SPACE)
            return leave(p, "it has a trace");
        if (chunk.kind == PM_RUN_CHUNK_WORDS)
            p->packed.flags |= PM_RUN_PACKED_WORDS;
        enum pm_status status = pack_chunk(p, at, &chunk);
        if (status != PM_OK)
            return status;
        at += chunk.size_bytes;
    }
    return compress(p, 0, ZSTD_e_end);
}

/* --- the file --- */

static enum pm_status open_source(struct packing *p)
{
    struct stat file;
    if (fstat(p->from.fd, &file) != 0 || file.st_size < PM_RUN_PAGE || file.st_size % PM_RUN_PAGE)
        return leave(p, "it is none");
    p->from.size_bytes = (uint64_t)file.st_size;
    if (!run_read_at(&p->from, 0, &p->header, sizeof p->header) ||
        memcmp(p->header.magic, PM_RUN_MAGIC, sizeof p->header.magic) != 0)
        return leave(p, "it is none");
    if (p->header.version_major != PM_RUN_VERSION_MAJOR)
        return leave(p, "it is packed, or of another version");
    return p->from.size_bytes > PM_RUN_MOST_PACKED ? leave(p, "it is too large") : PM_OK;
}

static enum pm_status write_head(struct packing *p)
{
    unsigned char page[PM_RUN_PAGE];
    const uint16_t major = PM_RUN_VERSION_PACKED;
    if (!run_read_at(&p->from, 0, page, sizeof page))
        return leave(p, "it cannot be read");
    memcpy(page + offsetof(struct pm_run_header, version_major), &major, sizeof major);
    enum pm_status status = write_at(p, page, sizeof page, 0);
    if (status != PM_OK)
        return status;
    return write_at(p, &p->packed, sizeof p->packed, PM_RUN_PAGE);
}

enum pm_status pm_run_pack(int from, int to, bool (*go_on)(void *context), void *context,
                           struct pm_error *err)
{
    struct packing p = {
        .from = {.fd = from}, .to = to, .go_on = go_on, .context = context, .err = err};
    enum pm_status status = open_source(&p);
    if (status != PM_OK)
        return status;
    p.packed.magic = PM_RUN_PACKED_MAGIC;
    p.packed.unpacked_bytes = p.from.size_bytes;
    p.zstd = ZSTD_createCCtx();
    p.in = pm_alloc(PIECE_BYTES);
    p.out = pm_alloc(PIECE_BYTES);
    if (!p.zstd || !p.in || !p.out ||
        ZSTD_isError(ZSTD_CCtx_setParameter(p.zstd, ZSTD_c_compressionLevel, LEVEL)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(p.zstd, ZSTD_c_checksumFlag, 1))) {
        status = pm_error_set(err, PM_ERR_MEMORY, "no memory to pack a run file");
        goto out;
    }
    status = pack_chunks(&p);
    if (status != PM_OK)
        goto out;
    status = write_head(&p);
out:
    ZSTD_freeCCtx(p.zstd);
    free(p.in);
    free(p.out);
    return status;
}

enum pm_status pm_run_unpack(const char *name, const void *bytes, size_t len, struct pm_error *err,
                             void **ret_bytes, size_t *ret_len)
{
    struct pm_run_packed packed = {0};
    const char *from = bytes;
    const uint16_t major = PM_RUN_VERSION_MAJOR;
    if (len >= CONTENT)
        memcpy(&packed, from + PM_RUN_PAGE, sizeof packed);
    if (packed.magic != PM_RUN_PACKED_MAGIC)
        return pm_error_set(err, PM_ERR_FORMAT, "packed run file '%s' is cut (%zu bytes)", name,
                            len);
    uint64_t content_bytes = packed.unpacked_bytes - PM_RUN_PAGE;
    if (packed.unpacked_bytes < PM_RUN_PAGE || packed.unpacked_bytes % PM_RUN_PAGE ||
        packed.unpacked_bytes > PM_RUN_MOST_PACKED)
        return pm_error_set(err, PM_ERR_FORMAT,
                            "packed run file '%s' byte %d: %llu bytes unpacked (whole pages, at "
                            "most %llu)",
                            name, PM_RUN_PAGE, (unsigned long long)packed.unpacked_bytes,
                            (unsigned long long)PM_RUN_MOST_PACKED);
    if (packed.packed_bytes > len - CONTENT)
        return pm_error_set(err, PM_ERR_FORMAT,
                            "packed run file '%s' is cut (%llu packed bytes, %zu are there)", name,
                            (unsigned long long)packed.packed_bytes, len - (size_t)CONTENT);
    char *file = pm_alloc((size_t)packed.unpacked_bytes);
    if (!file)
        return pm_error_set(err, PM_ERR_MEMORY, "no memory for run file '%s'", name);
    memcpy(file, from, PM_RUN_PAGE);
    memcpy(file + offsetof(struct pm_run_header, version_major), &major, sizeof major);
    size_t n = ZSTD_decompress(file + PM_RUN_PAGE, (size_t)content_bytes, from + CONTENT,
                               (size_t)packed.packed_bytes);
    if (ZSTD_isError(n) || n != content_bytes) {
        free(file);
        return pm_error_set(err, PM_ERR_FORMAT, "packed run file '%s' is damaged: %s", name,
                            ZSTD_isError(n) ? ZSTD_getErrorName(n) : "it is too short");
    }
    *ret_bytes = file;
    *ret_len = (size_t)packed.unpacked_bytes;
    return PM_OK;
}
