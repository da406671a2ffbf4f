/* One file that is compiled, and what it said: groups. Of this room only.
 *
 *     struct pdt_unit unit = {.command = command};
 *     use(&unit);                       // pdt_read_unit of reader.h, or pdt_previous_keep
 *     pdt_unit_release(&unit);
 */
#ifndef PDT_UNIT_H
#define PDT_UNIT_H

#include "commands.h"
#include "group.h"

struct pdt_unit_file {
    char *path; /* owned */
    bool is_system;
};

struct pdt_unit {
    const struct pdt_command *command;
    uint64_t key;
    struct pdt_group *groups;
    uint32_t n_groups, cap_groups;
    struct pdt_unit_file *files; /* all that was read, the unit's own first */
    uint32_t n_files, cap_files;
    uint32_t n_errors;
    char *problem; /* owned: the first error; NULL: none */
    bool is_read;  /* something is known of it */
    bool is_kept;  /* from the build before */
};

void pdt_unit_release(struct pdt_unit *unit);
/* Nothing is known of it, and why. */
void pdt_unit_fail(struct pdt_unit *unit, const char *why);

#endif
