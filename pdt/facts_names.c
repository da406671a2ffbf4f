#include "facts_names.h"
#include "group.h"

#include <strings.h>

/* How far "operator" and the signs behind it reach; 0: another word. */
static size_t operator_length(const char *p)
{
    static const char word[] = "operator";
    size_t len = sizeof word - 1;
    if (strncmp(p, word, len) != 0)
        return 0;
    return len + (p[len] == '(' ? 2 : strspn(p + len, "<>-+=*/%&|^~!,[]"));
}

static size_t anonymous_length(const char *p)
{
    static const char word[] = "(anonymous namespace)";
    return strncmp(p, word, sizeof word - 1) == 0 ? sizeof word - 1 : 0;
}

/* ret_last: where the last part begins. */
static size_t parse(const char *name, size_t *ret_last)
{
    int depth = 0;
    size_t i = 0;
    *ret_last = 0;
    while (name[i]) {
        size_t skip = operator_length(name + i) + anonymous_length(name + i);
        if (skip) {
            i += skip <= strlen(name + i) ? skip : 1;
            continue;
        }
        if (name[i] == '(' && depth == 0)
            break;
        depth += strchr("<{(", name[i]) != NULL;
        depth -= strchr(">})", name[i]) != NULL;
        bool is_border = depth == 0 && name[i] == ':' && name[i + 1] == ':';
        i += is_border ? 2 : 1;
        if (is_border)
            *ret_last = i;
    }
    return i;
}

struct pm_str pdt_name_without_arguments(const char *name)
{
    size_t last;
    return (struct pm_str){name, parse(name, &last)};
}

/* A second variable of a name has its line behind it. */
struct pm_str pdt_last_name(const char *name)
{
    size_t last, end = parse(name, &last);
    size_t digits = end;
    while (digits > last && name[digits - 1] >= '0' && name[digits - 1] <= '9')
        digits--;
    if (digits < end && digits > last + 1 && name[digits - 1] == ':')
        end = digits - 1;
    return (struct pm_str){name + last, end - last};
}

struct pm_str pdt_module_of(const char *symbol)
{
    const char *end = strstr(symbol, "_MOD_");
    if (strncmp(symbol, "__", 2) != 0 || !end || end <= symbol + 2)
        return (struct pm_str){0};
    return (struct pm_str){symbol + 2, (size_t)(end - symbol - 2)};
}

bool pdt_is_fortran_path(const char *path)
{
    static const char *const ends[] = {"f",   "for", "ftn", "fpp", "f90",
                                       "f95", "f03", "f08", "f18", NULL};
    const char *dot = strrchr(path, '.');
    for (int i = 0; dot && ends[i]; i++)
        if (strcasecmp(dot + 1, ends[i]) == 0)
            return true;
    return false;
}

bool pdt_is_system_path(const char *path)
{
    return strncmp(path, "/usr/include/", 13) == 0 || strncmp(path, "/usr/lib/", 9) == 0;
}

const char *pdt_type_kind(const char *type)
{
    if (strchr(type, '['))
        return "VariableArray";
    return *type && type[strlen(type) - 1] == '*' ? "Pointer" : "Unexposed";
}

static void add_squeezed(struct pm_buf *buf, const char *p, const char *end)
{
    for (; p < end; p++)
        if (*p != ' ')
            pm_buf_add_byte(buf, (unsigned char)*p);
}

uint64_t pdt_signature_key(struct pm_str name, struct pm_str type)
{
    enum { SEED = 0x7067 };
    struct pm_buf buf = PM_BUF_INIT(1 << 24);
    const char *begin = type.len ? memchr(type.p, '(', type.len) : NULL;
    const char *end = type.len ? memrchr(type.p, ')', type.len) : NULL;
    add_squeezed(&buf, name.p, name.p + name.len);
    if (begin && end)
        add_squeezed(&buf, begin, end + 1);
    uint64_t key = pdt_key(buf.data ? buf.data : "", buf.len, SEED);
    pm_buf_release(&buf);
    return key;
}

const char *pdt_complete_symbol(struct pm_arena *arena, const char *symbol)
{
    char *copy = pm_arena_strndup(arena, symbol, strlen(symbol));
    bool is_cxx = copy && !strncmp(copy, "_ZN", 3);
    for (char *p = copy; is_cxx && *p; p++)
        if ((*p == 'C' || *p == 'D') && p[1] >= '0' && p[1] <= '4' && p[2] == 'E') {
            p[1] = '1';
            break;
        }
    return copy;
}
