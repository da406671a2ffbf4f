/* Sentences as calls say them: a sentence, the address that the call returns to, and the frames of
 * the functions around it are a word of their own, so that each call has its own context. What was
 * asked for lately is found without the lock. */
#include "runtime/words/words.h"
#include "runtime/base/sys.h"
#include "runtime/base/upward.h"
#include "runtime/tree/frame.h"
#include "runtime/tree/thread.h"

enum { N_RECENT = 1 << 12 };

/* Numbers of words, read while others write: what such a word is tells whether it is the one that
 * is looked for, for words do not change. 0: none. */
static uint32_t recent_calls[N_RECENT], recent_frames[N_RECENT];
static uint32_t n_calls, n_frames;

/* What a word is to be. */
struct sought {
    enum pm_word_kind kind;
    uint32_t a, generation, line_no;
    uintptr_t address;
};

static uint32_t *recent_of(uint32_t *recent, const struct sought *sought)
{
    uint64_t hash =
        (sought->address ^ (uint64_t)sought->a << 40 ^ (uint64_t)sought->line_no << 20) *
        0x9e3779b97f4a7c15u;
    return &recent[hash >> 52 & (N_RECENT - 1)];
}

static bool is_word(uint32_t number, const struct sought *sought)
{
    if (number == 0 || number > pm_words.max)
        return false;
    const struct pm_run_word *word = pm_words.by_number[number];
    return word->kind == sought->kind && word->address == sought->address && word->a == sought->a &&
           word->b == sought->generation && word->line_no == sought->line_no;
}

/* Under the lock. 0: there is no room. */
static uint32_t find_or_add(const struct sought *sought, uint32_t *n, uint32_t most)
{
    PM_SHORT_DRAFT(d);
    pm_draft_begin(&d, sought->kind, sought->a, sought->generation);
    d.word->address = sought->address;
    d.word->line_no = sought->line_no;
    pm_draft_end(&d);
    uint32_t number = pm_words_find(&d);
    if (number != 0 || *n == most || (number = pm_words_add(&d)) == 0)
        return number;
    __atomic_store_n(n, *n + 1, __ATOMIC_RELAXED);
    if (sought->kind == PM_WORD_CALL) {
        pm_words_speak(number);
        pm_words.spoken[number].epoch = pm_words.epoch;
    }
    return number;
}

/* --- frames of functions --- */

static uint32_t frame_word(const struct sought *frame)
{
    uint32_t *place = recent_of(recent_frames, frame);
    uint32_t number = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (pm_likely(is_word(number, frame)))
        return number;
    uint64_t mask = pm_words_lock();
    number = find_or_add(frame, &n_frames, PM_WORDS_MAX_FRAMES);
    __atomic_store_n(place, number, __ATOMIC_RELEASE);
    pm_words_unlock(mask);
    return number;
}

/* A function that is active, and where it returns to; address 0: nobody knows. */
struct active {
    const struct pm_node *node;
    uint64_t sp; /* of its context */
    uintptr_t address;
};

/* What the frame says. What was jumped to has the address of another function's call there. */
static struct active active_at(const struct pm_tls *t, const struct pm_node *node, uintptr_t here)
{
    struct active active = {.node = node, .sp = pm_load(node->sp)};
#if defined(__x86_64__)
    uint64_t frame = pm_sp_frame(active.sp);
    bool is_called = !pm_sp_jumped_to(active.sp) && frame % 8 == 0 && frame > here &&
                     !(node->flags & PM_RUN_NODE_FOLDED);
    if (is_called && pm_frame_is_on_own_stack(t, frame))
        active.address = *(const uintptr_t *)frame;
#else
    (void)t, (void)here;
#endif
    return active;
}

enum { N_KNOWN = 8, MOST_KEPT = 64 };

/* What was found for a context last: it is the same as long as its frames are. */
struct pm_known_frames {
    const struct pm_node *context; /* NULL: free, or it is being written */
    uint32_t generation, number, n;
    struct active list[MOST_KEPT]; /* innermost first */
};

static struct pm_known_frames *known_of(struct pm_slot *slot, const struct pm_node *context)
{
    if (slot->known_frames == NULL)
        pm_store(slot->known_frames, pm_private_memory(N_KNOWN * sizeof *slot->known_frames));
    return slot->known_frames != NULL ? &slot->known_frames[context->place % N_KNOWN] : NULL;
}

static bool is_still(const struct pm_known_frames *known, const struct pm_node *context,
                     uintptr_t here, uint32_t generation)
{
    if (known == NULL || known->context != context || known->generation != generation)
        return false;
    if (known->n != 0 && pm_sp_frame(known->list[0].sp) <= here)
        return false;
    for (uint32_t i = 0; i < known->n; i++) {
        const struct active *active = &known->list[i];
        if (pm_load(active->node->sp) != active->sp ||
            (active->address != 0 &&
             *(const uintptr_t *)pm_sp_frame(active->sp) != active->address))
            return false;
    }
    return true;
}

/* Of functions that call themselves each call is told once, where it is outermost: else each way
 * down were words of its own. */
static uint32_t without(struct sought *frames, uint32_t n, const struct sought *frame)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (frames[i].line_no != frame->line_no || frames[i].address != frame->address)
            frames[kept++] = frames[i];
    return kept;
}

/* list: functions that are active, innermost first. 0: there are too many. */
static uint32_t number_of(const struct active *list, uint32_t n, uint32_t generation)
{
    struct sought frames[PM_WORDS_MAX_DEPTH];
    uint32_t n_frames = 0, number = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct sought frame = {.kind = PM_WORD_FRAME,
                               .generation = generation,
                               .line_no = list[i].node->noun,
                               .address = list[i].address};
        n_frames = without(frames, n_frames, &frame);
        if (n_frames == PM_WORDS_MAX_DEPTH)
            return 0;
        frames[n_frames++] = frame;
    }
    while (n_frames-- > 0) {
        frames[n_frames].a = number;
        if (number == 0 && frames[n_frames].address == 0)
            continue;
        uint32_t inner = frame_word(&frames[n_frames]);
        if (inner == 0) /* no room: those further out are known */
            break;
        number = inner;
    }
    return number;
}

/* The next time that is found at once, as long as all frames are the same; that nothing is known,
 * as long as the innermost are. */
static void keep(struct pm_known_frames *known, const struct pm_node *context,
                 const struct active *list, uint32_t n, uint32_t generation, uint32_t number)
{
    if (known == NULL || (n > MOST_KEPT && number != 0))
        return;
    n = n < MOST_KEPT ? n : MOST_KEPT;
    pm_store(known->context, NULL);
    pm_barrier();
    for (uint32_t i = 0; i < n; i++)
        known->list[i] = list[i];
    known->n = n;
    known->generation = generation;
    known->number = number;
    pm_barrier();
    pm_store(known->context, context);
}

/* The FRAME of the innermost function that is active; 0: nothing is known. */
static uint32_t frames_here(uintptr_t here, uint32_t generation)
{
    enum { MOST_NODES = 128 };
    struct active list[MOST_NODES];
    const struct pm_tls *t = &pm_tls;
    const struct pm_node *context = pm_load(t->current), *node = context;
    bool all_live = true;
    uint32_t n = 0;
    if (context->parent == NULL)
        return 0;
    struct pm_known_frames *known = known_of(t->slot, context);
    if (pm_likely(is_still(known, context, here, generation)))
        return known->number;
    for (; node->parent != NULL && node->kind != PM_RUN_CAUSE_START; node = node->parent) {
        if (node->loop_depth != 0)
            continue;
        bool is_dead = pm_frame_is_dead(node, here) || pm_has_returned(t, node, here);
        all_live &= !is_dead;
        if (is_dead)
            continue;
        if (n == MOST_NODES)
            break;
        list[n++] = active_at(t, node, here);
    }
    bool is_whole = node->parent == NULL || node->kind == PM_RUN_CAUSE_START;
    uint32_t number = is_whole ? number_of(list, n, generation) : 0;
    if (all_live)
        keep(known, context, list, n, generation, number);
    return number;
}

/* --- calls --- */

/* Where there is no room for more, a sentence stands for its calls. */
static bool is_word_of(uint32_t number, const struct sought *call)
{
    return is_word(number, call) ||
           (number == call->a && number != 0 &&
            __atomic_load_n(&n_calls, __ATOMIC_RELAXED) == PM_WORDS_MAX_CALLS);
}

__attribute__((noinline)) static uint32_t look_up(uint32_t *place, const struct sought *call)
{
    uint64_t mask = pm_words_lock();
    uint32_t number = 0;
    if (pm_words_is(call->a, PM_WORD_SENTENCE))
        number = find_or_add(call, &n_calls, PM_WORDS_MAX_CALLS);
    number = number != 0 && pm_words.spoken[number].ready ? number : call->a;
    __atomic_store_n(place, number, __ATOMIC_RELEASE);
    pm_words_unlock(mask);
    return number;
}

uint32_t pm_words_called_from(uint32_t sentence, const void *return_address)
{
    if (sentence == 0 || return_address == NULL || pm_unlikely(!*pm_process.alive_mark))
        return sentence;
    uint32_t generation = pm_load(pm_process.generation);
    struct sought call = {.kind = PM_WORD_CALL,
                          .a = pm_words_resolve(sentence),
                          .generation = generation,
                          .address = (uintptr_t)return_address};
    call.line_no = frames_here((uintptr_t)__builtin_frame_address(0), generation);
    uint32_t *place = recent_of(recent_calls, &call);
    uint32_t number = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    return pm_likely(is_word_of(number, &call)) ? number : look_up(place, &call);
}

/* Its file may have no room for all words. */
void pm_words_calls_fork_child(void)
{
    for (uint32_t i = 0; i < N_RECENT; i++)
        recent_calls[i] = recent_frames[i] = 0;
    if (pm_tls.slot != NULL)
        pm_tls.slot->known_frames = NULL;
}
