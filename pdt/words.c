#include "words.h"

#include "mapping/base/status.h"
#include "mapping/base/str.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_WORD_BYTES = 1 << 20, MAX_FILE_BYTES = 1 << 26, MAX_FILES = 1000 };

const char pdt_words_break[] = ";";

static bool add(struct pdt_words *words, const char *word)
{
    void *grown = pm_grow_array(words->items, words->n, &words->cap, 32, sizeof *words->items);
    if (!grown || !word)
        return false;
    words->items = grown;
    words->items[words->n++] = word;
    return true;
}

bool pdt_words_add(struct pdt_words *words, const char *p, size_t len)
{
    return add(words, pm_arena_strndup(words->arena, p, len));
}

/* One word into `word`; where it ends. */
static const char *split_one(const char *text, const char *ends, struct pm_buf *word,
                             bool *ret_is_word)
{
    char quote = 0;
    *ret_is_word = false;
    for (; *text && (quote || !strchr(ends, *text)); text++) {
        *ret_is_word = true;
        if (*text == '\\' && quote != '\'' && text[1] && (!quote || strchr("\"\\$`", text[1])))
            pm_buf_add_byte(word, (unsigned char)*++text);
        else if (!quote && (*text == '\'' || *text == '"'))
            quote = *text;
        else if (quote && *text == quote)
            quote = 0;
        else
            pm_buf_add_byte(word, (unsigned char)*text);
    }
    return text;
}

bool pdt_words_split(struct pdt_words *words, const char *text, bool is_shell)
{
    const char *ends = is_shell ? " \t\r\n;&|" : " \t\r\n";
    struct pm_buf word = PM_BUF_INIT(MAX_WORD_BYTES);
    bool good = true, is_word;
    while (good && *text) {
        pm_buf_clear(&word);
        text = split_one(text, ends, &word, &is_word);
        if (is_word)
            good = !word.failed && pdt_words_add(words, word.data ? word.data : "", word.len);
        else if (is_shell && strchr("\n;&|", *text) && words->n > 0)
            good = add(words, pdt_words_break);
        text += !is_word && *text;
    }
    pm_buf_release(&word);
    return good;
}

void pdt_words_cut(struct pdt_words *words, uint32_t i, uint32_t n)
{
    memmove(words->items, words->items + i, n * sizeof *words->items);
    words->n = n;
}

const char *pdt_words_path(struct pm_arena *arena, const char *folder, const char *name)
{
    struct pm_buf path = PM_BUF_INIT(MAX_WORD_BYTES);
    if (*name != '/')
        pm_buf_printf(&path, "%s/", folder);
    pm_buf_add_str(&path, name);
    const char *copy =
        path.data && !path.failed ? pm_arena_strndup(arena, path.data, path.len) : NULL;
    pm_buf_release(&path);
    return copy;
}

/* --- response files --- */

/* Words of the file replace the i-th. */
static bool replace(struct pdt_words *words, uint32_t i, const char *text)
{
    struct pdt_words all = {.arena = words->arena};
    bool good = true;
    for (uint32_t k = 0; good && k < i; k++)
        good = add(&all, words->items[k]);
    good = good && pdt_words_split(&all, text, false);
    for (uint32_t k = i + 1; good && k < words->n; k++)
        good = add(&all, words->items[k]);
    free(words->items);
    *words = all;
    return good;
}

bool pdt_words_expand(struct pdt_words *words, const char *folder, const char **ret_missing)
{
    uint32_t n_files = 0;
    for (uint32_t i = 1; i < words->n && n_files < MAX_FILES;) {
        const char *word = words->items[i];
        char *text;
        size_t len;
        if (*word != '@' || !word[1]) {
            i++;
            continue;
        }
        const char *path = pdt_words_path(words->arena, folder, word + 1);
        if (!path)
            return false;
        if (pm_file_read(path, MAX_FILE_BYTES, NULL, &text, &len) != PM_OK) {
            *ret_missing = path;
            i++;
            continue;
        }
        n_files++;
        bool good = replace(words, i, text);
        free(text);
        if (!good)
            return false;
    }
    return true;
}
