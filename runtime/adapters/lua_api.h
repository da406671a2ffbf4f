/* What of Lua 5.4's interface (lua.h, lauxlib.h) the adapter uses: its layout does not change
 * within 5.4, so that no header of it is needed to build, and the functions are found where the
 * program has them. And the names that Lua's functions go by, and LUA_INIT. */
#ifndef PM_LUA_API_H
#define PM_LUA_API_H

#include "adapter.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#define LUA_LIBRARY PM_LUA_LIBRARY

enum {
    ON_CALL, /* of hooks */
    ON_RETURN,
    ON_LINE,
    ON_COUNT, /* of instructions */
    ON_TAIL_CALL,
    CALLS_AND_RETURNS = 1 << ON_CALL | 1 << ON_RETURN,
    LINES = 1 << ON_LINE,
    COUNTS = 1 << ON_COUNT,
    REGISTRY = -1000000 - 1000,
    VERSION = 504,
    LUA_NAME_BYTES = 256,
};

struct lua_State;
struct record { /* lua_Debug of 5.4 */
    int event;
    const char *name, *name_what, *what, *source;
    size_t source_bytes;
    int line, first_line, last_line;
    unsigned char n_up, n_parameters;
    char is_vararg, is_tail_call;
    unsigned short first_transferred, n_transferred;
    char short_source[60];
    const void *call;
};
typedef void hook_function(struct lua_State *L, struct record *r);

/* Lua's functions, wherever they are. */
#define LUA_FUNCTIONS(X)                                                                 \
    X(int, lua_getinfo, (struct lua_State *, const char *, struct record *))             \
    X(int, lua_getstack, (struct lua_State *, int, struct record *))                     \
    X(void, lua_sethook, (struct lua_State *, hook_function *, int, int))                \
    X(double, lua_version, (struct lua_State *))                                         \
    X(void, lua_settop, (struct lua_State *, int))                                       \
    X(void *, lua_tocfunction, (struct lua_State *, int))                                \
    X(const char *, lua_tolstring, (struct lua_State *, int, size_t *))                  \
    X(void, luaL_traceback, (struct lua_State *, struct lua_State *, const char *, int)) \
    X(int, luaL_loadbufferx,                                                             \
      (struct lua_State *, const char *, size_t, const char *, const char *))            \
    X(int, luaL_loadfilex, (struct lua_State *, const char *, const char *))             \
    X(void, lua_callk, (struct lua_State *, int, int, intptr_t, void *))                 \
    X(int, lua_error, (struct lua_State *))                                              \
    X(struct lua_State *, luaL_newstate, (void))                                         \
    X(struct lua_State *, lua_newstate, (void *, void *))                                \
    X(int, lua_pcallk, (struct lua_State *, int, int, int, intptr_t, void *))            \
    X(int, lua_resume, (struct lua_State *, struct lua_State *, int, int *))

struct lua_functions {
#define POINTER(type, name, arguments) type(*name) arguments;
    LUA_FUNCTIONS(POINTER)
#undef POINTER
};

/* Wrapped, or called by Lua. */
struct lua_State *luaL_newstate(void);
struct lua_State *lua_newstate(void *allocate, void *context);
int lua_pcallk(struct lua_State *L, int n_arguments, int n_results, int handler, intptr_t context,
               void *continuation);
int lua_resume(struct lua_State *L, struct lua_State *from, int n_arguments, int *ret_n_results);
int luaopen_perfmap(struct lua_State *L);

/* Whether Lua is a part of the program. */
static inline bool find_lua(struct lua_functions *lua)
{
    bool in_program = false;
    Dl_info program, found;
    void *getinfo = dlsym(RTLD_DEFAULT, "lua_getinfo");
    if (getinfo && dladdr(getinfo, &found) && dladdr((void *)getauxval(AT_ENTRY), &program))
        in_program = found.dli_fbase == program.dli_fbase;
#define FIND(type, name, arguments)                                \
    if (in_program)                                                \
        lua->name = (type(*) arguments)dlsym(RTLD_DEFAULT, #name); \
    else                                                           \
        pm_adapter_real(&lua->name, #name, LUA_LIBRARY);           \
    if (!lua->name)                                                \
        return false;
    LUA_FUNCTIONS(FIND)
    return in_program;
}

/* --- LUA_INIT --- */

/* What the user has set: "=LUA_INIT" (so Lua names it) and its text, or NULL. */
struct lua_init {
    const char *name, *text;
};

/* From now on the lua command loads the library that `own` lies in as a module. */
static inline void replace_init(struct lua_init *init, void *own)
{
    char text[PATH_MAX + 64];
    Dl_info library;
    if (!dladdr(own, &library))
        return;
    init->name = getenv("LUA_INIT_5_4") ? "=LUA_INIT_5_4" : "=LUA_INIT";
    init->text = getenv(init->name + 1) ? strdup(getenv(init->name + 1)) : NULL;
    snprintf(text, sizeof text, "package.loadlib([==[%s]==], 'luaopen_perfmap')()",
             library.dli_fname);
    setenv("LUA_INIT_5_4", text, 1);
}

static inline void do_users_init(const struct lua_functions *lua, struct lua_State *L,
                                 const struct lua_init *init)
{
    const char *text = init->text;
    unsetenv("LUA_INIT_5_4");
    if (!text)
        return;
    setenv(init->name + 1, text, 1);
    if (*text == '@' ? lua->luaL_loadfilex(L, text + 1, NULL)
                     : lua->luaL_loadbufferx(L, text, strlen(text), init->name, NULL))
        lua->lua_error(L);
    lua->lua_callk(L, 0, 0, 0, NULL);
}

/* --- names --- */

/* "local function f(", "function a.b:c(", "f = function(" in that line of the source, when only
 * one function begins there. */
static inline bool name_of_definition(const struct record *r, char name[LUA_NAME_BYTES])
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:";
    char line[1024] = "";
    FILE *file = *r->source == '@'   ? fopen(r->source + 1, "re")
                 : *r->source == '=' ? NULL
                                     : fmemopen((void *)(uintptr_t)r->source, r->source_bytes, "r");
    for (int i = 0; file && i < r->first_line && fgets(line, sizeof line, file);)
        i += strchr(line, '\n') || feof(file);
    if (file)
        fclose(file);
    char *at = strstr(line, "function"), *from;
    if (!at || strstr(at + 8, "function"))
        return false;
    from = at + 8 + strspn(at + 8, " \t");
    if (*from == '(') {
        for (from = at; from > line && strchr(" \t", from[-1]);)
            from--;
        if (from == line || *--from != '=')
            return false;
        while (from > line && strchr(" \t", from[-1]))
            from--;
        while (from > line && strchr(letters, from[-1]))
            from--;
    }
    size_t n = strspn(from, letters);
    snprintf(name, LUA_NAME_BYTES, "%.*s", (int)n, from);
    return n > 0;
}

/* By its definition; else as Lua's own messages have it: "in function 'string.rep'", "in local
 * 'f'", "in function <file:line>". C functions that are in no library that is loaded have no
 * name. */
static inline bool name_of(const struct lua_functions *lua, struct lua_State *L,
                           const struct record *r, char name[LUA_NAME_BYTES])
{
    bool is_c = *r->what == 'C';
    snprintf(name, LUA_NAME_BYTES, "main chunk");
    if (*r->what == 'm' || (!is_c && name_of_definition(r, name)))
        return true;
    lua->luaL_traceback(L, L, NULL, 0);
    const char *text = lua->lua_tolstring(L, -1, NULL);
    const char *at = text ? strstr(text, is_c ? ": in function '" : ": in ") : NULL, *quote;
    bool found = at && at < text + strcspn(text, "\n") + 2 + strcspn(strchr(text, '\n') + 1, "\n");
    if (found) {
        snprintf(name, LUA_NAME_BYTES, "%.*s", (int)strcspn(at + 5, "\n"), at + 5);
        if ((quote = strchr(name, '\'')) != NULL) {
            memmove(name, quote + 1, strlen(quote));
            name[strcspn(name, "'")] = 0;
        }
    }
    lua->lua_settop(L, -2);
    return found;
}

#endif
