/* Everything that perfmap.h has, in C99 and later. */
#include <perfmap.h>

int main(void)
{
    struct pm_level level = pm_define_level("Words", NULL);
    struct pm_noun_facts facts = {"part", "thing", "all.c", 0, 7, 0, 0};
    struct pm_noun nouns[2];
    struct pm_verb verb = pm_define_verb(level, "Uses");
    struct pm_metric metric = pm_define_metric("uses", "uses", "count");
    struct pm_point point = pm_define_point("words");
    struct pm_sentence one, both, phase = pm_define_phase("all");
    struct pm_cause cause;
    char text[PM_EXPORT_BYTES];
    size_t n;
    nouns[0] = pm_define_noun(level, "thing", "thing");
    facts.parent = nouns[0].id;
    nouns[1] = pm_define_noun_at(level, &facts);
    one = pm_define_sentence(verb, nouns, 1);
    both = pm_define_sentence(verb, nouns, 2);
    pm_map(one, both, 0.5);
    if (pm_point_is_on(point))
        pm_map_at(point, both, one, 0);
    pm_enter(one);
    pm_enter_at(both, pm_stack_pointer());
    pm_cost(metric, 1);
    pm_leave_at(both, pm_stack_pointer());
    pm_begin(both);
    pm_begin_process(phase);
    cause = pm_capture();
    n = pm_context_export(cause, text, sizeof text);
    pm_adopt(pm_context_import(text, n));
    pm_release(cause);
    pm_end_process(phase);
    pm_end(both);
    pm_leave(one);
    return n >= sizeof text;
}
