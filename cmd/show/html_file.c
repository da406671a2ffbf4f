/* Pages of one file. Their data are base64 in script elements of a type that no browser runs, so
 * that no name of an archive can end them. */
#include "html_file.h"

#include <stdlib.h>
#include <zlib.h>

/* The build makes this file depend on them. */
#define TEMPLATE(name, file)                  \
    __asm__(".section .rodata\n"              \
            ".globl " #name "\n"              \
            ".hidden " #name "\n" #name ":\n" \
            ".incbin \"" file "\"\n"          \
            ".byte 0\n"                       \
            ".previous\n");                   \
    extern const char name[]
TEMPLATE(show_html_report, PERFMAP_PAGE);
TEMPLATE(show_html_diff, PERFMAP_DIFF_PAGE);

static const char *const templates[] = {
    [SHOW_HTML_REPORT] = show_html_report, [SHOW_HTML_DIFF] = show_html_diff};

enum { PART_BYTES = 24 << 20 }; /* 32 MB in base64 */

static const char file_policy[] = "default-src 'none'; script-src 'unsafe-inline'; "
                                  "style-src 'unsafe-inline'; img-src data: blob:; base-uri "
                                  "'none'; form-action 'none'";
static const char served_policy[] = "default-src 'none'; script-src 'unsafe-inline'; "
                                    "style-src 'unsafe-inline'; img-src data: blob:; connect-src "
                                    "'self'; base-uri 'none'; form-action 'none'";

/* --- data --- */

static void add_base64(struct pm_buf *out, const unsigned char *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char block[4096];
    size_t filled = 0;
    for (size_t i = 0; i < n; i += 3) {
        size_t left = n - i;
        unsigned char three[3] = {0};
        memcpy(three, bytes + i, left < 3 ? left : 3);
        uint32_t word = (uint32_t)three[0] << 16 | (uint32_t)three[1] << 8 | three[2];
        for (int digit = 0; digit < 4; digit++)
            block[filled++] = digits[word >> (18 - 6 * digit) & 63];
        if (left < 3)
            memcpy(block + filled - (3 - left), "==", 3 - left);
        if (filled == sizeof block) {
            pm_buf_add(out, block, filled);
            filled = 0;
        }
    }
    pm_buf_add(out, block, filled);
}

void show_html_add_chunk(struct pm_buf *out, const char *name, uint32_t number,
                         const struct pm_buf *bytes)
{
    uint32_t part = 0;
    for (size_t at = 0; at < bytes->len || part == 0; at += PART_BYTES, part++) {
        size_t n = bytes->len - at < PART_BYTES ? bytes->len - at : PART_BYTES;
        pm_buf_printf(out,
                      "<script type=\"application/octet-stream\" id=\"%s-%u-%u\" "
                      "data-bytes=\"%zu\">",
                      name, number, part, n);
        add_base64(out, (const unsigned char *)bytes->data + at, n);
        pm_buf_add_str(out, "</script>\n");
    }
}

/* Fast, for columns of numbers get hardly smaller by more work. */
bool show_html_pack(struct pm_buf *bytes)
{
    uLongf len = compressBound(bytes->len);
    unsigned char *packed = pm_alloc_array(len, 1);
    bool good = packed && compress2(packed, &len, (const unsigned char *)bytes->data, bytes->len,
                                    Z_BEST_SPEED) == Z_OK;
    if (good) {
        pm_buf_release(bytes);
        pm_buf_add(bytes, packed, len);
    }
    free(packed);
    return good && !bytes->failed;
}

/* --- the template --- */

static const char data_mark[] = "<!--@DATA@-->";

void show_html_begin(struct pm_buf *out, enum show_html_page page, bool is_served)
{
    const char *const markers[][2] = {{"@SERVED@", is_served ? "yes" : "no"},
                                      {"@POLICY@", is_served ? served_policy : file_policy},
                                      {data_mark, ""}};
    const char *at = templates[page];
    for (size_t i = 0; i < sizeof markers / sizeof *markers; i++) {
        const char *found = strstr(at, markers[i][0]);
        PM_ASSERT(found);
        pm_buf_add(out, at, (size_t)(found - at));
        pm_buf_add_str(out, markers[i][1]);
        at = found + strlen(markers[i][0]);
    }
}

void show_html_end(struct pm_buf *out, enum show_html_page page)
{
    pm_buf_add_str(out, strstr(templates[page], data_mark) + strlen(data_mark));
}
