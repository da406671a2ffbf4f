/* Loaded objects: their sections, sleds and nouns. At ordinary calls, under the loader's lock or
 * at start. */
#ifndef PM_RUNTIME_OBJECT_H
#define PM_RUNTIME_OBJECT_H

#include "format/pm_sled.h"
#include "runtime/base/process.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pm_object {
    char path[1024];
    uintptr_t bias, low, high;
    uint64_t file_bytes; /* of the file as it is now */
    const void *phdr;
    uint16_t n_phdr;
    bool loaded, portable;
    bool has_flags; /* set before trampolines are generated: each asks its noun's flag */
    uint16_t bank;  /* PM_MAX_BANKS: none */
    uint32_t index, first_noun, n_nouns;
    uint32_t n_sleds, n_bad;
    struct pm_sled *sleds; /* sorted by address; private memory */
    size_t sleds_bytes;
    uint8_t *code; /* trampolines */
    size_t code_bytes;
    struct pm_part { /* of code: those of each mode */
        uint8_t *at;
        uint32_t end; /* behind the last that can be used; 0: there are none yet */
        uint32_t n_wanted, n_probes, n_batches; /* n_wanted: all that there may be */
    } parts[PM_N_MODES];
    /* of code: a byte for each noun; its entries do nothing while that is 0. NULL: without */
    uint8_t *flags;
    uint64_t chunk_bytes;
    struct pm_run_object *chunk;
};
struct pm_sled {
    uintptr_t address;
    uint32_t noun; /* position among the object's nouns; UINT32_MAX: its entry has no sled */
    uint16_t must_save;
    uint8_t kind, flags;
    uint8_t armed; /* enum pm_run_mode of the trampoline that it jumps to; off: dormant */
};
extern struct pm_object *pm_objects[PM_MAX_OBJECTS];
extern uint32_t pm_n_objects;
struct stat;
bool pm_object_record(struct pm_object *object, const struct stat *info,
                      const struct pm_run_noun *nouns, uint32_t n_nouns, uint32_t capacity);
/* What is loaded, one after the other: dl_iterate_phdr, then what dlmopen loaded. */
struct dl_phdr_info;
typedef int pm_object_visitor(struct dl_phdr_info *info, size_t size, void *data);
int pm_objects_walk(pm_object_visitor *visit, void *data);
void pm_objects_update(void);  /* compares with what is loaded now */
void pm_objects_rewrite(void); /* after fork: into the new run file */
/* A chunk with all that is known of an object, but for its number and its nouns. */
struct pm_run_object *pm_object_chunk(const struct pm_object *o, const struct stat *info,
                                      uint32_t capacity, uint64_t *ret_bytes);
/* Another chunk like this one, of this number, without nouns. */
struct pm_run_object *pm_object_copy(const struct pm_run_object *chunk, uint32_t index);
void pm_object_set_path(struct pm_object *o, int fd);

#endif
