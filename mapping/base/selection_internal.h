/* Parts of selection lists: selection.c what fits, selection_read.c our format, selection_other.c
 * Score-P's and TAU's. */
#ifndef PM_SELECTION_INTERNAL_H
#define PM_SELECTION_INTERNAL_H

#include "map.h"
#include "selection.h"

enum pm_selection_kind {
    PM_SELECTION_ANY,      /* a function or a file */
    PM_SELECTION_FUNCTION, /* func: */
    PM_SELECTION_C,        /* c: a function whose symbol is its name */
    PM_SELECTION_FILE,     /* file: */
    PM_SELECTION_SYMBOL,   /* symbol: exactly the linker's name, maybe in a file */
    PM_SELECTION_MANGLED,  /* mangled: a pattern of the linker's name */
    PM_SELECTION_FORTRAN,  /* fortran: a procedure of Fortran, in any case */
};

struct pm_selection_rule {
    enum pm_selection_kind kind;
    bool include;
    uint32_t section;
    char *text;        /* owned */
    char *bare;        /* owned: without parameters, for names of C; NULL: it has none */
    char *file;        /* owned: of a symbol; NULL: any */
    uint32_t previous; /* 1 + the rule before with the same key; 0: none */
};

struct pm_selection_section {
    uint32_t n; /* rules */
    bool has_include;
};

struct pm_selection {
    struct pm_selection_rule *rules;
    uint32_t n_rules, cap_rules;
    struct pm_selection_section *sections; /* the first two are those of pm_selection_add */
    uint32_t n_sections, cap_sections;
    uint32_t *scanned; /* rules that no key finds */
    uint32_t n_scanned, cap_scanned;
    struct pm_map by_key; /* 1 + the last rule */
    char **notes;
    uint32_t n_notes, cap_notes;
    const char *source;
};

/* selection.c. A new section, never the first two. */
PM_MUST_CHECK enum pm_status selection_begin_section(struct pm_selection *selection,
                                                     struct pm_error *err, uint32_t *ret_section);
/* Takes text and file, in any case; file may be NULL. */
PM_MUST_CHECK enum pm_status selection_add_rule(struct pm_selection *selection, uint32_t section,
                                                enum pm_selection_kind kind, bool include,
                                                char *text, char *file, struct pm_error *err);
PM_MUST_CHECK enum pm_status selection_add_note(struct pm_selection *selection, const char *text,
                                                struct pm_error *err);

/* selection_read.c */
PM_MUST_CHECK enum pm_status selection_add_pattern(struct pm_selection *selection, uint32_t section,
                                                   bool include, const char *pattern,
                                                   struct pm_error *err);
/* The next line without its end and blanks around it; false: there is none. */
struct selection_lines {
    struct pm_str rest;
    unsigned line_no; /* of the line at hand */
    struct pm_str line;
};
bool selection_next_line(struct selection_lines *lines);

/* selection_other.c */
PM_MUST_CHECK enum pm_status selection_read_scorep(struct pm_selection *selection,
                                                   struct selection_lines *lines,
                                                   struct pm_error *err);
PM_MUST_CHECK enum pm_status selection_read_tau(struct pm_selection *selection,
                                                struct selection_lines *lines,
                                                struct pm_error *err);

#endif
