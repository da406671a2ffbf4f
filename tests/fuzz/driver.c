/* Runs a fuzz target without libFuzzer: every file of a corpus folder as it is, then changed in
 * ways that are the same in every run.
 *
 *     fuzz_pif_text CORPUS_FOLDER [CHANGES_PER_FILE [FLOOR]]
 *     fuzz_pif_text FILE                    # once, to look at a crash
 *
 * The readers are compiled with -fsanitize-coverage=trace-pc: how many different blocks of their
 * code were reached is printed. Fewer than FLOOR (file floors) is a failure: the target tests
 * little then.
 *
 * A target is ten lines, fuzz_NAME.c with LLVMFuzzerTestOneInput; its inputs are corpus/NAME/.
 * See CMakeLists.txt.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX_BYTES = 1 << 20, N_FILES_MAX = 1000, N_CHANGES_DEFAULT = 2000 };

struct input {
    uint8_t *data;
    size_t size;
};

/* --- which code was reached --- */

enum { LARGEST_CODE_BYTES = 64 << 20 };

extern const char __executable_start[]; /* of the linker */
static uint64_t reached[LARGEST_CODE_BYTES / 64];
static size_t n_reached;

void __sanitizer_cov_trace_pc(void);
/* At the begin of each block. Whatever is called here must not be compiled with coverage itself. */
void __sanitizer_cov_trace_pc(void)
{
    size_t at = (size_t)((const char *)__builtin_return_address(0) - __executable_start);
    if (at >= LARGEST_CODE_BYTES || reached[at / 64] >> at % 64 & 1)
        return;
    reached[at / 64] |= 1ull << at % 64;
    n_reached++;
}

/* --- changes --- */

/* xorshift64 (Marsaglia 2003): good enough to choose, and the same everywhere. */
static uint64_t random_state = 88172645463325252u;

static size_t below(size_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return n ? (size_t)(random_state % n) : 0;
}

static bool read_input(const char *path, struct input *ret_input)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    ret_input->data = malloc(INPUT_MAX_BYTES);
    ret_input->size = ret_input->data ? fread(ret_input->data, 1, INPUT_MAX_BYTES, file) : 0;
    fclose(file);
    return ret_input->data != NULL;
}

/* Bytes in a block of their very size, so that a sanitizer sees the first byte read behind them. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        exit(1);
    if (size)
        memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void move(uint8_t *data, size_t *size, size_t to, size_t from)
{
    if (*size - from > INPUT_MAX_BYTES - to)
        return;
    memmove(data + to, data + from, *size - from);
    *size = *size - from + to;
}

static void change_once(uint8_t *data, size_t *size, const struct input *other)
{
    static const uint8_t telling[] = {0,    1,    2,   0x3f, 0x40, 0x7f, 0x80, 0xfe,
                                      0xff, '\n', '"', '=',  '{',  ',',  ':',  '#'};
    size_t at = below(*size), len = 1 + below(8);
    switch (*size ? below(8) : 7) {
    case 0: /* another bit */
        data[at] ^= (uint8_t)(1u << below(8));
        break;
    case 1: /* another byte */
        data[at] = telling[below(sizeof telling)];
        break;
    case 2: /* a run of one byte */
        memset(data + at, telling[below(sizeof telling)], len < *size - at ? len : *size - at);
        break;
    case 3: /* a number a little off, as counts and lengths are */
        data[at] = (uint8_t)(data[at] + below(5) - 2);
        break;
    case 4: /* a few bytes out */
        move(data, size, at, at + len < *size ? at + len : *size);
        break;
    case 5: /* a piece twice */
        move(data, size, at + len < *size ? at + len : *size, at);
        break;
    case 6: /* cut */
        if (below(4) == 0)
            *size = at;
        break;
    default: /* a piece of another input */
        len = below(other->size);
        if (len > *size - at)
            len = *size - at;
        memcpy(data + at, other->data + below(other->size - len), len);
    }
}

static void run_changed(const struct input *inputs, size_t n_inputs, size_t index, long n_changes)
{
    uint8_t *data = malloc(INPUT_MAX_BYTES);
    if (!data)
        exit(1);
    for (long i = 0; i < n_changes; i++) {
        size_t size = inputs[index].size;
        memcpy(data, inputs[index].data, size);
        for (size_t n = 1 + below(4); n; n--)
            change_once(data, &size, &inputs[below(n_inputs)]);
        run(data, size);
    }
    free(data);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static size_t read_folder(const char *folder, struct input *inputs)
{
    struct dirent **entries;
    size_t n_inputs = 0;
    int n_entries = scandir(folder, &entries, is_visible, alphasort);
    for (int i = 0; i < n_entries; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (n_inputs < N_FILES_MAX && read_input(path, &inputs[n_inputs]))
            n_inputs++;
        free(entries[i]);
    }
    if (n_entries >= 0)
        free(entries);
    return n_inputs;
}

int main(int argc, char **argv)
{
    static struct input inputs[N_FILES_MAX];
    struct stat st;
    if (argc < 2 || argc > 4 || stat(argv[1], &st) != 0) {
        fprintf(stderr, "usage: %s CORPUS_FOLDER|FILE [CHANGES_PER_FILE [FLOOR]]\n", argv[0]);
        return 2;
    }
    bool is_folder = S_ISDIR(st.st_mode);
    size_t n_inputs = is_folder ? read_folder(argv[1], inputs) : read_input(argv[1], &inputs[0]);
    long n_changes = !is_folder ? 0 : argc >= 3 ? strtol(argv[2], NULL, 10) : N_CHANGES_DEFAULT;
    if (n_inputs == 0) {
        fprintf(stderr, "%s: nothing to run in '%s'\n", argv[0], argv[1]);
        return 2;
    }
    run(NULL, 0);
    for (size_t i = 0; i < n_inputs; i++) {
        run(inputs[i].data, inputs[i].size);
        run_changed(inputs, n_inputs, i, n_changes);
    }
    size_t floor = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
    printf("%zu inputs, %ld changes of each\n", n_inputs, n_changes);
    printf("coverage: %zu blocks, floor %zu\n", n_reached, floor);
    for (size_t i = 0; i < n_inputs; i++)
        free(inputs[i].data);
    if (n_reached >= floor)
        return 0;
    fprintf(stderr, "%s: only %zu blocks of code were reached, not %zu (tests/fuzz/floors)\n",
            argv[0], n_reached, floor);
    return 1;
}
