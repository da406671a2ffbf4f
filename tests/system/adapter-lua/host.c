/* A program with Lua as a library: states one after the other and one within the other, errors and coroutines that C catches and goes on with, a
 * state in another thread. The scripts count their own calls; in the end: "COUNT NAME". */
#include <lauxlib.h>
#include <lualib.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static const char script[] =
    "function step(k) n = (n or 0) + 1; if k > 0 then step(k - 1) end end\n"
    "function fail(k) f = (f or 0) + 1; if k == 0 then error('on purpose') end\n local r = fail(k - 1) return r end\n"
    "function talk() t = (t or 0) + 1; for i = 1, 10 do step(i) coroutine.yield(i) end end\n"
    "function inside() i = (i or 0) + 1; inner() end\n";
static long n_steps, n_fails, n_talks, n_insides;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static long number(lua_State *L, const char *name)
{
    lua_getglobal(L, name);
    long value = (long)lua_tointeger(L, -1);
    lua_pop(L, 1);
    return value;
}

static void call(lua_State *L, const char *name, int k, int expected)
{
    lua_getglobal(L, name);
    lua_pushinteger(L, k);
    if (lua_pcall(L, 1, 0, 0) != expected)
        abort();
}

static int inner(lua_State *L);

static lua_State *begin(void)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    lua_register(L, "inner", inner);
    if (luaL_dostring(L, script))
        abort();
    return L;
}

static void end(lua_State *L)
{
    pthread_mutex_lock(&lock);
    n_steps += number(L, "n");
    n_fails += number(L, "f");
    n_talks += number(L, "t");
    n_insides += number(L, "i");
    pthread_mutex_unlock(&lock);
    lua_close(L);
}

static void talk(lua_State *L)
{
    int n = 0;
    lua_State *two[2] = {lua_newthread(L), lua_newthread(L)};
    for (int i = 0; i < 2; i++)
        lua_getglobal(two[i], "talk");
    for (int i = 0; i < 22; i++)
        if (lua_resume(two[i % 2], NULL, 0, &n) != (i < 20 ? LUA_YIELD : LUA_OK))
            abort();
        else
            lua_pop(two[i % 2], n);
    lua_pop(L, 2);
}

static void work(lua_State *L)
{
    for (int i = 0; i < 50; i++) {
        call(L, "fail", 7, LUA_ERRRUN);
        call(L, "step", 3, LUA_OK);
        talk(L);
    }
}

static int inner(lua_State *L)
{
    (void)L;
    lua_State *other = begin();
    work(other);
    end(other);
    return 0;
}

static void *thread_main(void *argument)
{
    (void)argument;
    lua_State *L = begin();
    call(L, "inside", 0, LUA_OK);
    work(L);
    end(L);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, thread_main, NULL) != 0)
        abort();
    thread_main(NULL);
    pthread_join(thread, NULL);
    printf("%ld step\n%ld fail\n%ld talk\n%ld inside\n", n_steps, n_fails, n_talks, n_insides);
}
