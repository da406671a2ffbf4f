/* The text of a function, once it was read: which statement and loop a place lies in, and the facts
 * of what it says. */
#include "reading.h"

bool pm_text_statement(const struct pm_read_text *text, struct pm_place *place)
{
    int at = pm_statement_at(&text->ranges, place);
    if (at >= 0) {
        place->line = text->ranges.list[at].first.line;
        place->column = text->ranges.list[at].first.column;
        return true;
    }
    for (const struct pm_read_keyword &keyword : text->keywords)
        if (keyword.place.file == place->file &&
            pm_text_point_same(pm_place_point(&keyword.place), pm_place_point(place))) {
            place->line = keyword.value.line;
            place->column = keyword.value.column;
            return true;
        }
    return false;
}

bool pm_text_loop(const struct pm_read_text *text, const struct pm_place *place,
                  const struct pm_place **ret_loop)
{
    for (const struct pm_written_statement &statement : text->statements)
        if (statement.place.file == place->file &&
            pm_text_point_same(pm_place_point(&statement.place), pm_place_point(place))) {
            *ret_loop = statement.loop_place.line != 0 ? &statement.loop_place : NULL;
            return true;
        }
    *ret_loop = NULL;
    return false;
}

/* --- facts --- */

/* The loop that begins at the place, or the function. */
static pm_id state_around(const struct pm_source_function *function, const struct pm_place *around)
{
    int loop = -1;
    if (around->line != 0)
        loop = pm_source_loop_with(
            function, pm_id_of_loop(function->id, around->file, pm_place_point(around)));
    return loop >= 0 ? pm_fact_loop(pm_unit_facts(), function, loop) : function->id;
}

static pm_id state_statement(const struct pm_read_text *text,
                             const struct pm_source_function *function, int index)
{
    const struct pm_written_statement *statement = &text->statements[(size_t)index];
    struct pm_place place = statement->place; /* of the one that it lies in */
    struct pm_text_point last = statement->last;
    pm_statement_begin(function, &text->ranges, &place, &last);
    return pm_fact_statement(pm_unit_facts(), function, &place, last.line,
                             state_around(function, &statement->loop_place));
}

static void state_touch(const struct pm_read_text *text, const struct pm_touch *touch,
                        pm_id statement)
{
    unsigned use = touch->says;
    for (uint32_t i = 0; i < touch->n; i++) {
        const struct pm_access *access = &text->accesses[touch->first + i];
        if (touch->gives_address && i == 0)
            continue;
        pm_noun_state(access->noun);
        if (use & PM_MAP_READS)
            pm_fact_mapping(pm_unit_facts(), statement, PM_SOURCE_EXECUTES, access->noun,
                            PM_SOURCE_READS);
        if (use & PM_MAP_WRITES && !touch->gives_address)
            pm_fact_mapping(pm_unit_facts(), statement, PM_SOURCE_EXECUTES, access->noun,
                            PM_SOURCE_WRITES);
    }
}

void pm_text_state(const struct pm_read_text *text, const struct pm_source_function *function)
{
    std::vector<pm_id> nouns;
    struct pm_facts *facts = pm_unit_facts();
    for (const struct pm_read_region &region : text->regions)
        pm_fact_region(facts, function, &region.place, region.construct,
                       state_around(function, &region.loop_place));
    for (size_t i = 0; i < text->statements.size(); i++)
        nouns.push_back(state_statement(text, function, (int)i));
    for (const struct pm_touch &touch : text->touches)
        if (touch.statement >= 0)
            state_touch(text, &touch, nouns[(size_t)touch.statement]);
    for (const auto &call : text->calls) {
        if (call.first < 0 || !pm_noun_state(call.second)) /* va_start, the program's own */
            continue;
        pm_fact_mapping(facts, nouns[(size_t)call.first], PM_SOURCE_EXECUTES, call.second,
                        PM_SOURCE_CALLS);
    }
    for (const auto &call : text->calls_within)
        if (call.first >= 0 && pm_compilation.options.pdb_dir)
            pm_fact_call_within(facts, nouns[(size_t)call.first], call.second);
    for (const struct pm_referral &referral : text->referrals) {
        pm_noun_state(referral.pointer);
        pm_noun_state(referral.object);
        pm_fact_mapping(facts, referral.pointer, PM_SOURCE_REFERS, referral.object,
                        PM_SOURCE_REFERS);
    }
}
