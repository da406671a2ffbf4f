/* Programs that confine themselves by seccomp. A system call that a filter does not allow would
 * end them, be it ours, so filters are noted before they come into force, and each of our calls
 * asks them first (sys.h): what would be refused is refused here. The return of a signal handler
 * is such a call, too: where it is refused, no signal is ours any more. Whatever is measured goes
 * on as far as what remains allows; a run file that can no longer grow keeps counting in the
 * contexts that it has.
 *
 * All threads' filters count for all threads. They outlive an exec: each is also appended to a
 * file in the run's folder, and a program that starts under filters takes all that the run's
 * processes have set. Filters that were there before the run (of a container) are unknown; they
 * refuse with an error, as a rule.
 */
#include "runtime/base/confine.h"
#include "format/pm_control.h"
#include "runtime/base/atomic.h"
#include "runtime/base/file.h"
#include "runtime/base/process.h"
#include "runtime/base/signals.h"
#include "runtime/base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

enum { MAX_FILTERS = 32 };

PM_EXPORT bool pm_confined;
static bool nothing_allowed; /* strict mode, or a filter that could not be kept */
static const struct sock_fprog *filters[MAX_FILTERS];
static uint32_t n_filters;

/* --- what a filter says: classic BPF, as far as seccomp(2) has it --- */

struct machine {
    uint32_t a, x, memory[BPF_MEMWORDS];
};

static uint32_t calculate(const struct sock_filter *c, const struct machine *m)
{
    uint32_t operand = BPF_SRC(c->code) == BPF_X ? m->x : c->k;
    switch (BPF_OP(c->code)) {
    case BPF_ADD:
        return m->a + operand;
    case BPF_SUB:
        return m->a - operand;
    case BPF_MUL:
        return m->a * operand;
    case BPF_DIV:
        return operand != 0 ? m->a / operand : 0;
    case BPF_OR:
        return m->a | operand;
    case BPF_AND:
        return m->a & operand;
    case BPF_XOR:
        return m->a ^ operand;
    case BPF_LSH:
        return operand < 32 ? m->a << operand : 0;
    case BPF_RSH:
        return operand < 32 ? m->a >> operand : 0;
    default: /* BPF_NEG */
        return 0 - m->a;
    }
}

static bool is_taken(const struct sock_filter *c, const struct machine *m)
{
    uint32_t operand = BPF_SRC(c->code) == BPF_X ? m->x : c->k;
    switch (BPF_OP(c->code)) {
    case BPF_JEQ:
        return m->a == operand;
    case BPF_JGT:
        return m->a > operand;
    case BPF_JGE:
        return m->a >= operand;
    default: /* BPF_JSET */
        return (m->a & operand) != 0;
    }
}

static uint32_t load(const struct sock_filter *c, const struct machine *m,
                     const struct seccomp_data *data)
{
    uint32_t word = 0;
    switch (BPF_MODE(c->code)) {
    case BPF_IMM:
        return c->k;
    case BPF_LEN:
        return sizeof *data;
    case BPF_MEM:
        return c->k < BPF_MEMWORDS ? m->memory[c->k] : 0;
    default: /* BPF_ABS; the kernel has looked at the offset */
        if (c->k <= sizeof *data - sizeof word)
            __builtin_memcpy(&word, (const char *)data + c->k, sizeof word);
        return word;
    }
}

/* What it returns: an action and its data. */
static uint32_t evaluate(const struct sock_fprog *filter, const struct seccomp_data *data)
{
    struct machine m = {0};
    for (uint32_t at = 0; at < filter->len; at++) {
        const struct sock_filter *c = &filter->filter[at];
        switch (BPF_CLASS(c->code)) {
        case BPF_LD:
            m.a = load(c, &m, data);
            break;
        case BPF_LDX:
            m.x = load(c, &m, data);
            break;
        case BPF_ST:
        case BPF_STX:
            if (c->k < BPF_MEMWORDS)
                m.memory[c->k] = BPF_CLASS(c->code) == BPF_ST ? m.a : m.x;
            break;
        case BPF_ALU:
            m.a = calculate(c, &m);
            break;
        case BPF_JMP:
            if (BPF_OP(c->code) == BPF_JA)
                at += c->k;
            else
                at += is_taken(c, &m) ? c->jt : c->jf;
            break;
        case BPF_RET:
            return BPF_RVAL(c->code) == BPF_A ? m.a : c->k;
        default: /* BPF_MISC */
            if (BPF_MISCOP(c->code) == BPF_TXA)
                m.a = m.x;
            else
                m.x = m.a;
            break;
        }
    }
    return SECCOMP_RET_KILL_PROCESS;
}

static struct seccomp_data data_of(long number, const long arguments[6])
{
    struct seccomp_data data = {
        .nr = (int)number,
#if defined(__x86_64__)
        .arch = AUDIT_ARCH_X86_64,
#elif defined(__aarch64__)
        .arch = AUDIT_ARCH_AARCH64,
#endif
        .instruction_pointer = (uint64_t)(uintptr_t)&pm_confined_refusal
    };
    for (unsigned i = 0; i < 6; i++)
        data.args[i] = (uint64_t)arguments[i];
    return data;
}

static long refusal_by(const struct sock_fprog *filter, const struct seccomp_data *data)
{
    uint32_t result = evaluate(filter, data), action = result & SECCOMP_RET_ACTION_FULL;
    if (action == SECCOMP_RET_ERRNO)
        return (result & SECCOMP_RET_DATA) != 0 ? -(long)(result & SECCOMP_RET_DATA) : -EPERM;
    return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG ? 0 : -EPERM;
}

PM_EXPORT long pm_confined_refusal(long number, const long arguments[6])
{
    if (number == SYS_exit_group) /* what comes of that comes without us, too */
        return 0;
    if (pm_load(nothing_allowed))
        return -EPERM;
    struct seccomp_data data = data_of(number, arguments);
    uint32_t n = pm_load(n_filters);
    for (uint32_t i = 0; i < n && i < MAX_FILTERS; i++) {
        const struct sock_fprog *filter = pm_load(filters[i]);
        long refusal = filter != NULL ? refusal_by(filter, &data) : 0;
        if (refusal != 0)
            return refusal;
    }
    return 0;
}

/* A copy that stays: other threads may be reading it. NULL: no memory, or more than are kept. */
static struct sock_fprog *keep(const struct sock_fprog *filter)
{
    if (filter == NULL || filter->filter == NULL || filter->len == 0 || filter->len > BPF_MAXINSNS)
        return NULL; /* the kernel will say so */
    size_t bytes = filter->len * sizeof *filter->filter;
    long memory = pm_sys(SYS_mmap, 0, sizeof *filter + bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory < 0 && memory > -4096)
        return NULL;
    struct sock_fprog *kept = (struct sock_fprog *)memory;
    kept->len = filter->len;
    kept->filter = (struct sock_filter *)(kept + 1);
    memcpy(kept->filter, filter->filter, bytes);
    return kept;
}

/* --- filters that outlive an exec --- */

/* Written at the process's start; threads with small stacks confine themselves, too. */
static char list_path[sizeof pm_process.run_dir + sizeof PM_FILTERS_NAME + 1];

static void name_list(void)
{
    size_t n = strlen(pm_process.run_dir);
    memcpy(list_path, pm_process.run_dir, n);
    list_path[n] = '/';
    memcpy(list_path + n + 1, PM_FILTERS_NAME, sizeof PM_FILTERS_NAME);
}

static long open_list(int flags)
{
    return pm_sys(SYS_openat, AT_FDCWD, list_path, flags | O_CLOEXEC, 0600);
}

static void append(const struct sock_fprog *filter)
{
    uint32_t n = filter->len;
    struct iovec pieces[] = {{&n, sizeof n}, {filter->filter, n * sizeof *filter->filter}};
    long fd = open_list(O_WRONLY | O_APPEND | O_CREAT);
    if (fd < 0)
        return;
    pm_sys(SYS_writev, fd, pieces, 2);
    pm_sys(SYS_close, fd);
}

/* All of it or nothing. By calls that the loader has used before us, so that they are allowed. */
static bool read_whole(long fd, void *to, size_t size_bytes)
{
    for (size_t done = 0; done < size_bytes;) {
        long n = pm_sys(SYS_read, fd, (char *)to + done, size_bytes - done);
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* At the process's start, on the first thread's stack. */
static bool is_filtered(void)
{
    char text[4096];
    long fd = pm_sys(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC),
         n = fd < 0 ? 0 : pm_sys(SYS_read, fd, text, sizeof text - 1);
    if (fd >= 0)
        pm_sys(SYS_close, fd);
    text[n > 0 ? n : 0] = 0;
    const char *line = strstr(text, "\nSeccomp:\t");
    return line != NULL && line[sizeof "\nSeccomp:\t" - 1] == '2';
}

bool pm_confine_inherited(void)
{
    name_list();
    long fd = open_list(O_RDONLY);
    if (fd < 0)
        return false;
    bool filtered = is_filtered();
    static struct sock_filter code[BPF_MAXINSNS];
    for (uint32_t n; filtered && read_whole(fd, &n, sizeof n) && n <= BPF_MAXINSNS &&
                     read_whole(fd, code, n * sizeof *code);) {
        struct pm_confinement noted =
            pm_confine(false, &(struct sock_fprog){(unsigned short)n, code});
        (void)noted;
    }
    pm_sys(SYS_close, fd);
    return pm_confined;
}

/* --- noting filters --- */

void pm_confine_list(const struct sock_fprog *filter)
{
    if (filter != NULL && filter->filter != NULL && filter->len != 0 && filter->len <= BPF_MAXINSNS)
        append(filter);
}

/* Strict mode does let handlers return. */
static bool lets_handlers_return(const struct sock_fprog *filter)
{
    struct seccomp_data data = data_of(SYS_rt_sigreturn, (const long[6]){0});
    return filter != NULL && refusal_by(filter, &data) == 0;
}

struct pm_confinement pm_confine(bool strict, const struct sock_fprog *filter)
{
    struct pm_confinement noted = {.was_strict = pm_load(nothing_allowed),
                                   .was_confined = pm_load(pm_confined),
                                   .had_left = pm_signal_has_left()};
    struct sock_fprog *kept = strict ? NULL : keep(filter);
    if (!strict && !lets_handlers_return(kept)) /* while system calls are allowed */
        pm_signal_leave(true);
    noted.index = kept != NULL ? pm_add_shared(n_filters, 1) : MAX_FILTERS;
    if (kept != NULL && noted.index < MAX_FILTERS)
        pm_store(filters[noted.index], kept);
    else
        pm_store(nothing_allowed, true);
    pm_barrier();
    pm_store(pm_confined, true);
    return noted;
}

void pm_confine_not(struct pm_confinement noted)
{
    if (noted.index < MAX_FILTERS)
        pm_store(filters[noted.index], NULL);
    pm_store(nothing_allowed, noted.was_strict);
    pm_store(pm_confined, noted.was_confined);
    pm_signal_leave(noted.had_left);
}

void pm_confine_say(void)
{
    static bool said;
    if (pm_process.file.header == NULL || __atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        return;
    pm_file_message(
        PM_RUN_MSG_NOTE,
        "the program confines itself by seccomp: what its filters do not allow is not "
        "done either to measure it, so new threads, contexts and samples may be missing",
        NULL);
}
