/* Prints frames of addresses (hex, one a line on standard input), for tests/system/debuginfo and
 * for people.
 *
 *     debuginfo_frames FILE [BUILD_ID] <addresses
 *     0x401136                                   as `addr2line -ae FILE -fi -C` prints it, but
 *     add(int, int) /src/add.cc:7:12 inlined     one line a frame: function, file:line:column,
 *                                                "inlined", [low,high)
 *
 * A name that is not known is "??". The last line says where it came from and what was not read:
 * "# FILE", "# problem: ...".
 */
#include "../../mapping/debuginfo/debuginfo.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void print_frame(const struct pm_debug_frame *frame)
{
    static const char *const sources[] = {"nothing", "symbol", "dwarf"};
    printf("%s\t%s\t%s:%" PRIu32 ":%" PRIu32 "\t%s\t%" PRIx64 "-%" PRIx64 "\t%s\n",
           frame->function ? frame->function : "??", frame->linkage ? frame->linkage : "??",
           frame->file ? frame->file : "??", frame->line_no, frame->column_no,
           frame->is_inlined ? "inlined" : "function", frame->low, frame->high,
           sources[frame->source]);
}

int main(int argc, char **argv)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_debug *debug;
    const char *build_id = argc > 2 && strcmp(argv[2], "--time") != 0 ? argv[2] : NULL;
    bool is_timed = argc > 2 && strcmp(argv[argc - 1], "--time") == 0;
    if (argc < 2) {
        fprintf(stderr, "usage: %s FILE [BUILD_ID] [--time] <addresses\n", argv[0]);
        return 2;
    }
    if (pm_debug_open(argv[1], build_id, &err, &debug) != PM_OK) {
        pm_error_print(&err, stderr);
        pm_error_release(&err);
        return 1;
    }
    char line[64];
    double first_ns = 0, all_ns = 0;
    size_t n_addresses = 0;
    while (fgets(line, sizeof line, stdin)) {
        uint64_t address = strtoull(line, NULL, 16);
        struct pm_debug_frame frames[64];
        double start_ns = now_ns();
        size_t n = pm_debug_find(debug, address, frames, 64);
        double took_ns = now_ns() - start_ns;
        *(n_addresses++ ? &all_ns : &first_ns) += took_ns;
        if (is_timed)
            continue;
        printf("0x%" PRIx64 "\n", address);
        for (size_t i = 0; i < n; i++)
            print_frame(&frames[i]);
    }
    if (is_timed)
        printf("first %.1f ms, %zu others %.0f ns each\n", first_ns / 1e6, n_addresses - 1,
               n_addresses > 1 ? all_ns / (double)(n_addresses - 1) : 0);
    printf("# %s\n", pm_debug_file(debug) ? pm_debug_file(debug) : "no debug information");
    if (pm_debug_problem(debug))
        printf("# problem: %s\n", pm_debug_problem(debug));
    pm_debug_free(debug);
    return 0;
}
