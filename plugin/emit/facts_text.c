/* Where the facts go: a section of the object, and a file beside it. */
#include "facts_text.h"

#include "../../format/pm_sled.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_BYTES = 1 << 30 };

/* --- the section --- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* \ and octal digits, three of them where a digit follows: gas takes 8 and 9 for octal digits
 * too. */
static char *put_escape(char *out, unsigned char byte, bool digit_follows)
{
    *out++ = '\\';
    if (byte >= 0100 || digit_follows)
        *out++ = (char)('0' + (byte >> 6));
    if (byte >= 010 || digit_follows)
        *out++ = (char)('0' + (byte >> 3 & 7));
    *out++ = (char)('0' + (byte & 7));
    return out;
}

/* Bytes as .ascii lines. */
static void add_ascii(struct pm_buf *out, const char *bytes, size_t len)
{
    enum { LINE_BYTES = 128 };
    for (size_t at = 0; at < len; at += LINE_BYTES) {
        char line[4 * LINE_BYTES], *p = line;
        size_t end = len - at < LINE_BYTES ? len : at + LINE_BYTES;
        for (size_t i = at; i < end; i++) {
            unsigned char byte = (unsigned char)bytes[i];
            if (byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\')
                *p++ = (char)byte;
            else
                p = put_escape(p, byte, i + 1 < end && is_digit(bytes[i + 1]));
        }
        pm_buf_add_str(out, "\t.ascii \"");
        pm_buf_add(out, line, (size_t)(p - line));
        pm_buf_add_str(out, "\"\n");
    }
}

void pm_facts_section(const struct pm_facts *facts, struct pm_buf *out)
{
    struct pm_buf chunk = PM_BUF_INIT(MAX_BYTES);
    pm_pif_write_compressed(facts->pif, &chunk);
    pm_buf_add_str(out, "\t.pushsection " PM_PIF_SECTION ",\"\",@progbits\n");
    add_ascii(out, chunk.data, chunk.len);
    pm_buf_add_str(out, "\t.popsection\n");
    if (chunk.failed || pm_facts_failed(facts))
        out->failed = true;
    pm_buf_release(&chunk);
}

/* --- the .pif file --- */

static size_t length_without_extension(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    const char *base = slash ? slash + 1 : path;
    return dot && dot > base ? (size_t)(dot - path) : strlen(path);
}

static void add_file_name(const char *output, const char *dir, struct pm_buf *out)
{
    size_t len = length_without_extension(output);
    if (dir) {
        pm_buf_add_str(out, dir);
        pm_buf_add_byte(out, '/');
    }
    for (size_t i = 0; i < len; i++)
        pm_buf_add_byte(out, dir && output[i] == '/' ? '#' : (unsigned char)output[i]);
    pm_buf_add_str(out, ".pif");
}

/* Nothing lies beside standard output. */
static bool is_file(const char *output)
{
    return output[0] != 0 && strcmp(output, "-") != 0 && strcmp(output, "/dev/null") != 0;
}

bool pm_facts_file_name(const struct pm_options *options, const char *input, const char *output,
                        struct pm_buf *out)
{
    if (options->pif_none || (!options->pif_dir && !is_file(output)))
        return false;
    add_file_name(is_file(output) ? output : input, options->pif_dir, out);
    return true;
}

/* Long names are cut: the number alone tells files apart. */
bool pm_facts_pdb_name(const struct pm_options *options, const char *input, const char *output,
                       struct pm_buf *out)
{
    enum { STEM_BYTES = 200, PATH_BYTES = 4096 };
    const char *path = is_file(output) ? output : input, *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    char folder[PATH_BYTES];
    struct pm_buf whole = PM_BUF_INIT(3 * PATH_BYTES);
    struct pm_id_hash hash;
    if (!options->pdb_dir)
        return false;
    if (*path != '/' && getcwd(folder, sizeof folder))
        pm_buf_printf(&whole, "%s/", folder);
    pm_buf_add_str(&whole, path);
    size_t len = length_without_extension(base);
    pm_id_hash_init(&hash, "pdb");
    pm_id_hash_string(&hash, whole.data && !whole.failed ? whole.data : path);
    pm_buf_printf(out, "%s/%.*s-%016llx.pif", options->pdb_dir,
                  (int)(len < STEM_BYTES ? len : STEM_BYTES), base,
                  (unsigned long long)pm_id_hash_done(&hash));
    pm_buf_release(&whole);
    return true;
}

static bool write_to(const char *path, const struct pm_buf *text)
{
    FILE *out = fopen(path, "wb");
    if (!out)
        return false;
    bool done = fwrite(text->data, 1, text->len, out) == text->len;
    return fclose(out) == 0 && done;
}

static bool write_whole(const char *path, const struct pm_buf *text)
{
    struct pm_buf temporary = PM_BUF_INIT(MAX_BYTES);
    pm_buf_printf(&temporary, "%s.%ld.tmp", path, (long)getpid());
    errno = ENOMEM;
    bool done =
        !temporary.failed && write_to(temporary.data, text) && rename(temporary.data, path) == 0;
    int cause = errno;
    if (!done && !temporary.failed)
        unlink(temporary.data);
    pm_buf_release(&temporary);
    errno = cause;
    return done;
}

/* False: errno says why. */
static bool write_file(const struct pm_facts *facts, const char *path, bool with_calls_within)
{
    struct pm_buf text = PM_BUF_INIT((size_t)1 << 32);
    pm_pif_write_text(facts->pif, &text);
    if (with_calls_within && facts->within.len)
        pm_buf_add(&text, facts->within.data, facts->within.len);
    text.failed |= facts->within.failed;
    bool done = !text.failed && write_whole(path, &text);
    int cause = text.failed ? ENOMEM : errno;
    pm_buf_release(&text);
    errno = cause;
    return done;
}

/* False: a warning is appended. rest: what is behind its cause. */
static bool keep_file(const struct pm_facts *facts, const struct pm_buf *name, bool is_pdb,
                      const char *rest, struct pm_buf *ret_warning)
{
    errno = ENOMEM;
    if (!name->failed && write_file(facts, name->data, is_pdb))
        return true;
    if (ret_warning->len)
        pm_buf_add_byte(ret_warning, '\n');
    pm_buf_printf(ret_warning, "perfmap: warning: cannot write '%s': %s; %s",
                  name->data ? name->data : "", strerror(errno), rest);
    return false;
}

bool pm_facts_keep(const struct pm_facts *facts, const struct pm_options *options,
                   const char *input, const char *output, struct pm_buf *ret_warning)
{
    struct pm_buf name = PM_BUF_INIT((size_t)1 << 20), pdb = PM_BUF_INIT((size_t)1 << 20);
    bool done = true;
    if (pm_pif_n_nouns(facts->pif) == 0)
        return true;
    if (pm_facts_file_name(options, input, output, &name))
        done = keep_file(facts, &name, false,
                         "the facts are in the object all the same (pif=none: no such files)",
                         ret_warning);
    if (pm_facts_pdb_name(options, input, output, &pdb))
        done =
            keep_file(facts, &pdb, true, "the program database will not have them", ret_warning) &&
            done;
    pm_buf_release(&name);
    pm_buf_release(&pdb);
    return done;
}

enum pm_status pm_facts_join(struct pm_facts *facts, const struct pm_facts *other,
                             struct pm_error *err)
{
    struct pm_buf chunk = PM_BUF_INIT(MAX_BYTES);
    enum pm_status status = PM_ERR_MEMORY;
    pm_pif_write_compact(other->pif, &chunk);
    if (chunk.failed)
        pm_error_set(err, status, "no memory for the facts");
    else
        status = pm_pif_read_compact(facts->pif, "late facts", chunk.data, chunk.len, err);
    pm_buf_release(&chunk);
    return status;
}
