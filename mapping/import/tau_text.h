/* Lines of TAU's profiles. */
#ifndef PM_IMPORT_TAU_TEXT_H
#define PM_IMPORT_TAU_TEXT_H

#include "../base/str.h"

/* "NAME" NUMBER... [GROUP="GROUPS"], with as many numbers as are asked for. */
struct tau_row {
    struct pm_str name, groups;
    double numbers[5];
};
bool tau_read_row(struct pm_str line, size_t n_numbers, struct tau_row *ret_row);

/* What a part of a path is. */
enum tau_kind {
    TAU_TIMER,   /* was entered and left */
    TAU_SAMPLED, /* [SAMPLE], [UNWIND]: found by samples */
    TAU_NOTHING, /* [CONTEXT], [SUMMARY]: stands for what is above or below it */
};

/* "[SAMPLE] NAME [{FILE} {LINE,COLUMN}-{LINE,COLUMN}]", of which only NAME has to be there. */
struct tau_name {
    enum tau_kind kind;
    struct pm_str function, file;
    uint32_t line_no;
};
struct tau_name tau_read_name(struct pm_str text);

/* The next part of "main => f  => g"; false: there is none. Blanks around it are no part of it. */
bool tau_next_part(struct pm_str *rest, struct pm_str *ret_part);

/* "profile.NODE.CONTEXT.THREAD" */
struct tau_place {
    uint32_t node, context, thread;
};
bool tau_read_file_name(const char *name, struct tau_place *ret_place);

/* "N templated_functions_MULTI_METRIC"; metric "": of times. */
bool tau_read_head(struct pm_str line, uint64_t *ret_n, struct pm_str *ret_metric);
/* The value of <attribute><name>KEY</name><value>...</value>; "": there is none. */
struct pm_str tau_metadata(struct pm_str line, const char *key);

#endif
