/* Reads one unit with libclang. Of this room only.
 *
 *     struct pdt_unit unit = {.command = command};
 *     pdt_read_unit(clang, &unit);            // never fails as a whole: unit.problem says what did
 *     use(unit.groups, unit.n_groups);
 *     pdt_unit_release(&unit);
 *
 * The process's folder must be the command's. Threads read units of their own at the same time.
 */
#ifndef PDT_READER_H
#define PDT_READER_H

#include "clang.h"
#include "unit.h"

#include "mapping/base/arena.h"
#include "mapping/base/map.h"

void pdt_read_unit(const struct pdt_clang *clang, struct pdt_unit *unit);

/* --- within the reader --- */

#define PDT_NO_GROUP UINT32_MAX
#define PDT_CUT_TEXT "statements nested too deeply were left out"
enum { PDT_TEXT_BYTES = 200 }; /* of a subscript, an argument; longer ones are cut */

/* A routine, variable, field or class that is named, in one unit. */
struct pdt_entity {
    CXCursor cursor;
    uint64_t key, type_key;
    uint32_t emitted_in; /* the group that has its record last, + 1 */
    bool is_array, is_pointer, is_routine, is_container;
};

struct pdt_seen_file {
    CXFile file;
    uint32_t group;
    bool is_system, has_pragmas; /* has_pragmas: they were read */
};

struct pdt_seen_type {
    CXType type;
    uint64_t key;
    uint32_t emitted_in;
};

/* A directive, and where the statement ends that it is of. */
struct pdt_omp {
    CXFile file;
    uint32_t group;
    unsigned line, column, text_end_line, end_line;
    const char *text;  /* behind "omp" */
    bool is_of_a_body; /* its record is among those of a routine */
};

/* Where the text is, and where #line says that it is from: records have that. */
struct pdt_place {
    CXFile file;
    unsigned line, column, offset, shown_line;
    const char *shown_path; /* NULL: the file's */
};

struct pdt_reader {
    const struct pdt_clang *clang;
    struct pdt_unit *unit;
    CXTranslationUnit tu;
    struct pm_arena arena;
    struct pdt_entity *entities;
    uint32_t n_entities, cap_entities, *entity_slots, n_entity_slots;
    struct pdt_seen_file *seen_files;
    uint32_t n_seen_files, cap_seen_files;
    struct pdt_seen_type *types;
    uint32_t n_types, cap_types;
    struct pm_map type_slots;      /* hash: 1 + the last type with it */
    struct pm_map container_slots; /* classes: 1; 2 of containers */
    struct pm_map
        destructor_slots; /* classes: 1 + which of `destructors`; its kind is 0 for none */
    CXCursor *destructors;
    uint32_t n_destructors, cap_destructors;
    struct pm_map path_slots; /* files: 1 + the position of their paths */
    const char **paths;
    uint32_t n_paths, cap_paths;
    CXCursor *stack; /* children that are being looked at */
    uint32_t n_stack, cap_stack;
    struct pdt_omp *pragmas; /* of OpenMP, of all files that were looked at */
    uint32_t n_pragmas, cap_pragmas;
    struct pm_map line_slots;            /* files: 1; 2 when #line stands in them */
    const char *shown_name, *shown_path; /* the last of a #line: as written, absolute */
    CXFile text_file;                    /* whose contents `text` are */
    const char *text;
    size_t text_len;
    struct pm_buf long_text; /* the last one of pdt_long_text */
    unsigned depth;
    bool is_cxx, is_cut, failed; /* failed: memory */
};

/* reader.c */
struct pdt_place pdt_place_of(struct pdt_reader *reader, CXSourceLocation location);
/* The file that records name. */
const char *pdt_shown_path(struct pdt_reader *reader, struct pdt_place place);
struct pdt_place pdt_cursor_place(struct pdt_reader *reader, CXCursor cursor);
void pdt_cursor_range(struct pdt_reader *reader, CXCursor cursor, struct pdt_place *ret_from,
                      struct pdt_place *ret_to);
/* The group of a file, made when needed. PDT_NO_GROUP: of the system, and so has none. */
uint32_t pdt_group_of(struct pdt_reader *reader, CXFile file, CXSourceLocation location);
struct pm_buf *pdt_group_buf(struct pdt_reader *reader, uint32_t group);
/* Into the arena; "" for none. */
const char *pdt_string(struct pdt_reader *reader, CXString string);
/* Absolute, without . and ..; lives as long as the reader. */
const char *pdt_path(struct pdt_reader *reader, CXFile file);
void pdt_put_string(struct pm_buf *buf, const char *text);
/* Children of a cursor are on the stack from *ret_first on until pdt_drop. */
uint32_t pdt_children(struct pdt_reader *reader, CXCursor cursor, uint32_t *ret_first);
void pdt_drop(struct pdt_reader *reader, uint32_t first);
/* The text of an expression; what a macro's argument says is where the argument stands. "":
 * only the macro's text says it. */
void pdt_text_of(struct pdt_reader *reader, CXCursor from, CXCursor to,
                 char ret[PDT_TEXT_BYTES + 1]);
/* Source text from one place to another of one file; cut. In `ret`, zero-ended. */
void pdt_source_text(struct pdt_reader *reader, struct pdt_place from, struct pdt_place to,
                     char ret[PDT_TEXT_BYTES + 1]);
/* All of it, on one line. Lives until the next call. */
const char *pdt_long_text(struct pdt_reader *reader, struct pdt_place from, struct pdt_place to);

/* declare.c. The key of a type, whose record goes into the group. */
uint64_t pdt_type(struct pdt_reader *reader, uint32_t group, CXType type);
/* What a declaration declares, with its record in the group. NULL: nothing of the kind. */
struct pdt_entity *pdt_entity(struct pdt_reader *reader, uint32_t group, CXCursor declaration);
void pdt_declare(struct pdt_reader *reader, CXCursor declaration);
/* reference.c. A class with elements, but not one that points to them. */
bool pdt_is_container(struct pdt_reader *reader, CXType type);
enum pdt_access pdt_access_of(struct pdt_reader *reader, CXCursor cursor);

/* body.c. The body of a routine; or an initial value. */
void pdt_read_body(struct pdt_reader *reader, uint32_t group, CXCursor routine, uint64_t key);
void pdt_read_initial_value(struct pdt_reader *reader, uint32_t group, CXCursor variable);

/* directive.c. Those of files, outside of all routines. */
void pdt_put_other_directives(struct pdt_reader *reader);

/* preprocess.c */
void pdt_read_macro(struct pdt_reader *reader, CXCursor definition);
void pdt_read_include(struct pdt_reader *reader, CXCursor inclusion);
/* Once for each file, with its records. */
void pdt_read_pragmas_of(struct pdt_reader *reader, CXFile file);
void pdt_read_pragmas(struct pdt_reader *reader);

#endif
