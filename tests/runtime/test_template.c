/* Trampolines that are copied from one of their kind are, byte for byte, what would have been
 * generated for them. */
#include "runtime/code/x86_64/emit.h"
#include "runtime/guest/guest.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void pm_wrap_resolve(void) {}

enum {
    REGION_BYTES = 4 << 20,
    COLD_AT = 1 << 20,
    TEXT_AT = 2 << 20,
    N_MASKS = 512,
    N_KINDS = 3000
};

static uint8_t *region;

static int make_region(void **state)
{
    (void)state;
    region = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return region == MAP_FAILED;
}

static int unmap_region(void **state)
{
    (void)state;
    return munmap(region, REGION_BYTES);
}

/* The registers that masks are about: all but rbx, rsp, rbp and r12 to r15. */
static uint16_t mask_of(unsigned number)
{
    static const uint8_t registers[] = {0, 1, 2, 6, 7, 8, 9, 10, 11};
    uint16_t mask = 0;
    for (unsigned i = 0; i < sizeof registers; i++)
        mask |= (uint16_t)((number >> i & 1) << registers[i]);
    return mask;
}

struct one {
    struct pm_sled sled;
    struct pm_probe probe;
    uint32_t index;
    const uint8_t *flag, *target;
};

static struct one make_one(unsigned kind, unsigned flags, unsigned mode, unsigned mask,
                           unsigned number, bool has_flag)
{
    bool loop = kind == PM_SLED_LOOP_ENTER || kind == PM_SLED_LOOP_LEAVE;
    unsigned depth = flags & PM_SLED_DEPTH_MASK;
    uint32_t noun = number * 70001u % 100003u;
    struct one one = {.sled = {.address = (uintptr_t)region + TEXT_AT + number * 37,
                               .noun = noun,
                               .must_save = mask_of(mask),
                               .kind = (uint8_t)kind,
                               .flags = (uint8_t)flags},
                      .probe = {.noun = 1000 + noun,
                                .kind = (uint8_t)kind,
                                .loop_depth = (uint8_t)(!loop        ? 0
                                                        : depth != 0 ? depth
                                                                     : 1),
                                .bank = 3,
                                .counter = noun,
                                .mode = (uint8_t)mode},
                      .index = number * 11,
                      .flag = has_flag ? region + TEXT_AT + 8192 + number : NULL};
    return one;
}

typedef void make_fn(struct x86_code *c, struct x86_code *cold, const struct pm_sled *sled,
                     const struct pm_probe *probe, uint32_t index, const uint8_t *thunk);

static void make(make_fn *way, const struct one *one, uint8_t *fast, uint8_t *cold,
                 size_t *ret_fast, size_t *ret_cold)
{
    struct x86_code c = {.p = fast,
                         .flag = one->flag,
                         .target = one->target,
                         .region = region,
                         .region_bytes = REGION_BYTES},
                    rest = {.p = cold, .flag = one->flag};
    way(&c, &rest, &one->sled, &one->probe, one->index, region);
    *ret_fast = (size_t)(c.p - fast);
    *ret_cold = (size_t)(rest.p - cold);
}

static void lead(struct one *one, unsigned number, enum pm_tail tail)
{
    one->probe.tail = (uint8_t)tail;
    if (tail != PM_TAIL_TO_SLED)
        return;
    one->probe.counter = 777 * number;
    one->target = region + TEXT_AT + 16384 + number * 41;
}

static void compare(unsigned kind, unsigned flags, unsigned mode, unsigned mask, bool has_flag,
                    enum pm_tail tail)
{
    static uint8_t copied[X86_LARGEST_FAST + X86_LARGEST_COLD + 16];
    size_t n, m, n_fast, n_cold, again_fast, again_cold;
    struct one first = make_one(kind, flags, mode, mask, 1, has_flag),
               second = make_one(kind, flags, mode, mask, 2 + mask % 50, has_flag);
    lead(&first, 1, tail);
    lead(&second, 2 + mask % 50, tail);
    uint8_t *fast = region + 1024, *cold = region + COLD_AT;
    x86_templates_begin();
    make(x86_trampoline_again, &first, fast, cold, &n, &m);
    assert_true(n <= X86_LARGEST_FAST && m <= X86_LARGEST_COLD);
    fast += (n + 15) & ~(size_t)15;
    cold += m;
    make(x86_trampoline_again, &second, fast, cold, &again_fast, &again_cold);
    memcpy(copied, fast, again_fast);
    memcpy(copied + again_fast, cold, again_cold);
    make(x86_trampoline, &second, fast, cold, &n_fast, &n_cold);
    assert_int_equal(again_fast, n_fast);
    assert_int_equal(again_cold, n_cold);
    assert_memory_equal(copied, fast, n_fast);
    assert_memory_equal(copied + n_fast, cold, n_cold);
}

static void a_copied_trampoline_is_what_would_be_generated(void **state)
{
    (void)state;
    static const unsigned flags[] = {0, PM_SLED_SP_AT_CFA, 1, 2};
    for (unsigned kind = PM_SLED_ENTRY; kind <= PM_SLED_LAND; kind++)
        for (unsigned mode = PM_RUN_MODE_COUNT; mode < PM_N_MODES; mode++)
            for (unsigned mask = 0; mask < N_MASKS; mask++)
                for (unsigned f = 0; f < 4; f++)
                    for (unsigned has_flag = 0; has_flag < 2; has_flag++)
                        for (enum pm_tail tail = PM_TAIL_ENDS; tail <= PM_TAIL_ANYWHERE; tail++)
                            if (tail == PM_TAIL_ENDS || kind == PM_SLED_TAIL)
                                compare(kind, flags[f], mode, mask, has_flag != 0, tail);
}

/* So many kinds that they drive each other out. */
static void kinds_that_share_a_place_are_told_apart(void **state)
{
    (void)state;
    static uint8_t direct[X86_LARGEST_FAST + X86_LARGEST_COLD + 16];
    uint8_t *fast = region + 1024, *cold = region + COLD_AT;
    x86_templates_begin();
    srand(7);
    for (unsigned i = 0; i < N_KINDS; i++) {
        size_t n_fast, n_cold, again_fast, again_cold;
        unsigned kind = PM_SLED_ENTRY + (unsigned)rand() % (PM_SLED_LAND - PM_SLED_ENTRY + 1);
        struct one one =
            make_one(kind, (unsigned)rand() % 3, PM_RUN_MODE_ACTIVE + (unsigned)rand() % 2,
                     (unsigned)rand() % N_MASKS, (unsigned)rand() % 50, false);
        make(x86_trampoline_again, &one, fast, cold, &again_fast, &again_cold);
        memcpy(direct, fast, again_fast);
        memcpy(direct + again_fast, cold, again_cold);
        make(x86_trampoline, &one, fast, cold, &n_fast, &n_cold);
        assert_int_equal(again_fast, n_fast);
        assert_int_equal(again_cold, n_cold);
        assert_memory_equal(direct, fast, n_fast);
        assert_memory_equal(direct + n_fast, cold, n_cold);
        fast += n_fast; /* what is there may be copied */
        cold += n_cold;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copied_trampoline_is_what_would_be_generated),
        cmocka_unit_test(kinds_that_share_a_place_are_told_apart),
    };
    return cmocka_run_group_tests(tests, make_region, unmap_region);
}
