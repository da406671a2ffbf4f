/* Reading an object's section headers, sled records and build-id.
 *
 *     struct pm_source file = {.fd = fd};
 *     if (pm_found_read(&file, &found) && pm_scan_sleds(object, &found, &scan))
 *         use(object->sleds, scan.nouns);
 *
 * Runs where objects are loaded, not below probes. Allocates by mmap; the caller unmaps
 * object->sleds and scan.nouns, also after a failure.
 */
#ifndef PM_RUNTIME_SCAN_H
#define PM_RUNTIME_SCAN_H

#include "runtime/code/object.h"

#include <elf.h>
#include <link.h>

enum { PM_MAX_SECTIONS = 16 };

/* An open file, or its bytes where they are not NULL. */
struct pm_source {
    int fd;
    const uint8_t *bytes;
    uint64_t size_bytes;
};

struct pm_found {
    struct {
        uint64_t address, bytes; /* as the section headers have them: not checked */
    } sleds[PM_MAX_SECTIONS], hooks[PM_MAX_SECTIONS], words[PM_MAX_SECTIONS];
    unsigned n_sleds, n_hooks, n_words;
    bool has_pif;
};

struct pm_scan {
    struct pm_run_noun *nouns; /* temporary; sorted by id */
    uint64_t *ids;             /* of the sleds, in their order before sorting */
    uint32_t n_nouns;
    /* room for two indexes of the nouns: threads with small stacks load libraries, too */
    uint32_t *buckets;
    size_t bytes; /* of nouns, ids and buckets */
};

/* False: no ELF file of this machine's word size, or nothing of ours in it. */
bool pm_found_read(const struct pm_source *from, struct pm_found *ret_found);
/* Do these bytes of memory, all of them, come from the object's file, in a segment with these
 * flags?
 */
bool pm_object_holds(const struct pm_object *object, uintptr_t address, uint64_t bytes,
                     uint32_t flags);
/* Fills low and high. */
void pm_object_extent(struct pm_object *object);
/* Lends memory of the object. NULL and 0: none. */
const uint8_t *pm_object_build_id(const struct pm_object *object, uint32_t *ret_bytes);
/* Fills sleds, n_sleds, n_bad and the nouns. False: no memory. */
bool pm_scan_sleds(struct pm_object *object, const struct pm_found *found,
                   struct pm_scan *ret_scan);

typedef void pm_hook_fn(unsigned kind, uint64_t id, const void *frame, unsigned depth);
/* Puts the function into all hooks of a section, which is in memory that can be written; NULL: only
 * looks. False: some are of another version, or not aligned, and were left alone. */
bool pm_hooks_fill(uintptr_t section, uint64_t bytes, pm_hook_fn *event);

#endif
