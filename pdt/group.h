/* What one unit says of one file: a run of records, which names everything by keys, so that equal
 * groups of several units are one. The reader writes them, store.c reads them, and the database
 * keeps them for the next build.
 *
 * A record is a tag and its fields: n is a number (ULEB128), s a text (length, bytes), k a key (8
 * bytes). Places are lines and columns of the group's file, but where a path stands before them.
 * Records of what lies within a routine follow its BODY.
 *
 *     tag             fields
 *     FILE            s path, n is_system: the first, once
 *     MACRO           s name, n is_function, s text, n line, n column
 *     PRAGMA          s text, n line
 *     INCLUDE         s path, n is_system, n line
 *     TYPE            k, s name, s kind, s canonical, n size + 1, n elements + 1
 *     NAMESPACE       k, s name, n line, n column
 *     TYPEDEF         k, s name, k type, n line, n column
 *     ENUM            k, s name, n line, n column, n end line
 *     ENUMERATOR      k enum, s name, n zig-zag value
 *     CLASS           k, s name, s kind, n flags, k parent, n size + 1, s path, n line, n column,
 *                     n end line
 *     BASE            k class, k base, s name, n access, n is_virtual
 *     VARIABLE        k, s name, n kind, k type, n flags, k owner, n access, n offset + 1, s path,
 *                     n line, n column
 *     ROUTINE         k, s usr, s name, s full name, s linkage name, n kind, k type,
 *                     n linkage, n storage, n access, k class, n flags, n parameters,
 *                     s path, n line, n column
 *     BODY            k routine, n statements, n returns, 4 n: from and to. Behind its ROUTINE
 *     LOOP            n number, n parent's number, n kind, 4 n: from and to
 *     CALL            n kind, n loop, k callee, k type, s text, n line, n column, n arguments, s...
 *     ACCESS          k variable, k base, n loop, n kind, n mode, s subscripts, n line, n column
 *     TAKEN           k routine: its address is taken
 *     OVERRIDES       k routine, k method of a base
 *     DIRECTIVE       s name, s text, n loop, n line, n column, n end line
 *     OUTSIDE         what follows lies in no routine
 *     AT              s path: where places of loops, calls, accesses and directives are from here
 *                     on; empty: the group's file
 */
#ifndef PDT_GROUP_H
#define PDT_GROUP_H

#include "mapping/base/str.h"

enum pdt_tag {
    PDT_FILE = 1,
    PDT_MACRO,
    PDT_PRAGMA,
    PDT_INCLUDE,
    PDT_TYPE,
    PDT_NAMESPACE,
    PDT_TYPEDEF,
    PDT_ENUM,
    PDT_ENUMERATOR,
    PDT_CLASS,
    PDT_BASE,
    PDT_VARIABLE,
    PDT_ROUTINE,
    PDT_BODY,
    PDT_LOOP,
    PDT_CALL,
    PDT_ACCESS,
    PDT_TAKEN,
    PDT_DIRECTIVE,
    PDT_OUTSIDE,
    PDT_AT,
    PDT_OVERRIDES,
};

/* Words of the columns of the same names; the order is that of the tables in group.c. */
enum pdt_routine_kind {
    PDT_FUNCTION,
    PDT_METHOD,
    PDT_CONSTRUCTOR,
    PDT_DESTRUCTOR,
    PDT_CONVERSION,
    PDT_N_ROUTINE_KINDS
};
enum pdt_linkage { PDT_EXTERNAL, PDT_INTERNAL, PDT_NO_LINKAGE, PDT_N_LINKAGES };
enum pdt_storage { PDT_STORAGE_NONE, PDT_STORAGE_EXTERN, PDT_STORAGE_STATIC, PDT_N_STORAGES };
enum pdt_access { PDT_ACCESS_NONE, PDT_PUBLIC, PDT_PROTECTED, PDT_PRIVATE, PDT_N_ACCESSES };
enum pdt_loop_kind { PDT_FOR, PDT_WHILE, PDT_DO, PDT_RANGE, PDT_N_LOOP_KINDS };
enum pdt_call_kind { PDT_DIRECT, PDT_VIRTUAL, PDT_POINTER, PDT_DEPENDENT, PDT_N_CALL_KINDS };
enum pdt_variable_kind {
    PDT_GLOBAL,
    PDT_STATIC,
    PDT_LOCAL,
    PDT_PARAMETER,
    PDT_FIELD,
    PDT_N_VARIABLE_KINDS
};
enum pdt_reach { PDT_SUBSCRIPT, PDT_DEREFERENCE, PDT_MEMBER, PDT_WHOLE, PDT_N_REACHES };
enum pdt_mode { PDT_READ, PDT_WRITE, PDT_UPDATE, PDT_ADDRESS, PDT_UNKNOWN, PDT_N_MODES };

extern const char *const pdt_routine_kinds[],
    *const pdt_linkages[], *const pdt_storages[], *const pdt_accesses[],
                                                      *const pdt_loop_kinds[],
                                                          *const pdt_call_kinds[],
                                                              *const pdt_variable_kinds[],
                                                                  *const pdt_reaches[],
                                                                      *const pdt_modes[];

enum pdt_flags {
    PDT_IS_DEFINED = 1,
    PDT_IS_SYSTEM = 2,
    PDT_IS_INLINE = 4,
    PDT_IS_VIRTUAL = 8,
    PDT_IS_PURE = 16,
    PDT_IS_STATIC = 32,
    PDT_IS_CONST = 64,
    PDT_IS_VARIADIC = 128,
    PDT_IS_TEMPLATE = 256,
    PDT_IS_ARRAY = 512,
    PDT_IS_POINTER = 1024,
};

struct pdt_group {
    char *path; /* owned */
    bool is_system;
    struct pm_buf data;
    uint8_t hash[16];
};

void pdt_put_text(struct pm_buf *buf, const char *text, size_t len);
void pdt_put_key(struct pm_buf *buf, uint64_t key);
bool pdt_get_text(struct pm_cursor *cursor, struct pm_str *ret_text);
bool pdt_get_key(struct pm_cursor *cursor, uint64_t *ret_key);
/* A number below n; fails the cursor otherwise. */
bool pdt_get_below(struct pm_cursor *cursor, uint64_t n, unsigned *ret_number);
bool pdt_get_line(struct pm_cursor *cursor, uint32_t *ret_number);

/* XXH3, 64 bits; never 0. */
uint64_t pdt_key(const void *bytes, size_t len, uint64_t seed);
void pdt_sum(struct pm_str data, uint8_t ret_hash[16]);
void pdt_group_sum(struct pdt_group *group);

#endif
