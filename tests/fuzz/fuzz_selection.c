/* Selection lists, and filter files of Score-P and TAU: any bytes. What is read and written reads
 * the same again, and selects the same. */
#include "../../mapping/base/selection.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct pm_selection_subject subjects[] = {
    {"src/a.c", "/home/me/src/a.c", "main", "main"},
    {"b.cc", NULL, "ns::f(int, char*)", "_ZN2ns1fEiPc"},
    {"b.cc", NULL, "ns::C1::C1()", "_ZN2ns2C1C2Ev"},
    {"c.f90", NULL, "matmul", "matmul_"},
    {"", NULL, "", NULL},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_buf text = PM_BUF_INIT(1 << 26), again = PM_BUF_INIT(1 << 26);
    struct pm_selection *one = pm_selection_new(), *other = pm_selection_new();
    struct pm_str bytes = {(const char *)data, size};
    PM_ASSERT(one && other);
    if (pm_selection_read(one, bytes, "list", &err) == PM_OK) {
        pm_selection_write(one, &text);
        struct pm_str written = {text.data ? text.data : "", text.len};
        PM_ASSERT(pm_selection_read(other, written, "list", &err) == PM_OK);
        pm_selection_write(other, &again);
        PM_ASSERT(pm_str_eq(written, (struct pm_str){again.data ? again.data : "", again.len}));
        for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
            PM_ASSERT(pm_selection_fits(one, &subjects[i]) ==
                      pm_selection_fits(other, &subjects[i]));
    }
    pm_error_release(&err);
    pm_selection_free(one);
    pm_selection_free(other);
    pm_buf_release(&text);
    pm_buf_release(&again);
    return 0;
}
