/* What perfmap.h does as the last thing of a function is done within it, not by a jump behind the function's end. */
#include <perfmap.h>

static struct pm_metric rows;

static __attribute__((noinline)) struct pm_cause remember(void)
{
    return pm_capture();
}

static __attribute__((noinline)) void begin(struct pm_sentence request)
{
    pm_begin(request);
}

static __attribute__((noinline)) void end(struct pm_sentence request)
{
    pm_end(request);
}

/* Each round ends its own sentence, not that of the round around it. */
static __attribute__((noinline)) void walk(struct pm_sentence round, int n)
{
    pm_enter(round);
    if (n > 0)
        walk(round, n - 1);
    pm_cost(rows, 11);
    pm_leave(round);
}

int main(void)
{
    struct pm_level level = pm_define_level("Work", "Source");
    struct pm_noun noun = pm_define_noun(level, "request", "request");
    struct pm_verb runs = pm_define_verb(level, "Runs");
    struct pm_sentence request = pm_define_sentence(runs, &noun, 1);
    struct pm_noun walked = pm_define_noun(level, "round", "round");
    struct pm_sentence round = pm_define_sentence(runs, &walked, 1);
    rows = pm_define_metric("rows", "rows", "count");
    struct pm_cause cause = remember();
    pm_adopt(cause);
    pm_cost(rows, 7);
    pm_release(cause);
    begin(request);
    pm_cost(rows, 5);
    end(request);
    walk(round, 9);
}
