/* Manifests of runs, from memory: no crash, and strings that were read are strings. */
#include "mapping/run/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pm_manifest manifest;
    struct pm_error err = PM_ERROR_INIT;
    pm_manifest_init(&manifest);
    if (pm_manifest_parse("fuzz", (const char *)data, size, &manifest, &err) == PM_OK) {
        size_t len = 0;
        for (size_t i = 0; i < manifest.n_args; i++)
            len += strlen(manifest.argv[i]);
        for (size_t i = 0; i < manifest.n_other; i++)
            len += strlen(manifest.other[i]);
        PM_ASSERT(len <= size && (!manifest.argv || !manifest.argv[manifest.n_args]));
    }
    pm_error_release(&err);
    pm_manifest_release(&manifest);
    return 0;
}
