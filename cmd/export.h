/* What the formats of perfmap export have in common. Each is a struct of functions in a file of its
 * own; export_formats.def lists them.
 *
 *     struct export_output output;
 *     if (export_open(path, is_gzip, &err, &output) != PM_OK) ...
 *     status = format->profile(&profile, &notes, output.file, &err);
 *     status = export_close(&output, status, &err);
 *
 * A format writes what a profile (mapping/view/profile.h) or a trace (mapping/archive/trace.h) has,
 * and computes nothing of its own. Texts of profiles are printable: UTF-8 without control bytes.
 * Those of traces become so by export_name. One thread.
 *
 *   export          the command         export_output  where it goes: files, gzip
 *   export_notes    marks and warnings  export_proto   protocol buffers
 *   export_events   the walk through a trace
 */
#ifndef PM_EXPORT_H
#define PM_EXPORT_H

#include "cmd/core/cmd.h"
#include "mapping/archive/trace.h"
#include "mapping/view/profile.h"

struct export_request {
    struct pm_profile_options profile;
    const char *archive;
    struct pm_archive *open_archive;           /* of traces: what the trace was opened from */
    const char *path;                          /* NULL: standard output */
    uint64_t from_ns, to_ns, depth, tid;       /* of traces; tid 0: all threads */
    const char *trace_option, *profile_option; /* the last one that only these have; NULL */
    bool by_given;
};

/* What a reader should know beside the numbers, a sentence each. */
struct export_notes {
    const char **items;
    uint32_t n;
    struct pm_arena arena;
};

struct export_format {
    const char *word;
    unsigned parts;   /* PM_PROFILE_...: what its profile tells apart */
    bool by_function; /* frames are functions, where nothing else was asked for */
    bool has_notes;   /* the file has a place for them; else they are told */
    bool is_binary;   /* nothing for a terminal */
    bool is_gzip;     /* always, not only with -o NAME.gz */
    bool is_folder;   /* -o names a folder, which it makes: out is NULL */
    /* One of the two, or both. Errors of the stream are the caller's to see. */
    enum pm_status (*profile)(struct pm_profile *profile, const struct export_notes *notes,
                              FILE *out, struct pm_error *err);
    enum pm_status (*trace)(struct pm_trace *trace, const struct export_request *request, FILE *out,
                            struct pm_error *err);
};

#define FORMAT(word) extern const struct export_format export_format_##word;
#include "export_formats.def"
#undef FORMAT

/* --- export_output.c --- */

/* Where it goes. With a path: a temporary file beside it, which is renamed when all is written. */
struct export_output {
    FILE *file;
    const char *path;
    char *temporary;
};
PM_MUST_CHECK enum pm_status export_open(const char *path, bool is_gzip, struct pm_error *err,
                                         struct export_output *output);
/* status: of what was written; when it is not PM_OK, no file is left. What goes to standard output
 * unpacked is cmd_stdout_done's to flush. */
PM_MUST_CHECK enum pm_status export_close(struct export_output *output, enum pm_status status,
                                          struct pm_error *err);

/* --- export_notes.c --- */

PM_MUST_CHECK enum pm_status export_notes_make(const struct pm_profile *profile,
                                               struct pm_error *err, struct export_notes *notes);
void export_notes_release(struct export_notes *notes);
/* The names of a node's values that are at least what they say, separated by blanks; "" none. */
void export_add_marks(const struct pm_profile *profile, uint32_t node, struct pm_buf *out);

#endif
