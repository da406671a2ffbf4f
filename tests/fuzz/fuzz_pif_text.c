/* PIF text. What is read can be written, and what is written is read again and written the same. */
#include "mapping/pif/pif.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct pm_buf text_of(const struct pm_pif *pif)
{
    struct pm_buf text = PM_BUF_INIT(1 << 26);
    pm_buf_add(&text, "", 0);
    pm_pif_write_text(pif, &text);
    PM_ASSERT(!text.failed);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pm_pif *pif = pm_pif_new(), *again = pm_pif_new();
    struct pm_error err = PM_ERROR_INIT;
    if (pm_pif_read_text(pif, "fuzz", (const char *)data, size, &err) == PM_OK) {
        struct pm_buf text = text_of(pif);
        enum pm_status status = pm_pif_read_text(again, "written", text.data, text.len, &err);
        if (status != PM_OK)
            pm_error_print(&err, stderr);
        PM_ASSERT(status == PM_OK);
        struct pm_buf text_again = text_of(again);
        PM_ASSERT(text.len == text_again.len && !memcmp(text.data, text_again.data, text.len));
        pm_buf_release(&text);
        pm_buf_release(&text_again);
    }
    pm_error_release(&err);
    pm_pif_free(pif);
    pm_pif_free(again);
    return 0;
}
