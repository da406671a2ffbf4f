/* Text on terminals: how wide, which characters, which colours. */
#include "show.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WRAP_UNLIMITED = 100 }; /* where lines may be any wide */
enum { WIDTH_UNKNOWN = 80, WIDTH_MIN = 40, WIDTH_MAX = 400 };

/* COLUMNS is what somebody asked for; files and pipes are as wide as it takes, but for texts
 * that go on and on. */
static int width_of(FILE *out, const struct show_look *look)
{
    const char *columns = getenv("COLUMNS");
    uint64_t width = look->width;
    struct winsize size;
    bool is_asked =
        look->has_width || (columns && pm_str_to_u64(pm_str_of(columns), 100000, &width) && width);
    if (!is_asked && isatty(fileno(out)))
        width =
            ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : WIDTH_UNKNOWN;
    else if (!is_asked)
        width = 0;
    if (width == 0)
        return 0;
    return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : (int)width;
}

/* By the environment alone: the locale itself need not be installed. */
static bool speaks_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

struct show_term show_term_of(FILE *out, const struct show_look *look)
{
    const char *no_color = getenv("NO_COLOR"), *name = getenv("TERM");
    bool plain = (no_color && *no_color) || (name && !strcmp(name, "dumb")) || !isatty(fileno(out));
    return (struct show_term){
        .width = width_of(out, look),
        .whole = look->has_width && look->width == 0,
        .utf8 = look->is_utf8 || speaks_utf8(),
        .color = look->color == SHOW_COLOR_ALWAYS || (look->color == SHOW_COLOR_AUTO && !plain),
    };
}

void show_put_cut(const struct show_term *term, FILE *out, const char *printable, int width,
                  bool cut_left, bool pad)
{
    const char *ellipsis = term->utf8 ? "…" : "..";
    int has = pm_text_width(printable), columns, dots = term->utf8 ? 1 : 2, used = 0;
    const char *p = printable;
    if (width <= dots) {
        ellipsis = "";
        dots = 0;
    }
    if (has > width && cut_left) {
        for (; has + dots > width && *p; has -= columns)
            p += pm_text_next(p, &columns);
        fprintf(out, "%s%s", ellipsis, p);
        used = has + dots;
    } else if (has > width) {
        for (;;) {
            size_t n = pm_text_next(p, &columns);
            if (used + columns + dots > width)
                break;
            fwrite(p, 1, n, out);
            p += n;
            used += columns;
        }
        fputs(ellipsis, out);
        used += dots;
    } else {
        fputs(printable, out);
        used = has;
    }
    for (; pad && used < width; used++)
        fputc(' ', out);
}

void show_put_cut_middle(const struct show_term *term, FILE *out, const char *printable, int width)
{
    enum { NARROW = 24 }; /* of so few columns the beginning says most */
    int has = pm_text_width(printable), columns, dots = term->utf8 ? 1 : 2, head = 0;
    int tail = (width - dots) * 2 / 5;
    const char *p = printable;
    if (has <= width || width < NARROW) {
        show_put_cut(term, out, printable, width, false, false);
        return;
    }
    for (;; head += columns) {
        size_t n = pm_text_next(p, &columns);
        if (head + columns + dots + tail > width)
            break;
        fwrite(p, 1, n, out);
        p += n;
    }
    for (int left = has - head; left > tail; left -= columns)
        p += pm_text_next(p, &columns);
    fprintf(out, "%s%s", term->utf8 ? "…" : "..", p);
}

void show_put_wrapped(const struct show_term *term, FILE *out, const char *label,
                      const char *printable)
{
    int indent = pm_text_width(label), at = indent;
    int most = term->width ? term->width : WRAP_UNLIMITED;
    bool is_plain = label[strspn(label, " ")] == 0 || !term->color;
    fprintf(out, "%s%s%s", is_plain ? "" : SHOW_YELLOW, label, is_plain ? "" : SHOW_RESET);
    for (const char *p = printable; *p;) {
        size_t len = strcspn(p, " ");
        int width = pm_text_width_n(p, len);
        if (p != printable && at + 1 + width > most) {
            fprintf(out, "\n%*s", indent, "");
            at = indent;
        } else if (p != printable) {
            fputc(' ', out);
            at++;
        }
        fwrite(p, 1, len, out);
        at += width;
        p += len + strspn(p + len, " ");
    }
    fputc('\n', out);
}
