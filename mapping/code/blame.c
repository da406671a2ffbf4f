#include "blame.h"

#include "../base/str.h"
#include "loops.h"

#include <capstone/capstone.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N_BUCKETS = 1024, MAX_PIECE_BYTES = 64 << 20 };

/* Per instruction, in the order of addresses. */
enum {
    IS_TARGET = 1,    /* a jump of this piece goes here */
    ENDS = 2,         /* does not go on to the next one */
    NEVER_WAITS = 4,  /* a jump, or a comparison of registers for one */
    IS_LOOP_HEAD = 8, /* one jump goes here, from further down */
    IS_BRIEF = 16,    /* arithmetic of integers in registers: one cycle */
    IS_SLED = 32,     /* ENDS for what it may have been: it does go on */
    IS_TABLE = 64,    /* ENDS with a jump to where nobody knows */
    IS_NOP = 128,
    COUNTS = 256,      /* adds a constant to a register: the steps of a loop */
    CALLS = 512,       /* or jumps to elsewhere, perhaps */
    IS_ENTERED = 1024, /* one jump goes here, from behind the loop that this lies in */
    REPEATS = 2048,    /* "rep movsq": an interrupt comes in the middle, and it goes on then */
};

struct piece {
    uint64_t low, size_bytes;
    uint32_t n;
    uint32_t *starts; /* less low */
    uint16_t *flags;
    struct jump *jumps; /* by target */
    uint32_t n_jumps;
    struct pm_loops loops; /* made when they are first asked for */
    bool has_loops;
    struct piece *next; /* of its bucket */
};

/* Positions of instructions. */
struct jump {
    uint32_t from, to;
    bool enters; /* from behind a loop into it: compilers put what comes before loops there */
};

struct pm_blame {
    unsigned char *bytes; /* of the file; NULL: not of this machine's kind */
    size_t size;
    csh decoder;
    bool has_decoder;
    struct piece *buckets[N_BUCKETS];
};

/* --- the decoder --- */

#define TEXT_OF(number) #number
#define SONAME(major) "libcapstone.so." TEXT_OF(major)

/* Capstone is loaded when it is needed: its tables are 77 000 pointers, which cost each start of
 * a command 3 ms, more than all else of it. */
static struct {
    __typeof__(cs_open) *open;
    __typeof__(cs_close) *close;
    __typeof__(cs_malloc) *new;
    __typeof__(cs_free) *free;
    __typeof__(cs_disasm_iter) *next;
} capstone;

static enum pm_status find_capstone(struct pm_error *err)
{
    void *library = dlopen(SONAME(CS_API_MAJOR), RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return pm_error_set(err, PM_ERR_NOT_FOUND, "cannot decode instructions: %s", dlerror());
    capstone.close = (__typeof__(cs_close) *)dlsym(library, "cs_close");
    capstone.new = (__typeof__(cs_malloc) *)dlsym(library, "cs_malloc");
    capstone.free = (__typeof__(cs_free) *)dlsym(library, "cs_free");
    capstone.next = (__typeof__(cs_disasm_iter) *)dlsym(library, "cs_disasm_iter");
    __typeof__(cs_open) *open_decoder = (__typeof__(cs_open) *)dlsym(library, "cs_open");
    if (!capstone.close || !capstone.new || !capstone.free || !capstone.next || !open_decoder)
        return pm_error_set(err, PM_ERR_UNSUPPORTED,
                            "cannot decode instructions: '%s' is not what it was",
                            SONAME(CS_API_MAJOR));
    capstone.open = open_decoder;
    return PM_OK;
}

static enum pm_status load_capstone(struct pm_error *err)
{
    static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&loading);
    enum pm_status status = capstone.open ? PM_OK : find_capstone(err);
    pthread_mutex_unlock(&loading);
    return status;
}

void pm_blame_prepare(void)
{
    (void)load_capstone(NULL);
}

/* --- the file --- */

static bool is_x86_64(const unsigned char *bytes, size_t size)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)bytes;
    return size >= sizeof *header && header->e_ident[EI_CLASS] == ELFCLASS64 &&
           header->e_ident[EI_DATA] == ELFDATA2LSB && header->e_machine == EM_X86_64 &&
           header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phoff % 8 == 0 &&
           header->e_phoff <= size &&
           header->e_phnum <= (size - header->e_phoff) / sizeof(Elf64_Phdr);
}

static enum pm_status map_file(struct pm_blame *blame, const char *path, struct pm_error *err)
{
    int fd;
    uint64_t size_bytes;
    enum pm_status status = pm_file_open(path, SIZE_MAX / 2, err, &fd, &size_bytes);
    if (status != PM_OK)
        return status;
    void *bytes =
        size_bytes > 0 ? mmap(NULL, (size_t)size_bytes, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (bytes == MAP_FAILED)
        return pm_error_set(err, PM_ERR_FORMAT, "'%s' is no ELF file", path);
    blame->bytes = bytes;
    blame->size = (size_t)size_bytes;
    if (blame->size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return pm_error_set(err, PM_ERR_FORMAT, "'%s' is no ELF file", path);
    return PM_OK;
}

enum pm_status pm_blame_open(const char *path, struct pm_error *err, struct pm_blame **ret_blame)
{
    struct pm_blame *blame = pm_alloc(sizeof *blame);
    if (!blame)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    enum pm_status status = map_file(blame, path, err);
    bool has_code = status == PM_OK && is_x86_64(blame->bytes, blame->size);
    if (has_code)
        status = load_capstone(err);
    if (status != PM_OK) {
        pm_blame_free(blame);
        return status;
    }
    blame->has_decoder =
        has_code && capstone.open(CS_ARCH_X86, CS_MODE_64, &blame->decoder) == CS_ERR_OK;
    *ret_blame = blame;
    return PM_OK;
}

void pm_blame_free(struct pm_blame *blame)
{
    if (!blame)
        return;
    for (size_t i = 0; i < N_BUCKETS; i++)
        for (struct piece *piece = blame->buckets[i], *next; piece; piece = next) {
            next = piece->next;
            free(piece->starts);
            free(piece->flags);
            free(piece->jumps);
            pm_loops_release(&piece->loops);
            free(piece);
        }
    if (blame->has_decoder)
        capstone.close(&blame->decoder);
    if (blame->bytes)
        munmap(blame->bytes, blame->size);
    free(blame);
}

/* The bytes of [low, low + size_bytes) in an executable segment; NULL: they are not all there. */
static const unsigned char *code_at(const struct pm_blame *blame, uint64_t low, uint64_t size_bytes)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)blame->bytes;
    const Elf64_Phdr *segments = (const Elf64_Phdr *)(blame->bytes + header->e_phoff);
    for (size_t i = 0; i < header->e_phnum; i++) {
        const Elf64_Phdr *s = &segments[i];
        if (s->p_type != PT_LOAD || !(s->p_flags & PF_X) || low < s->p_vaddr ||
            low - s->p_vaddr > s->p_filesz || size_bytes > s->p_filesz - (low - s->p_vaddr))
            continue;
        if (s->p_offset <= blame->size && s->p_filesz <= blame->size - s->p_offset)
            return blame->bytes + s->p_offset + (low - s->p_vaddr);
    }
    return NULL;
}

const unsigned char *pm_blame_code(const struct pm_blame *blame, uint64_t low, uint64_t size_bytes)
{
    return code_at(blame, low, size_bytes);
}

bool pm_blame_segment(const struct pm_blame *blame, size_t index,
                      struct pm_blame_segment *ret_segment)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)blame->bytes;
    if (!blame->has_decoder)
        return false;
    const Elf64_Phdr *segments = (const Elf64_Phdr *)(blame->bytes + header->e_phoff);
    for (size_t i = 0; i < header->e_phnum; i++) {
        const Elf64_Phdr *s = &segments[i];
        if (s->p_type != PT_LOAD || s->p_offset > blame->size ||
            s->p_filesz > blame->size - s->p_offset || index-- > 0)
            continue;
        *ret_segment = (struct pm_blame_segment){
            s->p_vaddr, s->p_filesz, blame->bytes + s->p_offset, (s->p_flags & PF_X) != 0};
        return true;
    }
    return false;
}

bool pm_blame_is_fixed(const struct pm_blame *blame)
{
    return blame->has_decoder && ((const Elf64_Ehdr *)blame->bytes)->e_type == ET_EXEC;
}

/* --- instructions --- */

/* Capstone 4 has jmp among the conditional jumps, Capstone 5 does not. */
static bool is_jump(unsigned id)
{
    return (id >= X86_INS_JAE && id <= X86_INS_JS) || id == X86_INS_JMP || id == X86_INS_LOOP ||
           id == X86_INS_LOOPE || id == X86_INS_LOOPNE || id == X86_INS_XBEGIN;
}

static bool never_goes_on(unsigned id)
{
    return id == X86_INS_JMP || id == X86_INS_LJMP || id == X86_INS_RET || id == X86_INS_RETF ||
           id == X86_INS_RETFQ || id == X86_INS_UD2 || id == X86_INS_HLT || id == X86_INS_INT3;
}

static bool grow(struct piece *piece, uint32_t *cap)
{
    if (piece->n < *cap)
        return true;
    uint32_t wanted = *cap ? *cap * 2 : 256;
    uint32_t *starts = pm_realloc_array(piece->starts, wanted, sizeof *starts);
    if (starts)
        piece->starts = starts;
    uint16_t *flags = pm_realloc_array(piece->flags, wanted, sizeof *flags);
    if (flags)
        piece->flags = flags;
    *cap = wanted;
    return starts && flags;
}

bool pm_blame_visit(const struct pm_blame *blame, uint64_t low, uint64_t size_bytes,
                    pm_blame_visitor *visitor, void *context)
{
    const uint8_t *code =
        blame->has_decoder ? (const uint8_t *)code_at(blame, low, size_bytes) : NULL;
    cs_insn *insn = code ? capstone.new(blame->decoder) : NULL;
    size_t left = (size_t)size_bytes;
    if (!insn)
        return false;
    while (left > 0 && capstone.next(blame->decoder, &code, &left, &low, insn))
        visitor(context, insn->mnemonic, insn->op_str);
    capstone.free(insn, 1);
    return left == 0;
}

/* Position of the instruction that begins at this offset, piece->n: none does. */
static uint32_t find(const struct piece *piece, uint64_t offset)
{
    uint32_t low = 0, high = piece->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (piece->starts[middle] < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < piece->n && piece->starts[low] == offset ? low : piece->n;
}

/* to: offset in the piece, made a position when all are known. */
static bool add_jump(struct piece *piece, uint32_t *cap, uint64_t to)
{
    struct jump *jumps = pm_grow_array(piece->jumps, piece->n_jumps, cap, 64, sizeof *jumps);
    if (!jumps)
        return false;
    piece->jumps = jumps;
    piece->jumps[piece->n_jumps++] = (struct jump){piece->n, (uint32_t)to, false};
    return true;
}

static int compare_jumps(const void *a, const void *b)
{
    const struct jump *x = a, *y = b;
    return x->to != y->to ? (x->to > y->to) - (x->to < y->to)
                          : (x->from > y->from) - (x->from < y->from);
}

static bool is_brief(const cs_insn *at)
{
    switch (at->id) {
    case X86_INS_LEA:
        return true;
    case X86_INS_MOV:
    case X86_INS_ADD:
    case X86_INS_SUB:
    case X86_INS_AND:
    case X86_INS_OR:
    case X86_INS_XOR:
    case X86_INS_NOT:
    case X86_INS_NEG:
    case X86_INS_INC:
    case X86_INS_DEC:
        return !strchr(at->op_str, '[');
    default:
        return false;
    }
}

static bool counts(const cs_insn *at)
{
    const char *comma = strchr(at->op_str, ',');
    bool adds = at->id == X86_INS_ADD || at->id == X86_INS_SUB;
    if (strchr(at->op_str, '['))
        return false;
    return at->id == X86_INS_INC || at->id == X86_INS_DEC ||
           (adds && comma && strspn(comma, ", -0123456789abcdefx") == strlen(comma));
}

static bool repeats(const cs_insn *at)
{
    static const unsigned char prefixes[] = {0x66, 0x67, 0xf2, 0xf3};
    static const unsigned char strings[] = {0xa4, 0xa5, 0xa6, 0xa7, 0xaa,
                                            0xab, 0xac, 0xad, 0xae, 0xaf};
    bool repeated = false;
    unsigned i = 0;
    for (; i < at->size && memchr(prefixes, at->bytes[i], sizeof prefixes); i++)
        repeated |= (at->bytes[i] | 1) == 0xf3;
    if (i < at->size && (at->bytes[i] & 0xf0) == 0x40) /* REX */
        i++;
    return repeated && i + 1 == at->size && memchr(strings, at->bytes[i], sizeof strings);
}

static uint16_t flags_of(const cs_insn *at)
{
    static const unsigned char sled[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
    uint16_t flags = 0;
    if (never_goes_on(at->id))
        flags |= ENDS;
    if (at->size == sizeof sled && memcmp(at->bytes, sled, sizeof sled) == 0)
        flags |= ENDS | IS_SLED;
    if (at->id == X86_INS_NOP)
        flags |= IS_NOP;
    if (at->id == X86_INS_JMP && strncmp(at->op_str, "0x", 2) != 0)
        flags |= IS_TABLE | CALLS;
    if (at->id == X86_INS_CALL || at->id == X86_INS_LCALL)
        flags |= CALLS;
    bool compares = at->id == X86_INS_CMP || at->id == X86_INS_TEST;
    if (is_jump(at->id) || (compares && !strchr(at->op_str, '[')))
        flags |= NEVER_WAITS;
    if (is_brief(at))
        flags |= IS_BRIEF;
    if (counts(at))
        flags |= COUNTS;
    if (repeats(at))
        flags |= REPEATS;
    return flags;
}

/* False: memory ended. What cannot be decoded is one byte that does not go on. (ENDS of sleds:
 * they may have been jumps while the program ran, so what stands behind was not reached through
 * them.) */
static bool decode(const struct pm_blame *blame, const unsigned char *code, uint64_t size_bytes,
                   struct piece *piece)
{
    cs_insn *at = capstone.new(blame->decoder);
    const unsigned char *p = code, *end = code + size_bytes;
    uint32_t cap = 0, jumps_cap = 0;
    bool good = at != NULL;
    while (good && p < end) {
        uint64_t address = piece->low + (uint64_t)(p - code);
        size_t left = (size_t)(end - p);
        good = grow(piece, &cap);
        if (!good)
            break;
        piece->starts[piece->n] = (uint32_t)(p - code);
        piece->flags[piece->n] = ENDS;
        if (!capstone.next(blame->decoder, &p, &left, &address, at)) {
            p++;
        } else {
            piece->flags[piece->n] = flags_of(at);
            char *rest = at->op_str;
            uint64_t to = is_jump(at->id) ? strtoull(at->op_str, &rest, 0) : 0;
            bool is_known = rest != at->op_str && *rest == 0;
            if (is_known && to >= piece->low && to - piece->low < size_bytes)
                good = add_jump(piece, &jumps_cap, to - piece->low);
            else if (is_known)
                piece->flags[piece->n] |= CALLS;
        }
        piece->n++;
    }
    if (at)
        capstone.free(at, 1);
    return good;
}

/* Does a jump between the two go back to before the target? A loop ends there, then, and the one
 * from further down is not its own. */
static bool enters_loop(const struct piece *piece, uint32_t number)
{
    enum { MAX_STEPS = 256 };
    const struct jump *jump = &piece->jumps[number];
    for (uint32_t i = number;
         i-- > 0 && number - i < MAX_STEPS && piece->jumps[i].from >= jump->to;)
        if (piece->jumps[i].to < jump->to)
            return true;
    return false;
}

static unsigned flags_of_target(const struct jump *jump, bool is_only)
{
    if (!is_only || jump->from <= jump->to)
        return IS_TARGET;
    return jump->enters ? IS_TARGET | IS_ENTERED : IS_TARGET | IS_LOOP_HEAD;
}

static void mark_targets(struct piece *piece)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < piece->n_jumps; i++) {
        struct jump jump = {piece->jumps[i].from, find(piece, piece->jumps[i].to), false};
        if (jump.to < piece->n)
            piece->jumps[n++] = jump;
    }
    piece->n_jumps = n;
    for (uint32_t i = 0; i < n; i++)
        piece->jumps[i].enters = enters_loop(piece, i);
    if (n)
        qsort(piece->jumps, n, sizeof *piece->jumps, compare_jumps);
    for (uint32_t i = 0; i < n; i++) {
        const struct jump *jump = &piece->jumps[i];
        bool one = (i == 0 || jump[-1].to != jump->to) && (i + 1 == n || jump[1].to != jump->to);
        piece->flags[jump->to] |= (uint16_t)flags_of_target(jump, one);
    }
}

static bool leads_to_before(const void *jump, const void *to)
{
    return ((const struct jump *)jump)->to < *(const uint32_t *)to;
}

/* The jump back to a loop's head. */
static uint32_t jump_to(const struct piece *piece, uint32_t head)
{
    size_t at =
        pm_lower_bound(piece->jumps, piece->n_jumps, sizeof *piece->jumps, &head, leads_to_before);
    return piece->jumps[at].from;
}

/* This instruction, or the one in front of it that has none of the flags. */
static uint32_t without(const struct piece *piece, uint32_t now, unsigned flags)
{
    while (piece->flags[now] & flags && now > 0 && !(piece->flags[now] & IS_TARGET) &&
           !(piece->flags[now - 1] & ENDS))
        now--;
    return now;
}

/* This instruction or, where it never waits, the one in front of it that can have. A loop's step
 * retires with what stands before it, when that takes longer than one cycle. */
static uint32_t waiting(const struct piece *piece, uint32_t now)
{
    uint32_t slow = without(piece, now, NEVER_WAITS | COUNTS);
    return piece->flags[slow] & (NEVER_WAITS | IS_BRIEF) ? without(piece, now, NEVER_WAITS) : slow;
}

/* The instruction that ran before this one and can have waited; the one itself when that is not
 * known. */
static uint32_t before(const struct piece *piece, uint32_t at)
{
    if (piece->flags[at] & REPEATS)
        return at;
    if (piece->flags[at] & IS_LOOP_HEAD)
        return waiting(piece, jump_to(piece, at));
    bool is_target = (piece->flags[at] & (IS_TARGET | IS_ENTERED)) == IS_TARGET;
    if (at == 0 || is_target || piece->flags[at - 1] & ENDS)
        return at;
    unsigned brief_head = IS_LOOP_HEAD | IS_BRIEF;
    if ((piece->flags[at - 1] & brief_head) == brief_head) {
        uint32_t last = waiting(piece, jump_to(piece, at - 1));
        if (!(piece->flags[last] & (IS_BRIEF | NEVER_WAITS)))
            return last;
    }
    return waiting(piece, at - 1);
}

static struct piece *new_piece(const struct pm_blame *blame, uint64_t low, uint64_t size_bytes)
{
    const unsigned char *code =
        size_bytes <= MAX_PIECE_BYTES ? code_at(blame, low, size_bytes) : NULL;
    struct piece *piece = pm_alloc(sizeof *piece);
    if (!piece)
        return NULL;
    piece->low = low;
    piece->size_bytes = size_bytes;
    if (code && !decode(blame, code, size_bytes, piece))
        piece->n = 0; /* memory ended: nothing is known */
    mark_targets(piece);
    return piece;
}

/* NULL: nothing is known of it. */
static struct piece *piece_at(struct pm_blame *blame, uint64_t low, uint64_t size_bytes)
{
    struct piece **bucket = &blame->buckets[(low >> 4) % N_BUCKETS], *piece = *bucket;
    while (piece && (piece->low != low || piece->size_bytes != size_bytes))
        piece = piece->next;
    if (!piece) {
        piece = new_piece(blame, low, size_bytes);
        if (!piece)
            return NULL;
        piece->next = *bucket;
        *bucket = piece;
    }
    return piece;
}

uint64_t pm_blame_address(struct pm_blame *blame, uint64_t low, uint64_t size_bytes,
                          uint64_t address)
{
    if (!blame->has_decoder || address < low || address - low >= size_bytes)
        return address;
    struct piece *piece = piece_at(blame, low, size_bytes);
    uint32_t at = piece ? find(piece, address - low) : 0;
    return !piece || at == piece->n ? address : low + piece->starts[before(piece, at)];
}

bool pm_blame_next_call(struct pm_blame *blame, uint64_t low, uint64_t size_bytes,
                        uint64_t *address)
{
    struct piece *piece = blame->has_decoder ? piece_at(blame, low, size_bytes) : NULL;
    for (uint32_t i = 0; piece && i < piece->n; i++) {
        if (!(piece->flags[i] & CALLS) || low + piece->starts[i] < *address)
            continue;
        *address = low + piece->starts[i];
        return true;
    }
    return false;
}

/* --- loops --- */

/* False: memory ended. */
static bool make_loops(struct piece *piece)
{
    unsigned char *ends = pm_alloc_array(piece->n, 1);
    struct pm_loops_jump *jumps = pm_alloc_array(piece->n_jumps, sizeof *jumps);
    bool good = ends && jumps;
    for (uint32_t i = 0; good && i < piece->n; i++) {
        unsigned flags = piece->flags[i];
        /* What fills up the room behind a jump leads to nothing: else a loop that follows would
         * have two entries. */
        bool fills =
            (flags & (IS_NOP | IS_TARGET)) == IS_NOP && i > 0 && ends[i - 1] != PM_LOOPS_GOES_ON;
        ends[i] = PM_LOOPS_GOES_ON;
        if (flags & IS_TABLE)
            ends[i] = PM_LOOPS_JUMPS_ANYWHERE;
        else if ((flags & (ENDS | IS_SLED)) == ENDS || fills)
            ends[i] = PM_LOOPS_STOPS;
    }
    for (uint32_t i = 0; good && i < piece->n_jumps; i++)
        jumps[i] = (struct pm_loops_jump){piece->jumps[i].from, piece->jumps[i].to};
    good = good && pm_loops_find(piece->n, ends, jumps, piece->n_jumps, &piece->loops);
    piece->has_loops = true;
    free(ends);
    free(jumps);
    return good;
}

/* The instruction that has the address in it; piece->n: none. */
static uint32_t position_of(const struct piece *piece, uint64_t offset)
{
    uint32_t low = 0, high = piece->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (piece->starts[middle] <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : piece->n;
}

size_t pm_blame_loops(struct pm_blame *blame, uint64_t low, uint64_t size_bytes, uint64_t address,
                      struct pm_blame_loop *ret_loops, size_t max)
{
    if (!blame->has_decoder || address < low || address - low >= size_bytes)
        return 0;
    struct piece *piece = piece_at(blame, low, size_bytes);
    if (!piece || piece->n == 0 || (!piece->has_loops && !make_loops(piece)))
        return 0;
    uint32_t at = position_of(piece, address - low);
    uint32_t loop = piece->loops.n && at < piece->n ? piece->loops.innermost[at] : 0;
    size_t n = 0;
    for (; loop && n < max; loop = piece->loops.loops[loop - 1].parent) {
        const struct pm_loop *l = &piece->loops.loops[loop - 1];
        ret_loops[n++] =
            (struct pm_blame_loop){low + piece->starts[l->head], low + piece->starts[l->last]};
    }
    return n;
}

uint64_t pm_blame_instruction(struct pm_blame *blame, uint64_t low, uint64_t size_bytes,
                              uint64_t address)
{
    if (!blame->has_decoder || address < low || address - low >= size_bytes)
        return 0;
    struct piece *piece = piece_at(blame, low, size_bytes);
    uint32_t at = piece ? position_of(piece, address - low) : 0;
    return piece && at < piece->n ? low + piece->starts[at] : 0;
}
