/* makecontext, swapcontext and setcontext: what coroutines.c has to know. libc's own are gone on
 * to by a jump, for they save and restore the registers of their caller. Within libc a coroutine
 * that returns goes on by a setcontext that nobody can stand before, so its return address is
 * ours. */
#include "runtime/tree/coroutines.h"
#include "runtime/guest/guest.h"

#include <dlfcn.h>
#include <ucontext.h>

#if defined(__x86_64__)
#define HIDDEN __attribute__((used, visibility("hidden")))

static struct {
    void *makecontext, *swapcontext, *setcontext;
} libc;
static uint64_t returns_to; /* libc's: goes on with uc_link, or ends the thread */
extern const char pm_context_returns[] __attribute__((visibility("hidden")));

void pm_wrap_contexts_resolve(void)
{
    libc.makecontext = dlsym(RTLD_NEXT, "makecontext");
    libc.swapcontext = dlsym(RTLD_NEXT, "swapcontext");
    libc.setcontext = dlsym(RTLD_NEXT, "setcontext");
}

/* Its pointer, or 0: a return address may not be changed where the processor keeps a second one. */
static uint64_t shadow_stack(void)
{
    uint64_t pointer = 0;
    __asm__ volatile("rdsspq %0" : "+r"(pointer));
    return pointer;
}

static void resume(const ucontext_t *context)
{
    uint64_t sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP], *slot = (uint64_t *)sp;
    struct pm_coroutine *c = pm_coroutine_resume(sp);
    if (c == NULL || !pm_coroutine_is_fresh(c) || shadow_stack() != 0)
        return;
    if (returns_to != 0 && *slot != returns_to)
        return;
    returns_to = *slot;
    *slot = (uint64_t)(uintptr_t)pm_context_returns;
}

HIDDEN void *pm_context_made(const ucontext_t *context);
HIDDEN void *pm_context_made(const ucontext_t *context)
{
    if (libc.makecontext == NULL)
        pm_wrap_contexts_resolve();
    if (pm_process.on)
        pm_coroutine_make((uint64_t)(uintptr_t)context->uc_stack.ss_sp, context->uc_stack.ss_size);
    return libc.makecontext;
}

HIDDEN void *pm_context_swapped(const ucontext_t *to);
HIDDEN void *pm_context_swapped(const ucontext_t *to)
{
    if (libc.swapcontext == NULL)
        pm_wrap_contexts_resolve();
    if (pm_coroutines_used)
        resume(to);
    return libc.swapcontext;
}

HIDDEN void *pm_context_set(const ucontext_t *to);
HIDDEN void *pm_context_set(const ucontext_t *to)
{
    if (libc.setcontext == NULL)
        pm_wrap_contexts_resolve();
    if (pm_coroutines_used)
        resume(to);
    return libc.setcontext;
}

HIDDEN uint64_t pm_context_returned(const ucontext_t *link, uint64_t sp);
HIDDEN uint64_t pm_context_returned(const ucontext_t *link, uint64_t sp)
{
    pm_coroutine_end(sp - 8);
    if (link != NULL)
        resume(link);
    return returns_to;
}

#define FUNCTION(name) ".p2align 4\n.globl " name "\n.type " name ", @function\n"
#define PUSH(reg) "push %" reg "\n.cfi_adjust_cfa_offset 8\n"
#define POP(reg) "pop %" reg "\n.cfi_adjust_cfa_offset -8\n"
/* The number of vector registers that hold arguments, in al, is kept. */
__asm__(".text\n" FUNCTION("makecontext") "makecontext:\n.cfi_startproc\n" PUSH("rax") PUSH("rdi")
            PUSH("rsi") PUSH("rdx") PUSH("rcx") PUSH("r8")
                PUSH("r9") "call pm_context_made\n"
                           "mov %rax, %r11\n" POP("r9") POP("r8") POP("rcx") POP("rdx") POP("rsi")
                               POP("rdi")
                                   POP("rax") "jmp *%r11\n"
                                              ".cfi_endproc\n.size makecontext, .-makecontext\n");
__asm__(".text\n" FUNCTION("swapcontext") "swapcontext:\n.cfi_startproc\n" PUSH("rdi") PUSH("rsi")
            PUSH("rax") "mov %rsi, %rdi\n"
                        "call pm_context_swapped\n"
                        "mov %rax, %r11\n" POP("rax") POP("rsi")
                            POP("rdi") "jmp *%r11\n"
                                       ".cfi_endproc\n.size swapcontext, .-swapcontext\n");
__asm__(".text\n" FUNCTION("setcontext") "setcontext:\n.cfi_startproc\n" PUSH(
    "rdi") "call pm_context_set\n" POP("rdi") "jmp *%rax\n"
                                              ".cfi_endproc\n.size setcontext, .-setcontext\n");
/* As libc's own: rbx points at uc_link, and whoever unwinds finds the end of the stack. It looks
 * for the instruction before. */
__asm__(".text\n.p2align 4\n.cfi_startproc\n.cfi_undefined rip\nnop\n"
        ".globl pm_context_returns\n.hidden pm_context_returns\npm_context_returns:\n"
        "mov (%rbx), %rdi\n"
        "mov %rsp, %rsi\n"
        "call pm_context_returned\n"
        "jmp *%rax\n"
        ".cfi_endproc\n");
#else
void pm_wrap_contexts_resolve(void) {}
#endif
