/* Questions of the page (view_ask.h). */
#include "view_ask.h"

#include "cmd/core/complete.h"
#include "cmd/show/answer.h"

#include <stdlib.h>

/* The archive is loaded for it: what was never active may be asked for, which the page leaves
 * out. */
static enum pm_status answer(const struct show_page_options *options, enum view_ask_kind kind,
                             const char *question, FILE *out, struct pm_error *err)
{
    struct pm_view view = {.options = {.archive_path = options->archive_path,
                                       .level = "source",
                                       .from = options->from,
                                       .to = options->to,
                                       .no_compensation = options->no_compensation}};
    const struct show_answer_options how = {.text = question,
                                            .limit = kind == VIEW_ASK_CSV ? 0 : SHOW_ANSWER_ROWS,
                                            .csv = kind == VIEW_ASK_CSV,
                                            .look = {.color = SHOW_COLOR_NEVER, .is_utf8 = true},
                                            .out = out};
    enum pm_status status = show_question(&view, &how, err);
    pm_view_release(&view);
    return status;
}

enum pm_status view_ask(const struct show_page_options *options, enum view_ask_kind kind,
                        const char *question, struct pm_error *err, struct pm_buf *ret_text)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    enum pm_status status = kind == VIEW_ASK_WAYS
                                ? complete_question(question, options->archive_path, out, err)
                                : answer(options, kind, question, out, err);
    bool good = fclose(out) == 0;
    if (good)
        pm_buf_add(ret_text, text, len);
    free(text);
    if (status != PM_OK)
        return status;
    return good && !ret_text->failed ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}
