/* gmon.out, which programs compiled with -pg write when they end (GNU, version 1):
 *
 *     offset  size  meaning
 *     0       4     "gmon"
 *     4       4     version: 1
 *     8       12    not used
 *     20      -     records, each with a tag of one byte before it:
 *
 *     0, a histogram: 8 lowest address, 8 highest, 4 number of bins, 4 samples per second, 15 unit,
 *        1 its abbreviation; then 2 for each bin
 *     1, a call: 8 where it returns to, 8 an address in what was called, 4 how often
 *     2, basic blocks: 4 number; 8 address and 8 count of each
 *
 * Addresses are those of the ELF file: glibc subtracts where it was loaded. The file does not name
 * the program (--exe). A bin is (highest - lowest) / number bytes long, which is no whole number:
 * its samples are taken to be at its middle, where gprof divides a bin by what lies in it. */
#include "reader.h"

#include "../base/map.h"

#include <stdlib.h>

enum { HEAD_BYTES = 20, HISTOGRAM_BYTES = 40, ARC_BYTES = 20, BLOCK_BYTES = 16, FULL_BIN = 65535 };

struct gprof {
    struct import *im;
    uint32_t process, thread, object;
    uint32_t time_metric, samples_metric, arcs_metric;
    struct pm_map functions; /* address + 1 -> frame */
    uint64_t n_full, n_arcs, n_samples;
};

static uint64_t number_at(const char *p, size_t n_bytes)
{
    uint64_t value = 0;
    for (size_t i = n_bytes; i-- > 0;)
        value = value << 8 | (unsigned char)p[i];
    return value;
}

static enum pm_status take(struct gprof *g, size_t n, struct pm_str *ret)
{
    *ret = PM_STR("");
    return import_take(g->im->in, n, ret)
               ? PM_OK
               : import_refuse_byte(g->im->in, g->im->err, PM_ERR_FORMAT,
                                    "gmon.out ends in the middle of a record");
}

/* Functions of calls. Where a call returns to is known to 16 bytes, for mcount keeps no more: the
 * function, as gprof finds it, but not the statement. */
static enum pm_status frame_of(struct gprof *g, uint64_t address, uint32_t *ret_frame)
{
    struct pm_import_frame frame = {.object = g->object,
                                    .kind = PM_IMPORT_ELF,
                                    .address = address,
                                    .is_whole = true,
                                    .is_flat = true};
    uint32_t *at = pm_map_at(&g->functions, address + 1);
    if (!at)
        return import_no_memory(g->im);
    if (!*at) {
        enum pm_status status = pm_sink_frame(g->im->sink, &frame, at);
        if (status != PM_OK)
            return status;
    }
    *ret_frame = *at;
    return PM_OK;
}

/* --- histograms --- */

static enum pm_status add_bin(struct gprof *g, uint64_t address, uint64_t n, uint64_t rate)
{
    struct pm_import_frame frame = {
        .object = g->object, .kind = PM_IMPORT_ELF, .address = address, .is_flat = true};
    uint32_t made, place = 0;
    g->n_samples += n;
    g->n_full += n == FULL_BIN;
    enum pm_status status = pm_sink_frame(g->im->sink, &frame, &made);
    if (status != PM_OK)
        return status;
    status = pm_sink_place(g->im->sink, g->process, &made, 1, &place);
    if (status != PM_OK)
        return status;
    status = pm_sink_cost(g->im->sink, g->thread, place, g->samples_metric, n);
    if (status != PM_OK)
        return status;
    return pm_sink_cost(g->im->sink, g->thread, place, g->time_metric, n * 1000000000 / rate);
}

static enum pm_status read_histogram(struct gprof *g)
{
    struct pm_str head, bin;
    enum pm_status status = take(g, HISTOGRAM_BYTES, &head);
    if (status != PM_OK)
        return status;
    uint64_t low = number_at(head.p, 8), high = number_at(head.p + 8, 8);
    uint64_t n = number_at(head.p + 16, 4), rate = number_at(head.p + 20, 4);
    if (high < low || rate == 0 || (n == 0 && high != low))
        return import_refuse_byte(g->im->in, g->im->err, PM_ERR_FORMAT,
                                  "a histogram of %llu bins from 0x%llx to 0x%llx, with %llu "
                                  "samples per second",
                                  (unsigned long long)n, (unsigned long long)low,
                                  (unsigned long long)high, (unsigned long long)rate);
    double width = n ? (double)(high - low) / (double)n : 0;
    for (uint64_t i = 0; i < n; i++) {
        status = take(g, 2, &bin);
        uint64_t count = bin.len ? number_at(bin.p, 2) : 0;
        if (status != PM_OK)
            return status;
        if (count)
            status = add_bin(g, low + (uint64_t)(((double)i + 0.5) * width), count, rate);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* --- calls --- */

static enum pm_status read_arc(struct gprof *g)
{
    struct pm_str bytes;
    struct pm_import_arc arc = {.process = g->process, .thread = g->thread};
    enum pm_status status = take(g, ARC_BYTES, &bytes);
    if (status != PM_OK)
        return status;
    arc.n_calls = number_at(bytes.p + 16, 4);
    status = frame_of(g, number_at(bytes.p, 8), &arc.caller);
    if (status != PM_OK)
        return status;
    status = frame_of(g, number_at(bytes.p + 8, 8), &arc.callee);
    if (status != PM_OK || !arc.n_calls)
        return status;
    g->n_arcs++;
    return pm_sink_arc(g->im->sink, &arc, g->arcs_metric, arc.n_calls);
}

static enum pm_status pass_blocks(struct gprof *g)
{
    struct pm_str bytes;
    enum pm_status status = take(g, 4, &bytes);
    uint64_t n = bytes.len ? number_at(bytes.p, 4) : 0;
    for (; n && !status; n--)
        status = take(g, BLOCK_BYTES, &bytes);
    return status;
}

/* --- the whole --- */

static enum pm_status open_program(struct gprof *g)
{
    const char *exe = g->im->options->exe;
    bool is_known;
    if (!exe)
        return pm_error_set(g->im->err, PM_ERR_USAGE,
                            "gmon.out does not say which program it is of: give it by --exe");
    char *path = realpath(exe, NULL);
    struct pm_import_object object = {.path = pm_str_of(path ? path : exe)};
    struct pm_import_process process = {.name = object.path, .rank = -1};
    enum pm_status status = pm_sink_object(g->im->sink, &object, &g->object, &is_known);
    if (!status)
        status = pm_sink_process(g->im->sink, &process, &g->process);
    free(path);
    return status;
}

static enum pm_status make_metrics(struct gprof *g)
{
    struct pm_import_thread thread = {.process = g->process};
    static const struct pm_import_metric metrics[] = {
        {"cpu_ns", "ns", "time", ""},
        {"n_samples", "samples", "count", ""},
        {"arc_calls", "calls", "count", "calls by one function of another, counted by gprof"}};
    uint32_t *const places[] = {&g->time_metric, &g->samples_metric, &g->arcs_metric};
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        enum pm_status status = pm_sink_metric(g->im->sink, &metrics[i], places[i]);
        if (status != PM_OK)
            return status;
    }
    return pm_sink_thread(g->im->sink, &thread, &g->thread);
}

static enum pm_status read_head(struct gprof *g)
{
    struct pm_str head;
    if (!import_take(g->im->in, HEAD_BYTES, &head) || memcmp(head.p, "gmon", 4) != 0)
        return import_refuse_byte(g->im->in, g->im->err, PM_ERR_FORMAT, "this is no gmon.out");
    uint64_t version = number_at(head.p + 4, 4);
    if (version == 1)
        return PM_OK;
    return import_refuse_byte(g->im->in, g->im->err, PM_ERR_VERSION,
                              "gmon.out of version %llu, this perfmap reads version 1",
                              (unsigned long long)version);
}

static enum pm_status read_records(struct gprof *g)
{
    static enum pm_status (*const readers[])(struct gprof *) = {read_histogram, read_arc,
                                                                pass_blocks};
    for (int tag; (tag = import_byte(g->im->in)) >= 0;) {
        if (tag >= (int)(sizeof readers / sizeof *readers))
            return import_refuse_byte(g->im->in, g->im->err, PM_ERR_FORMAT,
                                      "gmon.out has records of kinds 0 to 2, not %d", tag);
        enum pm_status status = readers[tag](g);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static void tell(struct gprof *g)
{
    struct pm_import_sink *sink = g->im->sink;
    if (g->n_arcs)
        pm_sink_note(sink, "-pg counts calls without regard to threads: with several threads there "
                           "were more than are told");
    if (g->n_full)
        pm_sink_note(sink,
                     "%llu places have as many samples as gmon.out can count (65535): there "
                     "were more",
                     (unsigned long long)g->n_full);
}

static enum pm_status read_gprof(struct import *im)
{
    struct gprof g = {.im = im};
    static enum pm_status (*const steps[])(struct gprof *) = {read_head, open_program, make_metrics,
                                                              read_records};
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !status; i++)
        status = steps[i](&g);
    if (!status)
        tell(&g);
    pm_map_release(&g.functions);
    return status;
}

static bool is_gprof(struct pm_str head, const char *path)
{
    (void)path;
    return head.len >= HEAD_BYTES && !memcmp(head.p, "gmon", 4);
}

const struct import_format import_format_gprof = {.is = is_gprof, .read = read_gprof};
