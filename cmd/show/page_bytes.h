/* A chunk of what the page (page/) reads: a directory in JSON, then columns of numbers and texts.
 * docs/formats/page.md has the layout.
 *
 *     struct page_chunk chunk = {0};
 *     if (page_chunk_begin(&chunk)) {
 *         page_column(&chunk, PAGE_NUMBERS, "parent");
 *         page_put(&chunk, 17);
 *         pm_json_u64(&chunk.json, "n_contexts", 1);
 *     }
 *     if (!page_chunk_end(&chunk, NULL, &bytes)) ... // memory ended
 *     page_chunk_release(&chunk);
 *
 * The directory is open as an object while the chunk is: what is written to `json` stands beside
 * the list of columns. Errors stick until the end. One thread for each chunk.
 */
#ifndef PM_SHOW_PAGE_BYTES_H
#define PM_SHOW_PAGE_BYTES_H

#include "mapping/base/arena.h"
#include "mapping/base/json.h"
#include "mapping/base/str.h"
#include "mapping/graph/index_map.h"

enum page_column_kind {
    PAGE_NUMBERS = 'u', /* unsigned LEB128 */
    PAGE_DELTAS = 'd',  /* zig-zag LEB128 of the difference to the one before */
    PAGE_REALS = 'f',   /* 8 bytes of IEEE 754, little-endian */
    PAGE_TEXTS = 's'    /* length, then UTF-8 */
};

enum { PAGE_MAX_COLUMNS = 1024, PAGE_MAX_NAME = 48, PAGE_VERSION = 1 };

struct page_column {
    enum page_column_kind kind;
    char name[PAGE_MAX_NAME];
    uint64_t n;
    size_t at;    /* in bytes */
    bool is_same; /* as in the whole one */
};

struct page_chunk {
    struct pm_json json;
    FILE *directory;
    char *directory_text;
    size_t directory_len;
    struct pm_buf bytes;
    struct page_column columns[PAGE_MAX_COLUMNS];
    uint32_t n_columns;
    int64_t before;          /* in a column of deltas */
    struct pm_intern *texts; /* those of the chunk, each once */
    struct pm_index_map at;  /* their addresses to positions */
    const char **in_order;
    uint32_t n_texts, cap_texts;
    bool failed;
};

/* False: memory ended. page_chunk_release is to be called all the same. */
PM_MUST_CHECK bool page_chunk_begin(struct page_chunk *chunk);
/* Ends the column before, and begins one. name: ASCII. */
void page_column(struct page_chunk *chunk, enum page_column_kind kind, const char *name);
/* Of an interval: that column is the one of the whole run, which has it. */
void page_column_as_whole(struct page_chunk *chunk, const char *name);
void page_put(struct page_chunk *chunk, uint64_t value);
void page_put_delta(struct page_chunk *chunk, int64_t value);
void page_put_real(struct page_chunk *chunk, double value);
/* What is not UTF-8 in it the page shows as U+FFFD. */
void page_put_bytes(struct page_chunk *chunk, const char *bytes, size_t n);
void page_put_text(struct page_chunk *chunk, const char *text);
/* The number of a text in the chunk's table, which the column "texts" has in the end; 0 for NULL
 * and "". Numbers are put where the caller wants them. */
uint32_t page_text(struct page_chunk *chunk, const char *text);
/* Adds the finished chunk to ret_bytes. whole: another one that was ended, or NULL; columns that
 * are the same there are left out, and the array "same" of the directory names them. False: memory
 * ended. */
PM_MUST_CHECK bool page_chunk_end(struct page_chunk *chunk, const struct page_chunk *whole,
                                  struct pm_buf *ret_bytes);
void page_chunk_release(struct page_chunk *chunk);

#endif
