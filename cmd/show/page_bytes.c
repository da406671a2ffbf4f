/* Chunks of what the page reads (page_bytes.h). */
#include "page_bytes.h"

#include <stdlib.h>
#include <string.h>

bool page_chunk_begin(struct page_chunk *chunk)
{
    chunk->bytes = (struct pm_buf)PM_BUF_INIT(SIZE_MAX / 2);
    chunk->texts = pm_intern_new();
    chunk->directory = open_memstream(&chunk->directory_text, &chunk->directory_len);
    chunk->failed = !chunk->texts || !chunk->directory;
    if (chunk->failed)
        return false;
    pm_json_init(&chunk->json, chunk->directory);
    pm_json_object(&chunk->json, NULL);
    (void)page_text(chunk, "");
    return !chunk->failed;
}

void page_column(struct page_chunk *chunk, enum page_column_kind kind, const char *name)
{
    PM_ASSERT(chunk->n_columns < PAGE_MAX_COLUMNS && strlen(name) < PAGE_MAX_NAME);
    struct page_column *column = &chunk->columns[chunk->n_columns++];
    *column = (struct page_column){.kind = kind, .at = chunk->bytes.len};
    memcpy(column->name, name, strlen(name));
    chunk->before = 0;
}

void page_column_as_whole(struct page_chunk *chunk, const char *name)
{
    page_column(chunk, PAGE_NUMBERS, name);
    chunk->columns[chunk->n_columns - 1].is_same = true;
}

static struct page_column *count_one(struct page_chunk *chunk)
{
    struct page_column *column = &chunk->columns[chunk->n_columns - 1];
    column->n++;
    return column;
}

void page_put(struct page_chunk *chunk, uint64_t value)
{
    count_one(chunk);
    pm_buf_add_uleb(&chunk->bytes, value);
}

/* LEB128 of zig-zag, not the signed form: the page has one loop for both. */
void page_put_delta(struct page_chunk *chunk, int64_t value)
{
    uint64_t difference = (uint64_t)value - (uint64_t)chunk->before;
    chunk->before = value;
    count_one(chunk);
    pm_buf_add_uleb(&chunk->bytes, difference << 1 ^ (uint64_t)((int64_t)difference >> 63));
}

void page_put_real(struct page_chunk *chunk, double value)
{
    unsigned char bytes[8];
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(bits >> 8 * i);
    count_one(chunk);
    pm_buf_add(&chunk->bytes, bytes, sizeof bytes);
}

void page_put_bytes(struct page_chunk *chunk, const char *bytes, size_t n)
{
    count_one(chunk);
    pm_buf_add_uleb(&chunk->bytes, n);
    pm_buf_add(&chunk->bytes, bytes, n);
}

void page_put_text(struct page_chunk *chunk, const char *text)
{
    page_put_bytes(chunk, text, strlen(text));
}

uint32_t page_text(struct page_chunk *chunk, const char *text)
{
    if (chunk->failed)
        return 0;
    if (!text)
        text = "";
    const char *own = pm_intern_add(chunk->texts, text, strlen(text));
    chunk->failed |= !own;
    if (!own)
        return 0;
    uint32_t found = pm_index_map_get(&chunk->at, (int64_t)(intptr_t)own);
    if (found != PM_NONE)
        return found;
    const char **in_order =
        pm_grow_array(chunk->in_order, chunk->n_texts, &chunk->cap_texts, 256, sizeof *in_order);
    chunk->failed |= !in_order;
    if (!in_order)
        return 0;
    chunk->in_order = in_order;
    chunk->failed |= !pm_index_map_add(&chunk->at, (int64_t)(intptr_t)own, chunk->n_texts);
    in_order[chunk->n_texts] = own;
    return chunk->n_texts++;
}

static size_t bytes_of(const struct page_chunk *chunk, const struct page_column *column)
{
    bool is_last = column == chunk->columns + chunk->n_columns - 1;
    return (is_last ? chunk->bytes.len : column[1].at) - column->at;
}

/* The column of that name, with the same bytes. */
static bool has_same(const struct page_chunk *whole, const struct page_chunk *chunk,
                     const struct page_column *column)
{
    for (uint32_t i = 0; i < whole->n_columns; i++) {
        const struct page_column *other = &whole->columns[i];
        size_t size = bytes_of(chunk, column);
        if (strcmp(other->name, column->name) == 0)
            return other->n == column->n && bytes_of(whole, other) == size &&
                   !memcmp(whole->bytes.data + other->at, chunk->bytes.data + column->at, size);
    }
    return false;
}

static void write_column(struct page_chunk *chunk, const struct page_column *column)
{
    char kind[] = {(char)column->kind, 0};
    pm_json_array(&chunk->json, NULL);
    pm_json_string(&chunk->json, NULL, column->name);
    pm_json_string(&chunk->json, NULL, kind);
    pm_json_u64(&chunk->json, NULL, column->n);
    pm_json_u64(&chunk->json, NULL, bytes_of(chunk, column));
    pm_json_end(&chunk->json);
}

static void write_columns(struct page_chunk *chunk)
{
    pm_json_array(&chunk->json, "columns");
    for (uint32_t i = 0; i < chunk->n_columns; i++)
        if (!chunk->columns[i].is_same)
            write_column(chunk, &chunk->columns[i]);
    pm_json_end(&chunk->json);
}

static void write_same(struct page_chunk *chunk)
{
    pm_json_array(&chunk->json, "same");
    for (uint32_t i = 0; i < chunk->n_columns; i++)
        if (chunk->columns[i].is_same)
            pm_json_string(&chunk->json, NULL, chunk->columns[i].name);
    pm_json_end(&chunk->json);
}

static void add_u32(struct pm_buf *out, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        pm_buf_add_byte(out, (unsigned char)(value >> 8 * i));
}

static bool join(struct page_chunk *chunk, const struct page_chunk *whole, struct pm_buf *ret_bytes)
{
    page_column(chunk, PAGE_TEXTS, "texts");
    for (uint32_t i = 0; i < chunk->n_texts; i++)
        page_put_text(chunk, chunk->in_order[i]);
    for (uint32_t i = 0; whole && i < chunk->n_columns; i++)
        chunk->columns[i].is_same |= has_same(whole, chunk, &chunk->columns[i]);
    write_columns(chunk);
    if (whole)
        write_same(chunk);
    pm_json_end(&chunk->json);
    bool good = pm_json_done(&chunk->json) && fflush(chunk->directory) == 0;
    if (!good || chunk->bytes.failed || chunk->directory_len > UINT32_MAX)
        return false;
    pm_buf_add_str(ret_bytes, "PMPG");
    add_u32(ret_bytes, PAGE_VERSION);
    add_u32(ret_bytes, (uint32_t)chunk->directory_len);
    pm_buf_add(ret_bytes, chunk->directory_text, chunk->directory_len);
    for (uint32_t i = 0; i < chunk->n_columns; i++)
        if (!chunk->columns[i].is_same && bytes_of(chunk, &chunk->columns[i]))
            pm_buf_add(ret_bytes, chunk->bytes.data + chunk->columns[i].at,
                       bytes_of(chunk, &chunk->columns[i]));
    return !ret_bytes->failed;
}

bool page_chunk_end(struct page_chunk *chunk, const struct page_chunk *whole,
                    struct pm_buf *ret_bytes)
{
    return !chunk->failed && join(chunk, whole, ret_bytes);
}

void page_chunk_release(struct page_chunk *chunk)
{
    if (chunk->directory)
        fclose(chunk->directory);
    free(chunk->directory_text);
    free(chunk->in_order);
    pm_intern_free(chunk->texts);
    pm_index_map_release(&chunk->at);
    pm_buf_release(&chunk->bytes);
    *chunk = (struct page_chunk){0};
}
