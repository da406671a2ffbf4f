/* Where the facts go: the section .perfmap.pif of the object, and NAME.pif beside it.
 *
 * The section is not allocated and stands in no group: linkers join the chunks of all objects,
 * --gc-sections drops it only with the whole object, strip leaves it. With -flto the early facts
 * must go through the byte code, for the linker never sees the other sections of such an object:
 * they travel as a top-level asm. The object itself gets them too, so that `perfmap pif foo.o` can
 * tell.
 */
#include "facts.h"

#include <errno.h>
#include <unistd.h>

/* --- the section --- */

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
static std::string ascii_lines(const char *bytes, size_t len)
{
    enum { LINE_BYTES = 128 };
    static const char begin[] = "\t.ascii \"", end[] = "\"\n";
    std::string text;
    text.reserve(len * 3 + 64);
    for (size_t at = 0; at < len; at += LINE_BYTES) {
        char line[4 * LINE_BYTES], *out = line;
        size_t n = MIN(len - at, (size_t)LINE_BYTES);
        for (size_t i = at; i < at + n; i++) {
            unsigned char byte = (unsigned char)bytes[i];
            if (byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\')
                *out++ = (char)byte;
            else
                out = put_escape(out, byte, i + 1 < at + n && ISDIGIT(bytes[i + 1]));
        }
        text.append(begin, sizeof begin - 1);
        text.append(line, (size_t)(out - line));
        text.append(end, sizeof end - 1);
    }
    return text;
}

/* The chunk as assembler text, empty when there is nothing to say. */
static std::string section_text(const struct pm_pif *pif)
{
    struct pm_buf chunk = PM_BUF_INIT((size_t)1 << 30);
    pm_pif_write_compressed(pif, &chunk);
    if (chunk.failed || pm_pif_failed(pif))
        fatal_error(UNKNOWN_LOCATION, "perfmap: no memory for the facts");
    std::string text = "\t.pushsection " PM_PIF_SECTION ",\"\",@progbits\n";
    text += ascii_lines(chunk.data, chunk.len);
    text += "\t.popsection\n";
    pm_buf_release(&chunk);
    return text;
}

static bool has_facts(const struct pm_pif *pif)
{
    return pm_pif_n_nouns(pif) != 0;
}

/* All functions have been read; byte code is not written yet. */
static void put_into_byte_code(void *, void *)
{
    if (!in_lto_p && !seen_error()) {
        pm_fact_tables();
        pm_fortran_facts(pm_facts_early());
    }
    if (!flag_generate_lto || in_lto_p || seen_error() || !pm_options.section ||
        !has_facts(pm_facts_early()))
        return;
    std::string text = section_text(pm_facts_early());
    symtab->finalize_toplevel_asm(build_string((int)text.size() + 1, text.c_str()));
}

static void put_into_object(void)
{
    if (asm_out_file == NULL || !pm_options.section)
        return;
    bool slim = flag_generate_lto && !in_lto_p && !flag_fat_lto_objects;
    const struct pm_pif *pif = slim ? pm_facts_early() : pm_facts_late();
    if (!has_facts(pif))
        return;
    std::string text = section_text(pif);
    fwrite(text.data(), 1, text.size(), asm_out_file);
}

/* --- the .pif file --- */

/* The arguments that the user gave the driver, which leaves them in the environment, each in ''
 * with '\'' for a quote. */
static std::vector<std::string> driver_arguments(void)
{
    std::vector<std::string> arguments;
    const char *p = getenv("COLLECT_GCC_OPTIONS");
    bool in_quotes = false, open = false;
    std::string argument;
    for (; p != NULL && *p != 0; p++) {
        if (*p == '\'') {
            in_quotes = !in_quotes;
            open = true;
        } else if (*p == '\\' && !in_quotes && p[1] != 0) {
            argument += *++p;
        } else if (*p == ' ' && !in_quotes) {
            if (open)
                arguments.push_back(argument);
            argument.clear();
            open = false;
        } else {
            argument += *p;
            open = true;
        }
    }
    if (open)
        arguments.push_back(argument);
    return arguments;
}

/* What the driver makes: the object's (or assembler file's) name; empty when none is kept. */
static std::string kept_output(void)
{
    bool keeps = false;
    std::string output;
    std::vector<std::string> arguments = driver_arguments();
    for (size_t i = 0; i < arguments.size(); i++) {
        if (arguments[i] == "-c" || arguments[i] == "-S")
            keeps = true;
        else if (arguments[i] == "-o" && i + 1 < arguments.size())
            output = arguments[++i];
    }
    if (!keeps || output == "-" || output == "/dev/null")
        return "";
    if (output.empty() && main_input_filename[0] == '<') /* standard input */
        return "";
    return !output.empty() ? output : lbasename(main_input_filename);
}

static std::string without_extension(const std::string &path)
{
    size_t dot = path.rfind('.'), slash = path.rfind('/');
    bool has = dot != std::string::npos && (slash == std::string::npos ? dot > 0 : dot > slash + 1);
    return has ? path.substr(0, dot) : path;
}

/* Name of the .pif file, empty for none. In one folder for all, the object's own folder becomes
 * part of the name, as gcov does it. */
static std::string pif_name(void)
{
    std::string output = kept_output();
    if (pm_options.pif_none || (pm_options.pif_dir == NULL && output.empty()))
        return "";
    std::string name = without_extension(!output.empty() ? output : main_input_filename);
    if (pm_options.pif_dir != NULL) {
        std::replace(name.begin(), name.end(), '/', '#');
        name = std::string(pm_options.pif_dir) + '/' + name;
    }
    return name + ".pif";
}

/* To a temporary beside it, then renamed. Not synced: a build makes thousands of these, and the
 * next build makes them again. */
static bool write_whole(const std::string &name, const struct pm_buf *text)
{
    std::string temporary = name + "." + std::to_string((long)getpid()) + ".tmp";
    FILE *out = fopen(temporary.c_str(), "wb");
    if (out == NULL)
        return false;
    bool good = fwrite(text->data, 1, text->len, out) == text->len;
    good = fclose(out) == 0 && good;
    if (good && rename(temporary.c_str(), name.c_str()) == 0)
        return true;
    int cause = errno;
    unlink(temporary.c_str());
    errno = cause;
    return false;
}

static void write_pif(struct pm_pif *pif)
{
    std::string name = in_lto_p ? "" : pif_name();
    if (name.empty() || !has_facts(pif))
        return;
    struct pm_buf text = PM_BUF_INIT((size_t)1 << 32);
    pm_pif_write_text(pif, &text);
    if (text.failed)
        fatal_error(UNKNOWN_LOCATION, "perfmap: no memory for '%s'", name.c_str());
    /* Not a warning() of GCC's: -Werror shall not fail a compilation for a full disk. */
    if (!write_whole(name, &text))
        fprintf(stderr,
                "perfmap: warning: cannot write '%s': %s; the facts are in the object all the same "
                "(pif=none: no such files)\n",
                name.c_str(), xstrerror(errno));
    pm_buf_release(&text);
}

/* The .pif file holds early and late facts, also where the section must keep them apart. */
static void join_late_facts(void)
{
    if (pm_facts_late() == pm_facts_early())
        return;
    struct pm_buf chunk = PM_BUF_INIT((size_t)1 << 30);
    pm_pif_write_compact(pm_facts_late(), &chunk);
    struct pm_error err = PM_ERROR_INIT;
    if (pm_pif_read_compact(pm_facts_early(), "late facts", chunk.data, chunk.len, &err) != PM_OK)
        fatal_error(UNKNOWN_LOCATION, "perfmap: %s", pm_error_text(&err));
    pm_buf_release(&chunk);
}

static void write_facts(void *, void *)
{
    if (seen_error() || flag_syntax_only || flag_wpa)
        return;
    pm_fortran_call_facts(pm_facts_late());
    put_into_object();
    join_late_facts();
    write_pif(pm_facts_early());
}

void pm_facts_out_register(const char *plugin_name)
{
    register_callback(plugin_name, PLUGIN_ALL_IPA_PASSES_START, put_into_byte_code, NULL);
    register_callback(plugin_name, PLUGIN_FINISH_UNIT, write_facts, NULL);
}
