/* The list behind _r_debug: its first part is of the program's own namespace, which
 * dl_iterate_phdr shows. */
#include "runtime/code/namespaces.h"
#include "runtime/base/process.h"
#include "runtime/base/sys.h"

#include <link.h>
#include <string.h>
#include <sys/uio.h>

struct extended {
    struct r_debug base;
    const struct extended *next;
};

/* The first; NULL: this loader has one namespace only. */
static const struct extended *namespaces(void)
{
    const struct extended *first = (const struct extended *)&_r_debug;
    __asm__("" : "+r"(first)); /* the header declares the first part only */
    return first->base.r_version >= 2 ? first : NULL;
}

bool pm_namespaces_are_consistent(void)
{
    if (_r_debug.r_state != RT_CONSISTENT)
        return false;
    for (const struct extended *n = namespaces(); n != NULL; n = n->next)
        if (n->base.r_state != RT_CONSISTENT)
            return false;
    return true;
}

/* The loader itself is in all of them. */
static bool is_of_program(const struct link_map *map)
{
    for (const struct link_map *own = _r_debug.r_map; own != NULL; own = own->l_next)
        if (own->l_addr == map->l_addr)
            return true;
    return false;
}

/* Libraries begin with their header nearly always; the kernel looks whether there is anything. */
static bool read_header(const struct link_map *map, ElfW(Ehdr) * ret_header)
{
    struct iovec to = {ret_header, sizeof *ret_header},
                 from = {(void *)map->l_addr, sizeof *ret_header};
    long n = pm_sys(SYS_process_vm_readv, pm_process.pid, &to, 1, &from, 1, 0);
    return n == (long)sizeof *ret_header && memcmp(ret_header->e_ident, ELFMAG, SELFMAG) == 0 &&
           ret_header->e_phentsize == sizeof(ElfW(Phdr));
}

static int visit_map(const struct link_map *map, pm_object_visitor *visit, void *data)
{
    ElfW(Ehdr) header;
    if (map->l_name == NULL || map->l_name[0] == 0 || is_of_program(map) ||
        !read_header(map, &header))
        return 0;
    struct dl_phdr_info info = {.dlpi_addr = map->l_addr,
                                .dlpi_name = map->l_name,
                                .dlpi_phdr = (const ElfW(Phdr) *)(map->l_addr + header.e_phoff),
                                .dlpi_phnum = header.e_phnum};
    return visit(&info, sizeof info, data);
}

int pm_namespaces_walk(pm_object_visitor *visit, void *data)
{
    const struct extended *first = namespaces();
    for (const struct extended *n = first != NULL ? first->next : NULL; n != NULL; n = n->next)
        for (const struct link_map *map = n->base.r_map; map != NULL; map = map->l_next) {
            int result = visit_map(map, visit, data);
            if (result != 0)
                return result;
        }
    return 0;
}
