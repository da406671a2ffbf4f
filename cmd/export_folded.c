/* Collapsed stacks, as flamegraph.pl and speedscope take them: frames from the outermost to the
 * innermost with ';' between, then the first metric. Each frame ends with its level: " [MPI]". */
#include "export.h"

#include <inttypes.h>
#include <stdlib.h>

/* A ';' would end the frame. */
static void add_name(const char *text, struct pm_buf *out)
{
    for (; *text; text++)
        if (*text == ';')
            pm_buf_add_str(out, "\\x3b");
        else
            pm_buf_add_byte(out, (unsigned char)*text);
}

/* Of loops and the like the place is what tells them apart. */
static void add_frame(const struct pm_profile_frame *frame, struct pm_buf *out)
{
    bool is_named = !strcmp(frame->kind, "function") || !strcmp(frame->kind, "symbol");
    add_name(frame->name, out);
    if (*frame->place && !is_named) {
        pm_buf_add_byte(out, ' ');
        add_name(frame->place, out);
    }
    if (*frame->level) {
        pm_buf_add_str(out, " [");
        add_name(frame->level, out);
        pm_buf_add_byte(out, ']');
    }
}

static void add_stack(const struct pm_profile *profile, char **texts, uint32_t node, uint32_t *path,
                      struct pm_buf *line)
{
    uint32_t n = 0;
    for (uint32_t at = node; at != PM_NONE; at = profile->nodes[at].parent)
        path[n++] = at;
    while (n-- > 0) {
        pm_buf_add_str(line, texts[profile->nodes[path[n]].frame]);
        if (n)
            pm_buf_add_byte(line, ';');
    }
}

static bool write_stacks(const struct pm_profile *profile, char **texts, FILE *out)
{
    uint32_t *path = pm_alloc_array((size_t)profile->n_nodes + 1, sizeof *path);
    struct pm_buf line = PM_BUF_INIT(1 << 30);
    for (uint32_t i = 0; path && i < profile->n_cells && !line.failed; i++) {
        const struct pm_profile_cell *cell = &profile->cells[i];
        if (!cell->values[0])
            continue;
        pm_buf_clear(&line);
        add_stack(profile, texts, cell->node, path, &line);
        fprintf(out, "%s %" PRId64 "\n", line.data, cell->values[0]);
    }
    bool ok = path && !line.failed;
    free(path);
    pm_buf_release(&line);
    return ok;
}

static enum pm_status write_folded(struct pm_profile *profile, const struct export_notes *notes,
                                   FILE *out, struct pm_error *err)
{
    (void)notes;
    char **texts = pm_alloc_array((size_t)profile->n_frames + 1, sizeof *texts);
    bool ok = texts;
    for (uint32_t f = 0; ok && f < profile->n_frames; f++) {
        struct pm_buf text = PM_BUF_INIT(1 << 24);
        add_frame(&profile->frames[f], &text);
        ok = !text.failed && (texts[f] = pm_buf_take(&text));
        pm_buf_release(&text);
    }
    ok = ok && write_stacks(profile, texts, out);
    for (uint32_t f = 0; texts && f < profile->n_frames; f++)
        free(texts[f]);
    free(texts);
    return ok ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

const struct export_format export_format_folded = {.word = "folded", .profile = write_folded};
