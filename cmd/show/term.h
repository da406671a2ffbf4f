/* Text on terminals: how wide, which characters, which colours.
 *
 *     struct show_term term = show_term_of(stdout, &look);
 *     show_put_cut(&term, stdout, name, 40, false, true);
 */
#ifndef PM_SHOW_TERM_H
#define PM_SHOW_TERM_H

#include "mapping/base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum show_color { SHOW_COLOR_AUTO, SHOW_COLOR_ALWAYS, SHOW_COLOR_NEVER };

/* How text is to look, of all commands that show archives. */
struct show_look {
    enum show_color color;
    bool has_width;
    uint64_t width; /* columns; 0: as wide as it takes */
    bool is_utf8;   /* whatever the environment says */
};

struct show_term {
    int width;  /* columns; 0: nobody counts them */
    bool whole; /* texts are not cut, however long they are */
    bool utf8, color;
};

/* What texts of a table may take where nobody counts columns: a mangled name has 60 000 at
 * times. */
enum { SHOW_NAME_MOST = 160, SHOW_PLACE_MOST = 80 };

#define SHOW_RESET "\033[0m"
#define SHOW_BOLD "\033[1m"
#define SHOW_DIM "\033[2m"
#define SHOW_RED "\033[31m"
#define SHOW_YELLOW "\033[33m"
#define SHOW_GREEN "\033[32m"

struct show_term show_term_of(FILE *out, const struct show_look *look);
/* Names lose their middle: a function's own name is at their end. Not padded. */
void show_put_cut_middle(const struct show_term *term, FILE *out, const char *printable, int width);
/* Writes text in exactly `width` columns: cut with an ellipsis (at the left for paths), padded on
 * the right. */
void show_put_cut(const struct show_term *term, FILE *out, const char *printable, int width,
                  bool cut_left, bool pad);
/* A line or several: words after a label, which is yellow, broken at the terminal's width. */
void show_put_wrapped(const struct show_term *term, FILE *out, const char *label,
                      const char *printable);

#endif
