/* The parent's part of reading OTF2: records in memory (mapping/import/otf2_records.h). */
#ifndef PM_TEST_IMPORT_OTF2_READER_H
#define PM_TEST_IMPORT_OTF2_READER_H

#include "mapping/import/otf2_records.h"
#include "mapping/import/reader.h"

static enum pm_status read_otf2_records(const char *name, const void *bytes, size_t len,
                                        const struct pm_import_options *options,
                                        struct pm_import_sink *sink, struct pm_error *err)
{
    struct import im = {.path = name, .options = options, .sink = sink, .err = err};
    enum pm_status status = import_input_of_bytes(name, bytes, len, err, &im.in);
    if (status != PM_OK)
        return status;
    status = otf2_read_records(&im);
    import_input_free(im.in);
    return status;
}

#endif
