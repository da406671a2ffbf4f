/* Calls of OpenMP's library that GCC makes for a construct have no place of their own. What they
 * count would be of whatever stands before them, which may be another function that was inlined.
 * So they get that of their construct.
 *
 * The statement that tells of a construct (omp.cc) has its place and stands before it. A construct
 * that shares work out never lies in another one of the same function, and neither does `ordered`:
 * of these the last one is it. Groups of tasks may be nested. A region's call keeps what stands
 * before it: by the places in a region's code collect finds which one it is.
 */
#include "backend.h"
#include "omp.h"

enum omp_family { OF_WORK, OF_ORDERED, OF_GROUP, N_FAMILIES };

/* By the place of the construct, and by the function that its region became. */
static std::map<location_t, enum omp_family> family_at;
static std::map<tree, location_t> place_of_region;

/* What of them has begun. */
struct omp_begun {
    location_t last[N_FAMILIES];
    std::vector<location_t> groups;
};

static enum omp_family family_of_construct(const gimple *construct)
{
    switch ((int)gimple_code(construct)) {
    case GIMPLE_OMP_FOR:
    case GIMPLE_OMP_SECTIONS:
    case GIMPLE_OMP_SINGLE:
        return OF_WORK;
    case GIMPLE_OMP_ORDERED:
        return OF_ORDERED;
    case GIMPLE_OMP_TASKGROUP:
        return OF_GROUP;
    default:
        return N_FAMILIES;
    }
}

void pm_omp_note_construct(const gimple *construct)
{
    enum omp_family family = family_of_construct(construct);
    if (family != N_FAMILIES)
        family_at[LOCATION_LOCUS(gimple_location(construct))] = family;
}

void pm_omp_note_combined(const gimple *region, const gimple *construct)
{
    tree child = gimple_omp_parallel_child_fn(as_a<const gomp_parallel *>(region));
    if (child != NULL_TREE)
        place_of_region[child] = LOCATION_LOCUS(gimple_location(construct));
}

static bool begins_with(const char *name, const char *beginning)
{
    return strncmp(name, beginning, strlen(beginning)) == 0;
}

/* N_FAMILIES: it is for none of them. */
static enum omp_family family_of_call(const char *name)
{
    static const struct {
        const char *name;
        enum omp_family family;
    } calls[] = {{"loop_", OF_WORK},         {"sections_", OF_WORK},
                 {"single_", OF_WORK},       {"barrier", OF_WORK},
                 {"ordered_", OF_ORDERED},   {"taskgroup_start", OF_GROUP},
                 {"taskgroup_end", OF_GROUP}};
    static const char library[] = "__builtin_GOMP_";
    if (begins_with(name, library))
        for (const auto &call : calls)
            if (begins_with(name + strlen(library), call.name))
                return call.family;
    return N_FAMILIES;
}

static void note_begun(const gimple *telling, struct omp_begun *begun)
{
    location_t place = gimple_location(telling);
    auto known = family_at.find(LOCATION_LOCUS(place));
    if (known == family_at.end())
        return;
    begun->last[known->second] = place;
    if (known->second == OF_GROUP)
        begun->groups.push_back(place);
}

static void place_call(gimple *call, struct omp_begun *begun)
{
    tree decl = gimple_call_fndecl(call);
    const char *name = decl != NULL_TREE && DECL_NAME(decl) != NULL_TREE
                           ? IDENTIFIER_POINTER(DECL_NAME(decl))
                           : "";
    enum omp_family family = family_of_call(name);
    if (family == N_FAMILIES)
        return;
    location_t place = begun->last[family];
    if (strstr(name, "taskgroup_end") != NULL && !begun->groups.empty()) {
        place = begun->groups.back();
        begun->groups.pop_back();
    }
    if (LOCATION_LOCUS(gimple_location(call)) == UNKNOWN_LOCATION)
        gimple_set_location(call, place);
}

static void place_calls(basic_block bb, struct omp_begun begun)
{
    for (gimple_stmt_iterator at = gsi_start_bb(bb); !gsi_end_p(at); gsi_next(&at)) {
        gimple *stmt = gsi_stmt(at);
        if (pm_omp_is_telling(stmt))
            note_begun(stmt, &begun);
        else if (is_gimple_call(stmt))
            place_call(stmt, &begun);
    }
    for (basic_block son = first_dom_son(CDI_DOMINATORS, bb); son != NULL;
         son = next_dom_son(CDI_DOMINATORS, son))
        place_calls(son, begun);
}

static bool has_places(function *)
{
    return !family_at.empty();
}

static unsigned place_all(function *fun)
{
    struct omp_begun begun = {};
    auto region = place_of_region.find(fun->decl);
    if (region != place_of_region.end()) {
        begun.last[OF_WORK] = set_block(region->second, DECL_INITIAL(fun->decl));
        place_of_region.erase(region);
    }
    calculate_dominance_info(CDI_DOMINATORS);
    place_calls(ENTRY_BLOCK_PTR_FOR_FN(fun), begun);
    free_dominance_info(CDI_DOMINATORS);
    return 0;
}

/* Before anything is inlined, and of functions that regions became, too. */
void pm_omp_places_register(const char *plugin_name)
{
    pm_gcc_register_pass(plugin_name,
                         pm_gcc_gimple_pass("perfmap_omp_places", PROP_cfg, has_places, place_all),
                         "ssa", 1, PASS_POS_INSERT_BEFORE);
}
