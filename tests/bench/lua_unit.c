/* Runs lua_unit.lua in a Lua that was compiled in different ways, with a clock that no tool
 * changes: os.clock() counts in steps of some milliseconds while a program has a profiling
 * timer.
 *
 *     lua_unit lua_unit.lua [SECONDS [REPETITIONS]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct lua_State;
struct lua_State *luaL_newstate(void);
void luaL_openlibs(struct lua_State *);
int luaL_loadfilex(struct lua_State *, const char *, const char *);
int lua_pcallk(struct lua_State *, int, int, int, long, void *);
const char *lua_tolstring(struct lua_State *, int, size_t *);
void lua_pushnumber(struct lua_State *, double);
void lua_pushcclosure(struct lua_State *, int (*)(struct lua_State *), int);
void lua_setglobal(struct lua_State *, const char *);

static int now(struct lua_State *lua)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    lua_pushnumber(lua, (double)t.tv_sec + 1e-9 * (double)t.tv_nsec);
    return 1;
}

int main(int argc, char **argv)
{
    struct lua_State *lua = luaL_newstate();
    if (argc < 2 || lua == NULL)
        return 2;
    luaL_openlibs(lua);
    lua_pushcclosure(lua, now, 0);
    lua_setglobal(lua, "now");
    lua_pushnumber(lua, argc > 2 ? atof(argv[2]) : 1);
    lua_setglobal(lua, "seconds");
    lua_pushnumber(lua, argc > 3 ? atof(argv[3]) : 1e18);
    lua_setglobal(lua, "repetitions");
    if (luaL_loadfilex(lua, argv[1], NULL) != 0 || lua_pcallk(lua, 0, 0, 0, 0, NULL) != 0) {
        fprintf(stderr, "%s\n", lua_tolstring(lua, -1, NULL));
        return 1;
    }
    return 0;
}
