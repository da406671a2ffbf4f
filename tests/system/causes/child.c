/* A child that nobody sees imports a cause before anything else: that is written down in its own run file, not in its parent's. */
#include <perfmap.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* By no function of libc. */
static pid_t bare_fork(void)
{
#if defined(__x86_64__)
    long result = SYS_fork;
    __asm__ volatile("syscall" : "+a"(result)::"rcx", "r11", "memory");
    return (pid_t)result;
#else
    return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
#endif
}

int main(void)
{
    static const char text[] = "perfmap=1.85d1e0f4c5b6a790.4c!SQL:Executes:only_in_the_child@query";
    struct pm_level level = pm_define_level("App", NULL);
    struct pm_noun noun = pm_define_noun(level, "work", "step");
    struct pm_sentence sentence = pm_define_sentence(pm_define_verb(level, "Does"), &noun, 1);
    pm_enter(sentence);
    pid_t child = bare_fork();
    if (child == 0) {
        struct pm_cause cause = pm_context_import(text, strlen(text));
        pm_adopt(cause);
        pm_release(cause);
        syscall(SYS_exit_group, 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    pm_leave(sentence);
    printf("%d\n", (int)getpid());
    return status != 0;
}
