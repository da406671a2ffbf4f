/* A program's own words: what perfmap.h (in the program) and the runtime say to each other, and
 * how the run file keeps it. docs/formats/run-file.md.
 *
 * Each translation unit that includes perfmap.h has one struct pm_words_slot in the section
 * PM_WORDS_SECTION of its object. Its `api` is NULL unless the runtime is there, which finds the
 * section by its name, checks magic and version, and fills the slot in.
 *
 * The run file has WORDS chunks: records from offset 64 on, each a struct pm_run_word with its
 * nouns and text behind it, padded to 8 bytes. Words are numbered from 1 in each process, in the
 * order in which they are written, over all WORDS chunks; a word refers to earlier ones only. A
 * sentence that was entered, or a set of sentences that were begun and not ended, or a cause
 * that was adopted, has a noun (in the sense of the context tree) of its own: an OBJECT chunk of
 * kind PM_RUN_OBJECT_WORDS has nouns whose ids are numbers of sentences, calls, sets and causes.
 */
#ifndef PM_FORMAT_WORDS_H
#define PM_FORMAT_WORDS_H

#include <stddef.h>
#include <stdint.h>

#define PM_WORDS_SECTION "__perfmap_words"
#define PM_WORDS_MAGIC "PerfMapW" /* 8 bytes, no ending zero */
/* of slots and of struct pmr_words_api, which only grows: a runtime serves all versions up to its
 * own */
#define PM_WORDS_VERSION 2u

/* What is known of a noun. Strings may be NULL; all is copied. */
struct pmr_noun_facts {
    const char *name, *kind, *file; /* kind: array, query, lock, ... */
    uint32_t parent;                /* the noun that it is a part of; 0: none */
    uint32_t line_no;               /* 0: not known */
    uint64_t address, size_bytes;   /* of its memory; 0: none */
};

/* What is active, or adopted, until whoever holds it leaves, or releases, by the same sp. sp 0:
 * nothing. */
struct pm_words_held {
    uint64_t what;
    uint64_t sp;
};

/* Words are numbers, 0: none (no room, or wrong arguments). All functions may be called from any
 * thread and in signal handlers. */
struct pm_run_meeting;
struct pmr_words_api {
    uint32_t version, bytes;
    uint32_t (*level)(const char *name, const char *above);
    uint32_t (*noun)(uint32_t level, const struct pmr_noun_facts *facts);
    uint32_t (*verb)(uint32_t level, const char *name);
    uint32_t (*sentence)(uint32_t verb, const uint32_t *nouns, uint32_t n_nouns);
    void (*map)(uint32_t source, uint32_t destination, const double *weight);
    void (*enter)(uint32_t sentence, uintptr_t sp);
    void (*leave)(uint32_t sentence, uintptr_t sp);
    uint32_t (*metric)(const char *name, const char *unit, const char *kind);
    void (*cost)(uint32_t metric, uint64_t value, uintptr_t sp);
    /* Since version 2. */
    void (*begin)(uint32_t sentence, uint32_t whole_process);
    void (*end)(uint32_t sentence, uint32_t whole_process);
    uint64_t (*capture)(uintptr_t sp);
    void (*adopt)(uint64_t cause, uintptr_t sp);
    void (*release)(uint64_t cause, uintptr_t sp);
    size_t (*export_cause)(uint64_t cause, char *text, size_t text_bytes);
    uint64_t (*import_cause)(const char *text, size_t text_bytes);
    /* For languages that cannot say where their stack is (perfmap.f90): in the frame that calls. */
    void (*enter_here)(uint32_t sentence);
    void (*leave_here)(uint32_t sentence);
    void (*cost_here)(uint32_t metric, uint64_t value);
    uint64_t (*capture_here)(void);
    void (*adopt_here)(uint64_t cause);
    void (*release_here)(uint64_t cause);
    void (*activate)(struct pm_words_held *held, const uint32_t *sentence);
    void (*adopt_in)(struct pm_words_held *held, const uint64_t *cause);
    /* Mapping points: *ret_is_on stays valid, and is 0 while mappings of that point are not
     * asked for. */
    uint32_t (*point)(const char *name, const volatile uint8_t **ret_is_on);
    void (*map_at)(uint32_t point, uint32_t source, uint32_t destination, const double *weight);
    /* A call that other processes take part in (pm_run.h); its place is that of `cause`. */
    void (*meet)(const struct pm_run_meeting *meeting, uint64_t cause);
    /* The sentence as the call that returns to this address says it; itself, if there is no room
     * for more of these. To be entered and left. */
    uint32_t (*called_from)(uint32_t sentence, const void *return_address);
    /* For adapters: sentences of this level that are defined from now on may be counted only,
     * where they come so often that they cost more than the budget. As long as the byte is 0,
     * none is. */
    const volatile uint8_t *(*may_be_counted)(uint32_t level);
    /* Is the sentence counted only, now? If so, n more are, and it is not to be entered. 0: no. */
    uint32_t (*counted)(uint32_t sentence, uint32_t n);
};

struct pm_words_slot {
    char magic[8];
    uint32_t version, bytes;
    const struct pmr_words_api *api;
};

enum pm_word_kind {
    PM_WORD_LEVEL = 1,    /* text: name, name of the level below */
    PM_WORD_NOUN = 2,     /* a: level, b: parent; text: name, kind, file */
    PM_WORD_VERB = 3,     /* a: level; text: name */
    PM_WORD_SENTENCE = 4, /* a: verb; nouns */
    PM_WORD_METRIC = 6,   /* text: name, unit, kind (count, bytes, time) */
    PM_WORD_MAPPING = 5, /* a: source, b: destination, both sentences; weight; line_no: its point */
    /* beside NOUN: it counts as another noun, whose number (64 bits) stands in the place of
     * weight */
    PM_WORD_MERGED = 256,
    PM_WORD_POINT = 16, /* a mapping point; a: 1 when it is on; text: name */
    PM_WORD_SET = 7,    /* nouns: the numbers of 1 to PM_WORDS_MAX_SET sentences, rising */
    /* address: pm_run_identity of the process that captured it, a: the context there, file
     * offset / 64; b: 1: what that process had adopted itself does not count; text: sentences
     * that were active, docs/formats/baggage.md */
    PM_WORD_CAUSE = 8,
    /* a sentence as one call says it; a: the sentence, address: where the call returns to, b: the
     * generation of loaded objects (pm_run.h), line_no: the FRAME that calls; 0: not known */
    PM_WORD_CALL = 9,
    /* where a function that is followed was called from; a: the FRAME of the next one outside that
     * is, 0: not known, address: where the function returns to, 0: not known, b: as above,
     * line_no: its noun of the context tree */
    PM_WORD_FRAME = 10,
};

enum {
    PM_WORDS_MAX_TEXT = 4096, /* of a string; longer ones are cut */
    PM_WORDS_MAX_NOUNS = 8,   /* of a sentence */
    PM_WORDS_MAX_POINTS = 256,
    PM_WORDS_MAX = 1 << 22,       /* in a process */
    PM_WORDS_MAX_SET = 64,        /* of a set */
    PM_WORDS_MAX_CALLS = 1 << 15, /* words of kind CALL */
    PM_WORDS_MAX_FRAMES = 1 << 14,
    PM_WORDS_MAX_DEPTH = 32, /* FRAMEs of a call: with more, none is known */
    /* Entering and leaving in mode count, picoseconds: functions are called, where the
     * compiler's constructs have trampolines (0.5 ns). */
    PM_WORDS_COUNTED_PS = 8000,
};

/* Followed by n_nouns numbers (32 bits each) and n_text_bytes of text: strings ended by a zero
 * byte each. */
struct pm_run_word {
    uint32_t bytes; /* of the whole record, a multiple of 8; written last: 0 ends the chunk */
    uint16_t kind;  /* enum pm_word_kind */
    uint16_t n_nouns;
    uint32_t n_text_bytes;
    uint32_t a, b;
    uint32_t line_no; /* of a mapping: the number of its point */
    uint64_t address, size_bytes;
    double weight; /* not above 0 or not finite: not stated */
};
#define PM_RUN_WORDS_DATA 64u

#endif
