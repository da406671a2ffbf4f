/* The runtime's reading of an object: section headers, sled records, hooks, build-id. The bytes are
 * an ELF file; its segments are laid out in memory as the loader does, so that whatever is read
 * outside of them is seen.
 */
#include "runtime/code/scan.c"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const uint8_t pm_arch_nop[5] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
bool pm_confined; /* no process is here that could be */

long pm_confined_refusal(long number, const long arguments[6])
{
    (void)number, (void)arguments;
    return 0;
}

bool pm_memory_is_tight;

void *pm_mapped(long address, size_t bytes)
{
    (void)bytes;
    return address < 0 && address > -4096 ? NULL : (void *)address;
}

static void on_event(unsigned kind, uint64_t id, const void *frame, unsigned depth)
{
    (void)kind, (void)id, (void)frame, (void)depth;
}

enum { IMAGE_MAX_BYTES = 1 << 20, SEGMENTS_MAX = 16 };

/* What the loader accepts, laid out within one block of the very size. */
static uint8_t *load(const uint8_t *data, size_t size, struct pm_object *o,
                     ElfW(Phdr) segments[SEGMENTS_MAX])
{
    ElfW(Ehdr) header;
    if (size < sizeof header)
        return NULL;
    memcpy(&header, data, sizeof header);
    uint64_t image_bytes = 0;
    for (unsigned i = 0; i < header.e_phnum && o->n_phdr < SEGMENTS_MAX; i++) {
        ElfW(Phdr) *p = &segments[o->n_phdr];
        uint64_t at = header.e_phoff + i * sizeof *p;
        if (at > size || sizeof *p > size - at)
            break;
        memcpy(p, data + at, sizeof *p);
        o->n_phdr++;
        if (p->p_type != PT_LOAD)
            continue;
        if (p->p_vaddr > IMAGE_MAX_BYTES || p->p_memsz > IMAGE_MAX_BYTES ||
            p->p_filesz > p->p_memsz)
            return NULL;
        uint64_t end = p->p_vaddr + p->p_memsz;
        image_bytes = end > image_bytes ? end : image_bytes;
    }
    uint8_t *image = calloc(image_bytes + 1, 1);
    for (unsigned i = 0; image != NULL && i < o->n_phdr; i++) {
        const ElfW(Phdr) *p = &segments[i];
        if (p->p_type == PT_LOAD && p->p_offset < size)
            memcpy(image + p->p_vaddr, data + p->p_offset,
                   p->p_filesz < size - p->p_offset ? p->p_filesz : size - p->p_offset);
    }
    o->bias = (uintptr_t)image;
    o->phdr = segments;
    o->file_bytes = size;
    return image;
}

static void check_sleds(const struct pm_object *o, const struct pm_scan *scan)
{
    for (uint32_t i = 0; i < o->n_sleds; i++) {
        const struct pm_sled *sled = &o->sleds[i];
        if (memcmp((const void *)sled->address, pm_arch_nop, sizeof pm_arch_nop) != 0 ||
            sled->address < o->low || sled->address + sizeof pm_arch_nop > o->high ||
            (sled->noun >= scan->n_nouns && sled->noun != UINT32_MAX) ||
            (i > 0 && sled->address < sled[-1].address + sizeof pm_arch_nop))
            abort();
    }
    for (uint32_t i = 1; i < scan->n_nouns; i++)
        if (scan->nouns[i].id <= scan->nouns[i - 1].id)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pm_found found;
    struct pm_source source = {.fd = -1, .bytes = data, .size_bytes = size};
    if (data == NULL || !pm_found_read(&source, &found))
        return 0;
    struct pm_object object = {0};
    ElfW(Phdr) segments[SEGMENTS_MAX];
    uint8_t *image = load(data, size, &object, segments);
    if (image == NULL)
        return 0;
    pm_object_extent(&object);
    struct pm_scan scan = {0};
    if (pm_scan_sleds(&object, &found, &scan))
        check_sleds(&object, &scan);
    uint32_t id_bytes;
    const uint8_t *build_id = pm_object_build_id(&object, &id_bytes);
    uint8_t copy[64];
    if (id_bytes != 0)
        memcpy(copy, build_id, id_bytes);
    for (unsigned i = 0; i < found.n_hooks; i++)
        if (pm_object_holds(&object, object.bias + found.hooks[i].address, found.hooks[i].bytes,
                            PF_R | PF_W))
            pm_hooks_fill(object.bias + found.hooks[i].address, found.hooks[i].bytes, on_event);
    if (scan.nouns != NULL)
        pm_sys(SYS_munmap, scan.nouns, scan.bytes);
    if (object.sleds != NULL)
        pm_sys(SYS_munmap, object.sleds, object.sleds_bytes);
    free(image);
    return 0;
}
