/* Marks of answers whose numbers are at least or at most: what a question asks for lacks something,
 * or what it denies does. In `{main Executes}, not {visit Executes}`, what is missing below visit
 * counts for main: the answer has too much. */
#include "question_parts.h"

bool pm_ask_denies(const struct pm_answer *answer)
{
    return answer->n_asked < answer->n_sentences;
}

void pm_ask_mark_answer(struct pm_answer *answer, unsigned sides)
{
    answer->is_partial |= (sides & PM_ASK_ASKED) != 0;
    answer->is_open |= (sides & PM_ASK_ASKED) != 0;
    answer->is_at_most |= (sides & PM_ASK_DENIED) != 0;
}

const char *pm_ask_word_of(unsigned sides)
{
    static const char *const words[] = {"", "at least", "at most", "not exact"};
    return words[sides];
}

const char *pm_ask_fate_of(unsigned sides)
{
    static const char *const fates[] = {"", "is missing", "is not left out",
                                        "is missing, or not left out"};
    return fates[sides];
}

bool pm_ask_has_class(const uint32_t *classes, uint32_t n, uint32_t class)
{
    for (uint32_t k = 0; k < n; k++)
        if (classes[k] == class)
            return true;
    return false;
}

bool pm_ask_matches_class(const struct pm_answer_match *match, uint32_t class)
{
    return pm_ask_has_class(match->classes, match->n_classes, class);
}

unsigned pm_ask_side_of(const struct pm_answer *answer, uint32_t sentence)
{
    return answer->asked_at[sentence] == PM_NONE ? PM_ASK_DENIED : PM_ASK_ASKED;
}

unsigned pm_ask_mark_all_costs(struct pm_answer *answer, unsigned sides)
{
    answer->is_at_most |= (sides & PM_ASK_DENIED) != 0;
    for (uint32_t r = 0; r < answer->n_rows; r++) {
        answer->rows[r].costs_at_least |= (sides & PM_ASK_ASKED) != 0;
        answer->rows[r].costs_at_most |= (sides & PM_ASK_DENIED) != 0;
    }
    return sides;
}

unsigned pm_ask_mark_costs(struct pm_answer *answer, uint32_t sentence, uint32_t class)
{
    if (class == PM_NONE)
        return 0;
    if (pm_ask_side_of(answer, sentence) == PM_ASK_DENIED)
        return pm_ask_mark_all_costs(answer, PM_ASK_DENIED);
    for (uint32_t r = 0; r < answer->n_rows; r++)
        answer->rows[r].costs_at_least |=
            pm_ask_matches_class(&answer->rows[r].matches[answer->asked_at[sentence]], class);
    return PM_ASK_ASKED;
}

unsigned pm_ask_mark_wall(struct pm_answer *answer, uint32_t sentence, uint32_t class)
{
    unsigned side = pm_ask_side_of(answer, sentence);
    for (uint32_t r = 0; r < answer->n_rows; r++) {
        struct pm_answer_row *row = &answer->rows[r];
        if (side == PM_ASK_DENIED)
            row->wall_at_most = true;
        else
            row->wall_at_least |=
                pm_ask_matches_class(&row->matches[answer->asked_at[sentence]], class);
    }
    return side;
}

unsigned pm_ask_mark_times(struct pm_answer *answer, uint32_t sentence, uint32_t class)
{
    if (class == PM_NONE)
        return 0;
    unsigned side = pm_ask_side_of(answer, sentence);
    answer->is_at_most |= side == PM_ASK_DENIED;
    for (uint32_t r = 0; r < answer->n_rows; r++) {
        struct pm_answer_row *row = &answer->rows[r];
        if (side == PM_ASK_DENIED)
            row->times_at_most = true;
        else
            row->times_at_least |=
                pm_ask_matches_class(&row->matches[answer->asked_at[sentence]], class);
    }
    return side;
}
