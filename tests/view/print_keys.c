/* Prints the keys of a view's rows, "hash<tab>depth<tab>text", in their order, for
 * tests/system/row-keys: print_keys ARCHIVE LEVEL BY [tree]. BY is a number of enum pm_view_by. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "mapping/view/keys.h"

int main(int argc, char **argv)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_view_keys keys = {0};
    if (argc < 4)
        return 2;
    struct pm_view view = {.options = {.archive_path = argv[1],
                                       .level = argv[2],
                                       .by = (enum pm_view_by)strtoul(argv[3], NULL, 10),
                                       .tree = argc > 4,
                                       .folds = true,
                                       .sort = PM_VIEW_SORT_DEFAULT}};
    bool good =
        pm_view_make(&view, &err) == PM_OK && pm_view_keys_make(&view, &err, &keys) == PM_OK;
    for (uint32_t r = 0; good && r < keys.n; r++)
        printf("%016" PRIx64 "\t%u\t%s\n", keys.items[r].hash, view.rows[r].depth,
               keys.items[r].text);
    if (!good)
        pm_error_print(&err, stderr);
    pm_error_release(&err);
    pm_view_keys_release(&keys);
    pm_view_release(&view);
    return good ? 0 : 1;
}
