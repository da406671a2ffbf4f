/* Overlays (mapping/overlay) of a view: applied when its archive has been loaded. */
#include "view.h"

#include "mapping/overlay/overlay.h"

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

static const char *keep(struct pm_view *view, const char *text, size_t len)
{
    return pm_arena_strndup(&view->arena, text, len);
}

/* What names of the overlay mean, in the metrics that are asked for. */
static enum pm_status expand_metrics(struct pm_view *view, const struct pm_overlay *overlay,
                                     struct pm_error *err)
{
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    if (!view->options.metrics)
        return PM_OK;
    enum pm_status status =
        pm_overlay_expand(overlay, view->loaded->graph, view->options.metrics, err, &text);
    const char *kept = text.failed || !text.len ? NULL : keep(view, text.data, text.len);
    pm_buf_release(&text);
    if (!kept)
        return status != PM_OK ? status : no_memory(err);
    view->options.metrics = kept;
    return status;
}

static enum pm_status note_use(struct pm_view *view, const struct pm_overlay *overlay,
                               const struct pm_overlay_use *use, struct pm_error *err)
{
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    if (!use->n_dropped)
        return PM_OK;
    if (view->overlays_note)
        pm_buf_printf(&text, "%s; ", view->overlays_note);
    pm_buf_printf(&text, "%u of %u nouns with patterns in overlay '%s' match nothing here, '%s' %s",
                  use->n_dropped, use->n_dropped + use->n_matched, overlay->name,
                  use->first_dropped, use->n_dropped > 1 ? "for one" : "");
    view->overlays_note = text.failed ? NULL : keep(view, text.data, text.len);
    pm_buf_release(&text);
    return view->overlays_note ? PM_OK : no_memory(err);
}

static enum pm_status apply(struct pm_view *view, const struct pm_overlay *overlay,
                            struct pm_error *err)
{
    struct pm_overlay_use use;
    uint32_t n_before = view->loaded->graph->n_nouns;
    enum pm_status status = pm_overlay_apply(overlay, view->loaded->graph, err, &use);
    if (status != PM_OK)
        return status;
    if (!pm_archive_data_grow(view->loaded, n_before))
        return no_memory(err);
    if (!*view->options.level)
        view->options.level = keep(view, overlay->level, strlen(overlay->level));
    if (!view->options.level)
        return no_memory(err);
    status = expand_metrics(view, overlay, err);
    return status != PM_OK ? status : note_use(view, overlay, &use, err);
}

enum pm_status pm_view_apply_overlays(struct pm_view *view, struct pm_error *err)
{
    for (const char *const *path = view->options.overlays; *path; path++) {
        struct pm_overlay *overlay;
        enum pm_status status = pm_overlay_read(*path, err, &overlay);
        if (status != PM_OK)
            return status;
        status = apply(view, overlay, err);
        pm_overlay_free(overlay);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}
