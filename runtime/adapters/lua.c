/* Lua 5.4: functions as nouns of level Lua, {fib Executes} while they run; lines, too, when
 * PERFMAP_LUA_LINES is set: each time one is come to, or (=sampled) the instructions that each
 * takes.
 *
 * Where Lua is a library, states get our hook as they are made. Where it is a part of the
 * program (lua5.4), LUA_INIT_5_4 loads this same library as a module, which then does what the
 * user's own LUA_INIT says.
 *
 * The hook of calls and returns keeps for each Lua thread a stack of what was entered, by the
 * address of Lua's own record of the call (i_ci), so that frames which an error has left are
 * seen at the next event. A coroutine's sentences are left when it yields and entered with
 * another verb, Continues, when it goes on, for Executes counts calls.
 */
#include "adapter.h"
#include "lua_api.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    N_BUCKETS = 4096,
    IS_LINE = -2,
    MAX_NESTED = 200,  /* deeper calls are counted; their time is that of the function there */
    MAX_UNKNOWN = 200, /* frames that the hook has not seen */
    EVERY = 997,       /* instructions; a prime, lest it be in step with a loop */
    /* From the record that a hook gets to the frame of the interpreter's loop: beyond what
     * luaD_hook and its caller save (88 bytes in Debian's build, more without optimization),
     * within the loop's own frame (another 160). Samples there are the function's. */
    TO_FRAME = 144,
};

/* What is entered: a function, a C function of a library, a line. Not changed any more once it
 * can be found. */
struct known {
    struct known *next;
    const void *place;         /* its source's text, its code, the line's function */
    size_t shape;              /* what tells functions of one line apart: upvalues, parameters */
    int first_line, last_line; /* or the line, IS_LINE */
    bool sets_hook;
    struct pm_noun noun;
    struct pm_sentence executes, continues;
};

struct entry {
    const void *call;
    const struct known *function, *line;
    uintptr_t sp;
    struct pm_sentence active, active_line; /* 0: not now */
    bool joined; /* the caller is the same function: one sentence for both, active here */
};

/* A Lua thread, as one thread of the process sees it. */
struct state {
    struct state *next, *resumer;
    struct lua_State *L;
    const void *thread;
    struct entry *entries;
    size_t n, capacity;
};

static struct lua_functions lua;
static struct known *knowns[N_BUCKETS];
static struct state *states[N_BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of both */
static __thread struct state *running;                   /* and its resumers */
static int events = CALLS_AND_RETURNS;
static struct pm_metric instructions;

static size_t bucket_of(const void *p, int number)
{
    return (((uintptr_t)p >> 4) * 31 + (unsigned)number * 0x9e3779b1u) % N_BUCKETS;
}

/* --- words --- */

static struct known *find(const struct known *key)
{
    size_t bucket = bucket_of(key->place, key->first_line);
    struct known *k = __atomic_load_n(&knowns[bucket], __ATOMIC_ACQUIRE);
    while (k && (k->place != key->place || k->first_line != key->first_line ||
                 k->last_line != key->last_line || k->shape != key->shape))
        k = k->next;
    return k;
}

/* Without facts nothing is ever entered: it is the caller's time. */
static const struct known *learn(struct known key, const struct pm_noun_facts *facts)
{
    struct known *k, **bucket = &knowns[bucket_of(key.place, key.first_line)];
    pthread_mutex_lock(&lock);
    if (!(k = find(&key)) && (k = malloc(sizeof *k)) != NULL) {
        *k = key;
        k->next = *bucket;
        if (facts) {
            struct pm_level level = pm_define_level(PM_LUA_LEVEL, "Source");
            k->noun = pm_define_noun_at(level, facts);
#define VERB(name, word) k->name = pm_define_sentence(pm_define_verb(level, word), &k->noun, 1);
            PM_LUA_VERBS(VERB)
#undef VERB
        }
        __atomic_store_n(bucket, k, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return k;
}

/* What is seen for the first time. Not inlined, for its memory: a thread may have a small stack. */
__attribute__((noinline)) static const struct known *get_to_know(struct lua_State *L,
                                                                 struct record *r,
                                                                 const struct known *function,
                                                                 struct known key)
{
    char name[LUA_NAME_BYTES], *path = NULL;
    if (function) {
        lua.lua_getinfo(L, "S", r);
        snprintf(name, sizeof name, "line %d", r->line);
    }
    bool has_name = function || name_of(&lua, L, r, name), is_c = *r->what == 'C';
    key.sets_hook = is_c && has_name && !strcmp(name, "debug.sethook");
    struct pm_noun_facts facts = {.name = name,
                                  .kind = function ? "line"
                                          : is_c   ? "C function"
                                                   : "function",
                                  .parent = function ? function->noun.id : 0};
    if (!is_c) {
        path = *r->source == '@' ? realpath(r->source + 1, NULL) : NULL;
        facts.file = path ? path : r->short_source;
        facts.line_no = (uint32_t)(function ? r->line : r->first_line > 0 ? r->first_line : 1);
    }
    const struct known *k = learn(key, has_name ? &facts : NULL);
    free(path);
    return k;
}

/* A function, or the line of one. */
static const struct known *known_of(struct lua_State *L, struct record *r,
                                    const struct known *function)
{
    struct known key = {.place = function, .first_line = r->line, .last_line = IS_LINE};
    if (!function) {
        lua.lua_getinfo(L, "Su", r);
        size_t shape = r->source_bytes << 16 | (size_t)(r->n_up << 8 | r->n_parameters);
        key = (struct known){NULL, r->source, shape, r->first_line, r->last_line};
        if (*r->what == 'C') {
            lua.lua_getinfo(L, "f", r);
            key.place = lua.lua_tocfunction(L, -1);
            lua.lua_settop(L, -2);
        }
    }
    const struct known *k = find(&key);
    return k ? k : get_to_know(L, r, function, key);
}

/* --- entering and leaving --- */

static void stop(struct pm_sentence *active, const struct entry *e)
{
    if (active->id)
        pm_leave_at(*active, e->sp);
    active->id = 0;
}

static void start(struct pm_sentence *active, struct pm_sentence sentence, const struct state *s,
                  const struct entry *e)
{
    pm_enter_at(sentence, e->sp);
    *active = sentence;
    if (e - s->entries >= MAX_NESTED && !e->joined)
        stop(active, e);
}

static void push(struct state *s, const void *call, const struct known *function, uintptr_t sp)
{
    if (s->n == s->capacity) {
        struct entry *more = realloc(s->entries, (2 * s->capacity + 16) * sizeof *more);
        if (!more)
            return;
        s->entries = more;
        s->capacity = 2 * s->capacity + 16;
    }
    struct entry *e = &s->entries[s->n], *caller = s->n++ ? e - 1 : NULL;
    *e = (struct entry){.call = call, .function = function, .sp = sp};
    e->joined =
        caller && function && caller->function == function && caller->sp == sp && caller->active.id;
    if (e->joined) {
        stop(&caller->active_line, caller);
        stop(&caller->active, caller);
    }
    if (function)
        start(&e->active, function->executes, s, e);
}

static void pop(struct state *s)
{
    struct entry *e = &s->entries[--s->n], *caller = e - 1;
    stop(&e->active_line, e);
    if (!e->joined)
        stop(&e->active, e);
    else if ((caller->active = e->active).id && caller->line)
        start(&caller->active_line, caller->line->continues, s, caller);
}

static void yield(struct state *s)
{
    for (size_t i = s->n; i-- > 0;) {
        struct entry *e = &s->entries[i];
        stop(&e->active_line, e);
        if (e->joined) {
            e[-1].active = e->active;
            e->active.id = 0;
        } else
            stop(&e->active, e);
    }
}

/* Its frames are elsewhere now. */
static void go_on(struct state *s, uintptr_t sp)
{
    for (size_t i = 0; i < s->n; i++) {
        struct entry *e = &s->entries[i];
        e->sp = sp;
        if (e->joined) {
            e->active = e[-1].active;
            e[-1].active.id = 0;
        } else if (e->function)
            start(&e->active, e->function->continues, s, e);
        if (e->line && (i + 1 == s->n || !e[1].joined))
            start(&e->active_line, e->line->continues, s, e);
    }
}

/* --- Lua threads --- */

/* The one of L, taken out of the table when it is to be dropped. */
static struct state *state_of(struct lua_State *L, bool drop)
{
    struct state **at = &states[bucket_of(L, 0)], *s;
    pthread_mutex_lock(&lock);
    while ((s = *at) != NULL && (s->L != L || s->thread != &running))
        at = &s->next;
    if (s && drop)
        *at = s->next;
    else if (!s && !drop && (s = calloc(1, sizeof *s)) != NULL)
        *(*at = s) = (struct state){.L = L, .thread = &running};
    pthread_mutex_unlock(&lock);
    return s;
}

/* The running one has yielded, has come to its end, or was left by an error. */
static void end_running(void)
{
    struct state *s = running;
    yield(s);
    running = s->resumer;
    s->resumer = NULL;
    if (!s->n && state_of(s->L, true)) {
        free(s->entries);
        free(s);
    }
}

/* Ends entries that are not among L's frames from that one on: errors jump over frames. */
static void prune(struct state *s, int frame)
{
    struct record r;
    for (int i = frame; s->n && i < frame + MAX_UNKNOWN && lua.lua_getstack(s->L, i, &r); i++) {
        size_t at = s->n;
        while (at && s->entries[at - 1].call != r.call)
            at--;
        for (; at && s->n > at;)
            pop(s);
        if (at)
            return;
    }
    while (s->n)
        pop(s);
}

static struct state *run_state(struct lua_State *L, int frame, uintptr_t here, uintptr_t *sp)
{
    struct state *s = running;
    while (s && s->L != L)
        s = s->resumer;
    if (s) {
        while (running != s)
            end_running();
    } else {
        while (running && (!running->n || running->entries[0].sp < here)) /* that frame is gone */
            end_running();
        if (!(s = state_of(L, false)))
            return NULL;
        s->resumer = running;
        running = s;
        prune(s, frame);
        if (s->resumer && s->resumer->entries[s->resumer->n - 1].sp < *sp)
            *sp = s->resumer->entries[s->resumer->n - 1].sp;
        go_on(s, *sp);
    }
    return s;
}

static void on_line(struct lua_State *L, struct record *r, struct state *s, struct entry *e)
{
    bool counts = r->event == ON_COUNT;
    if (counts)
        lua.lua_getinfo(L, "l", r);
    stop(&e->active_line, e);
    if ((e->line = known_of(L, r, e->function)) != NULL)
        start(&e->active_line, e->line->executes, s, e);
    if (counts) {
        pm_cost(instructions, EVERY);
        stop(&e->active_line, e);
        e->line = NULL;
    }
}

static void hook(struct lua_State *L, struct record *r)
{
    uintptr_t here = (uintptr_t)r, sp = here + sizeof *r + TO_FRAME;
    bool is_call = r->event == ON_CALL;
    struct state *s = run_state(L, is_call, here, &sp);
    struct record caller = {.call = NULL};
    if (!s)
        return;
    if (s->n && is_call)
        lua.lua_getstack(L, 1, &caller);
    if (s->n && s->entries[s->n - 1].call != (is_call ? caller.call : r->call))
        prune(s, is_call);
    struct entry *top = s->n ? &s->entries[s->n - 1] : NULL;
    bool is_top = top && top->call == r->call;
    if (r->event == ON_LINE || r->event == ON_COUNT) {
        if (is_top && top->function)
            on_line(L, r, s, top);
        return;
    }
    if (is_top && !is_call)
        pop(s);
    if (r->event == ON_RETURN)
        return;
    if (s->n && s->entries[s->n - 1].sp < sp)
        sp = s->entries[s->n - 1].sp;
    const struct known *function = known_of(L, r, NULL);
    push(s, r->call, function, sp);
    if (function && function->sets_hook) {
        static int said;
        if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
            fputs("perfmap: the script sets its own hook: its Lua is not seen from here on\n",
                  stderr);
        while (s->n)
            pop(s);
    }
}

/* --- how we get there --- */

static struct lua_State *hooked(struct lua_State *L)
{
    if (events & COUNTS)
        instructions = pm_define_metric("lua_instructions", "instructions", "count");
    if (L && pm_words_of_runtime() && lua.lua_sethook && lua.lua_version(L) == VERSION)
        lua.lua_sethook(L, hook, events, EVERY);
    return L;
}

static struct lua_init init;

__attribute__((constructor)) static void begin(void)
{
    const char *lines = getenv(PM_LUA_LINES);
    if (lines)
        events |= strcmp(lines, PM_LUA_LINES_SAMPLED) ? LINES : COUNTS;
    if (find_lua(&lua) && pm_words_of_runtime())
        replace_init(&init, &lua);
}

/* Called by lua5.4. */
PM_ADAPTER_EXPORT int luaopen_perfmap(struct lua_State *L)
{
    do_users_init(&lua, hooked(L), &init);
    return 0;
}

/* Of the library. */
PM_ADAPTER_EXPORT struct lua_State *lua_newstate(void *allocate, void *context)
{
    find_lua(&lua);
    return lua.lua_newstate ? hooked(lua.lua_newstate(allocate, context)) : NULL;
}

PM_ADAPTER_EXPORT struct lua_State *luaL_newstate(void)
{
    find_lua(&lua);
    return lua.luaL_newstate ? hooked(lua.luaL_newstate()) : NULL;
}

PM_ADAPTER_EXPORT int lua_pcallk(struct lua_State *L, int n_arguments, int n_results, int handler,
                                 intptr_t context, void *continuation)
{
    int status = lua.lua_pcallk(L, n_arguments, n_results, handler, context, continuation);
    if (status && running && running->L == L)
        prune(running, 0);
    return status;
}

PM_ADAPTER_EXPORT int lua_resume(struct lua_State *L, struct lua_State *from, int n_arguments,
                                 int *ret_n_results)
{
    int status = lua.lua_resume(L, from, n_arguments, ret_n_results);
    while (running && running->L == L)
        end_running();
    return status;
}
