/* Causes that travel: as text out of this process, and back in (docs/formats/baggage.md). */
#include "runtime/base/file.h"
#include "runtime/base/upward.h"
#include "runtime/words/api.h"
#include "runtime/words/baggage.h"
#include "runtime/words/causes.h"

#include <string.h>

enum { SCRATCH_BYTES = 8192, MAX_DEPTH = 16, MAX_SEEN = 128 };

/* Sentences from the innermost on, each as text that begins with `!`. Each cause is looked
 * through once: one that is adopted within several others would else be so by each of the ways
 * to it, and they double at each step. */
struct spoken {
    struct pm_baggage_text text;
    uint16_t ends[PM_BAGGAGE_MAX_SENTENCES];
    uint32_t n, n_seen;
    const struct pmr_cause *seen[MAX_SEEN];
};

static const char *text_of(const struct pm_run_word *word, unsigned which)
{
    const char *text = (const char *)(word + 1) + 4u * word->n_nouns;
    for (; which > 0; which--)
        text += strlen(text) + 1;
    return text;
}

/* The same sentence once, where it is innermost. */
static void take(struct spoken *s, size_t start)
{
    size_t n = s->text.n - start;
    for (uint32_t i = 0; i < s->n; i++) {
        size_t at = i > 0 ? s->ends[i - 1] : 0;
        if (s->ends[i] - at == n && memcmp(s->text.p + at, s->text.p + start, n) == 0) {
            s->text.n = start;
            return;
        }
    }
    s->ends[s->n++] = (uint16_t)s->text.n;
}

static bool put_noun(struct pm_baggage_text *to, const struct pm_run_word *noun)
{
    return noun != NULL && pm_baggage_put_name(to, ':', text_of(noun, 0)) &&
           (*text_of(noun, 1) == 0 || pm_baggage_put_name(to, '@', text_of(noun, 1)));
}

static void add_sentence(struct spoken *s, uint32_t number)
{
    const struct pm_run_word *word = pm_words_at(number);
    if (word != NULL && word->kind == PM_WORD_CALL)
        word = pm_words_at(word->a);
    const struct pm_run_word *verb =
        word != NULL && word->kind == PM_WORD_SENTENCE ? pm_words_at(word->a) : NULL;
    const struct pm_run_word *level = verb != NULL ? pm_words_at(verb->a) : NULL;
    size_t start = s->text.n;
    if (level == NULL || s->n == PM_BAGGAGE_MAX_SENTENCES)
        return;
    bool good = pm_baggage_put_name(&s->text, '!', text_of(level, 0)) &&
                pm_baggage_put_name(&s->text, ':', text_of(verb, 0));
    for (uint32_t i = 0; i < word->n_nouns && good; i++)
        good = put_noun(&s->text, pm_words_at(((const uint32_t *)(word + 1))[i]));
    if (good)
        take(s, start);
    else
        s->text.n = start;
}

static void add_set(struct spoken *s, uint32_t set)
{
    const uint32_t *members = NULL;
    uint32_t n = pm_words_members(set, &members);
    for (uint32_t i = 0; i < n; i++)
        add_sentence(s, members[i]);
}

/* As another process has told them, outermost first. */
static void add_told(struct spoken *s, const char *text)
{
    for (size_t end = strlen(text), at; end > 0; end = at) {
        at = end - 1;
        while (at > 0 && text[at] != '!')
            at--;
        size_t start = s->text.n;
        if (s->n == PM_BAGGAGE_MAX_SENTENCES || !pm_baggage_put(&s->text, text + at, end - at))
            return;
        take(s, start);
    }
}

static void add_cause(struct spoken *s, const struct pmr_cause *cause, unsigned depth);

static void add_path(struct spoken *s, const struct pm_node *node, bool looks_through,
                     unsigned depth)
{
    for (; node->parent != NULL; node = node->parent) {
        const struct pmr_cause *cause = pm_cause_of_node(node);
        if (cause != NULL && looks_through && depth < MAX_DEPTH)
            add_cause(s, cause, depth + 1);
        else if (node->kind == PM_RUN_SENTENCE_ENTER)
            add_sentence(s, pm_words_number(node->noun));
        else if (node->kind == PM_RUN_AMBIENT_SET)
            add_set(s, pm_words_number(node->noun));
    }
}

/* False: it was looked through before, or there are too many. */
static bool is_new(struct spoken *s, const struct pmr_cause *cause)
{
    for (uint32_t i = 0; i < s->n_seen; i++)
        if (s->seen[i] == cause)
            return false;
    if (s->n_seen == MAX_SEEN)
        return false;
    s->seen[s->n_seen++] = cause;
    return true;
}

static void add_cause(struct spoken *s, const struct pmr_cause *cause, unsigned depth)
{
    const struct pm_run_word *word = pm_words_at(cause->word);
    if (word == NULL || !is_new(s, cause))
        return;
    const struct pm_node *node = word->address == pm_cause_identity() ? pm_node_at(word->a) : NULL;
    if (node != NULL)
        add_path(s, node, word->b == 0, depth);
    else
        add_told(s, text_of(word, 0));
}

/* Head, and of the sentences the innermost that have room, outermost first. */
static size_t write(const struct spoken *s, uint64_t process, uint32_t place, char *text,
                    size_t text_bytes)
{
    struct pm_baggage_text to = {text, 0, text_bytes - 1};
    if (!pm_baggage_put_head(&to, process, place))
        return 0;
    uint32_t n = s->n;
    size_t room = to.room - to.n;
    room = room < PM_BAGGAGE_SENTENCES_BYTES ? room : PM_BAGGAGE_SENTENCES_BYTES - 1;
    while (n > 0 && s->ends[n - 1] > room)
        n--;
    for (; n > 0; n--) {
        size_t start = n > 1 ? s->ends[n - 2] : 0;
        pm_baggage_put(&to, s->text.p + start, s->ends[n - 1] - start);
    }
    text[to.n] = 0;
    return to.n;
}

size_t pm_cause_export(uint64_t id, char *text, size_t text_bytes)
{
    static char scratch[SCRATCH_BYTES]; /* under the lock, for a thread may have a small stack */
    static struct spoken spoken;
    size_t n = 0;
    if (id == 0 || text == NULL || text_bytes == 0 || !pm_causes_are_on() ||
        pm_cause_identity() == 0)
        return 0;
    uint64_t mask = pm_words_lock();
    spoken.text = (struct pm_baggage_text){scratch, 0, sizeof scratch};
    spoken.n = spoken.n_seen = 0;
    uint32_t place = pm_cause_own_place(id);
    const struct pm_node *node = place != 0 ? pm_node_at(place) : NULL;
    const struct pmr_cause *cause = place == 0 ? pm_cause_foreign(id) : NULL;
    if (node != NULL) {
        add_path(&spoken, node, true, 0);
        n = write(&spoken, pm_cause_identity(), place, text, text_bytes);
    } else if (cause != NULL && cause->process != 0) {
        add_cause(&spoken, cause, 0);
        n = write(&spoken, cause->process, cause->place, text, text_bytes);
    }
    pm_words_unlock(mask);
    return n;
}

uint64_t pm_cause_import(const char *text, size_t text_bytes)
{
    static bool said;
    static char sentences[PM_BAGGAGE_SENTENCES_BYTES]; /* under the lock */
    struct pm_baggage baggage;
    uint64_t id = 0;
    if (!pm_causes_are_on() || pm_cause_identity() == 0)
        return 0;
    if (!pm_baggage_find(text, text_bytes, &baggage)) {
        if (pm_baggage_is_spoilt(text, text_bytes) &&
            !__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
            pm_file_message(PM_RUN_MSG_NOTE,
                            "a baggage member 'perfmap' is not well formed: no cause is imported "
                            "from it (docs/formats/baggage.md)",
                            NULL);
        return 0;
    }
    uint64_t mask = pm_words_lock();
    memcpy(sentences, baggage.sentences, baggage.sentences_bytes);
    sentences[baggage.sentences_bytes] = 0;
    id = pm_cause_imported(baggage.process, baggage.place, sentences);
    pm_words_unlock(mask);
    return id;
}
