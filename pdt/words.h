/* Words of a command line: quotes, shells, response files. Of commands.c.
 *
 *     struct pm_arena arena = {0};
 *     struct pdt_words words = {.arena = &arena};
 *     if (pdt_words_split(&words, "cc -c 'a b.c'", false))
 *         use(words.items, words.n); // cc, -c, a b.c
 *     free(words.items);
 *     pm_arena_release(&arena);
 *
 * Functions return false when memory is missing.
 */
#ifndef PDT_WORDS_H
#define PDT_WORDS_H

#include "mapping/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pdt_words {
    struct pm_arena *arena; /* of the words themselves */
    const char **items;
    uint32_t n, cap;
};

/* Stands between two commands of a shell: ; & | and ends of lines. Compare the pointer. */
extern const char pdt_words_break[];

bool pdt_words_add(struct pdt_words *words, const char *p, size_t len);
/* Blanks, '...', "..." and backslashes. is_shell: breaks, too. */
bool pdt_words_split(struct pdt_words *words, const char *text, bool is_shell);
/* From i on for n words: the only ones that are kept. */
void pdt_words_cut(struct pdt_words *words, uint32_t i, uint32_t n);
/* @FILE is the words of the file, relative to the folder. *ret_missing: one that is not there, if
 * any; it stays as it is. */
bool pdt_words_expand(struct pdt_words *words, const char *folder, const char **ret_missing);
/* folder/name, or the name if it is absolute. NULL: memory. */
const char *pdt_words_path(struct pm_arena *arena, const char *folder, const char *name);

#endif
