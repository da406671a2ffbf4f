/* The late map: what each instruction of the emitted code implements. Three passes over a
 * function's last RTL:
 *
 *   before "*free_cfg"  collect: the tuple of each insn, while there still are blocks and loops
 *   before "final"      label: where tuples change. The labels are notes (of labels that were
 *                       deleted), for which no pass and no length of code cares: the code, its
 *                       alignment and the debug information are what they are without
 *   after "final"       write: map_out.cc
 *
 * An insn that appears between the first and the second (endbr64, no-operations) belongs to the
 * range around it.
 */
#include "map_lists.h"
#include "table.h"

extern "C" {
#include "../emit/sled_text.h"
}

struct found_loop {
    pm_id noun, id;
    int spot; /* where it begins, -1: in an inlined copy */
};

struct collected {
    struct pm_map_sets *sets;
    std::vector<struct pm_map_part_list> parts;
    std::vector<int> tuple_of_insn; /* by INSN_UID; -1: no code, or not known */
    /* Caches. Places are spots of the sets, -1 none. */
    struct pm_table<location_t, int> places_by_location;
    struct pm_table<tree, int> sites_by_block;
    std::vector<int> loop_of_number;                            /* natural loop -> index in loops */
    std::vector<struct found_loop> loops;                       /* the first is none */
    std::map<std::pair<location_t, int>, int> loop_of_location; /* and 2 * natural loop + returns */
    std::map<pm_id, int> missing_loops;
    std::vector<const struct pm_source_function *> folded;
    int head; /* the function's own place: what prologue and epilogue do is no statement's */

    ~collected() { pm_map_sets_free(sets); }
};

static struct collected *now; /* the function between the passes; NULL: it gets no map */

/* --- sites and places --- */

static int add_site(int parent, tree block, tree function_decl)
{
    struct pm_place call = {};
    pm_place_of(BLOCK_SOURCE_LOCATION(block), &call);
    return pm_map_sets_site(now->sets, parent, pm_source_function_of(function_decl), &call);
}

/* GCC splits "if (cheap) return; long rest" in two functions, and may inline the second one into
 * the first again. That is no call of the source: it has the place of the function. */
static bool is_rest_of(int site, tree block, tree function_decl)
{
    return LOCATION_LOCUS(BLOCK_SOURCE_LOCATION(block)) ==
               LOCATION_LOCUS(DECL_SOURCE_LOCATION(function_decl)) &&
           pm_source_function_of(function_decl) == pm_map_sets_text(now->sets, site);
}

/* The innermost inlined copy that a BLOCK lies in, -1 the function itself. */
static int site_of(tree block)
{
    block = pm_inlined_scope(block);
    if (block == NULL_TREE)
        return -1;
    const int *known = now->sites_by_block.find(block);
    if (known != NULL)
        return *known;
    tree origin = block_ultimate_origin(block);
    int site = site_of(BLOCK_SUPERCONTEXT(block));
    if (origin != NULL_TREE && TREE_CODE(origin) == FUNCTION_DECL &&
        !is_rest_of(site, block, origin))
        site = add_site(site, block, origin);
    return *now->sites_by_block.add(block, site);
}

/* Site and beginning of the statement; -1: the location says nothing. */
static int place_of(location_t location)
{
    const int *known = now->places_by_location.find(location);
    if (known != NULL)
        return *known;
    struct pm_map_spot spot = {};
    int index = -1;
    if (pm_place_of(location, &spot.place)) {
        spot.site = site_of(LOCATION_BLOCK(location));
        const struct pm_statements *statements =
            pm_statements_of(pm_map_sets_text(now->sets, spot.site));
        int at = statements != NULL ? pm_statement_at(statements, &spot.place) : -1;
        if (at >= 0) {
            spot.place.line = statements->list[at].first.line;
            spot.place.column = statements->list[at].first.column;
        }
        index = pm_map_sets_spot(now->sets, &spot);
    }
    return *now->places_by_location.add(location, index);
}

/* --- memory --- */

struct touched {
    std::vector<struct pm_access> accesses;
    bool unnamed;
};

static void touch(const_rtx x, struct touched *touched);

static void touch_memory(const_rtx mem, bool writes, struct touched *touched)
{
    bool is_frame = false;
    if (!pm_objects_of_memory(mem, writes, &touched->accesses, &is_frame))
        touched->unnamed = true;
    touch(XEXP(mem, 0), touched);
}

static void touch_destination(const_rtx x, struct touched *touched)
{
    while (GET_CODE(x) == SUBREG || GET_CODE(x) == STRICT_LOW_PART || GET_CODE(x) == ZERO_EXTRACT)
        x = XEXP(x, 0);
    if (MEM_P(x))
        touch_memory(x, true, touched);
}

static void touch_operands(const_rtx x, struct touched *touched)
{
    const char *format = GET_RTX_FORMAT(GET_CODE(x));
    for (int i = 0; i < GET_RTX_LENGTH(GET_CODE(x)); i++) {
        if (format[i] == 'e')
            touch(XEXP(x, i), touched);
        for (int j = 0; format[i] == 'E' && j < XVECLEN(x, i); j++)
            touch(XVECEXP(x, i, j), touched);
    }
}

static void touch(const_rtx x, struct touched *touched)
{
    switch (GET_CODE(x)) {
    case MEM:
        touch_memory(x, false, touched);
        break;
    case SET:
        touch_destination(SET_DEST(x), touched);
        touch(SET_SRC(x), touched);
        break;
    case CALL: /* the memory is the function's code; where its address is in memory, that is read */
        if (MEM_P(XEXP(x, 0)))
            touch(XEXP(XEXP(x, 0), 0), touched);
        break;
    case CLOBBER:
    case USE:
        break;
    default:
        if (!OBJECT_P(x) || GET_CODE(x) == CONCAT || GET_CODE(x) == LO_SUM)
            touch_operands(x, touched);
        break;
    }
}

static void touch_insn(const rtx_insn *insn, struct touched *touched)
{
    touch(PATTERN(insn), touched);
    if (CALL_P(insn) && !pm_objects_of_call(insn, &touched->accesses))
        touched->unnamed = true;
}

/* --- loops --- */

static int add_loop(const struct pm_loop_identity *identity)
{
    int index = (int)now->loops.size();
    struct pm_map_spot begin = {-1, identity->place};
    int spot = identity->copy == NULL_TREE ? pm_map_sets_spot(now->sets, &begin) : -1;
    now->loops.push_back({pm_late_source_loop(identity), identity->id, spot});
    return index;
}

/* The innermost source loop that a natural loop around a block implements: index in loops, 0
 * none. */
static int loop_at(basic_block bb)
{
    for (class loop *loop = pm_loop_around(bb); loop != NULL; loop = pm_loop_outer(loop)) {
        int *known = &now->loop_of_number[(size_t)loop->num];
        struct pm_loop_identity identity;
        if (*known < 0)
            *known = pm_loop_identity_of(loop, &identity) ? add_loop(&identity) : 0;
        if (*known > 0)
            return *known;
    }
    return 0;
}

/* Loops that became one call are told by what else its place implements: all of them. */
static bool became_call(location_t location)
{
    int index = place_of(location);
    if (index < 0)
        return false;
    const struct pm_map_spot *at = pm_map_sets_spot_at(now->sets, index);
    pm_id function = pm_map_sets_text(now->sets, at->site)->id;
    uint32_t next = 0;
    while (const struct pm_map_also *also = pm_fused_next(function, &at->place, &next))
        if (also->reason == PM_MAP_LOOP_TO_CALL)
            return true;
    return false;
}

/* Code of a loop that is a loop no more (unrolled completely), or that ends the program or leaps
 * from within one: what the source says. */
static int missing_loop_at(location_t location, int natural, bool returns)
{
    auto entry = now->loop_of_location.insert({{location, 2 * natural + returns}, natural});
    struct pm_loop_identity identity;
    if (entry.second &&
        pm_missing_loop_at(location, now->loops[(size_t)natural].id, returns, &identity) &&
        !became_call(location)) {
        auto known = now->missing_loops.insert({identity.id, 0}).first;
        if (known->second == 0)
            known->second = add_loop(&identity);
        entry.first->second = known->second;
    }
    return entry.first->second;
}

/* --- kinds --- */

static const char *asm_text(const rtx_insn *insn)
{
    const_rtx body = PATTERN(insn);
    if (GET_CODE(body) == ASM_INPUT)
        return XSTR(body, 0);
    body = extract_asm_operands(PATTERN(insn));
    return body != NULL_RTX ? ASM_OPERANDS_TEMPLATE(body) : NULL;
}

static bool emits_code(const rtx_insn *insn)
{
    if (!NONDEBUG_INSN_P(insn) || GET_CODE(PATTERN(insn)) == USE ||
        GET_CODE(PATTERN(insn)) == CLOBBER)
        return false;
    const char *text = asm_text(insn);
    return text == NULL || text[0] != 0;
}

static bool is_spill_slot(const_rtx x)
{
    return MEM_P(x) && MEM_EXPR(x) != NULL_TREE && MEM_EXPR(x) == get_spill_slot_decl(false);
}

static bool spills(const rtx_insn *insn)
{
    rtx set = insn != NULL && NONJUMP_INSN_P(insn) ? single_set(insn) : NULL_RTX;
    return set != NULL_RTX && ((is_spill_slot(SET_DEST(set)) && REG_P(SET_SRC(set))) ||
                               (is_spill_slot(SET_SRC(set)) && REG_P(SET_DEST(set))));
}

/* One of several in a row. A lone one amid other code is like any move of registers, and would
 * be three ranges in place of one (a twentieth of SQLite's). */
static bool is_spill(const rtx_insn *insn)
{
    rtx_insn *code = const_cast<rtx_insn *>(insn);
    return spills(insn) &&
           (spills(prev_nonnote_nondebug_insn(code)) || spills(next_nonnote_nondebug_insn(code)));
}

static enum pm_map_kind kind_of(const rtx_insn *insn)
{
    const char *text = asm_text(insn);
    if (text != NULL && pm_sled_text_parse(text, NULL, NULL, NULL))
        return PM_MAP_SLED;
    if (CALL_P(insn))
        return PM_MAP_CALL;
    if (RTX_FRAME_RELATED_P(insn) || prologue_epilogue_contains(insn) ||
        (JUMP_P(insn) && returnjump_p(insn)))
        return PM_MAP_FRAME;
    return is_spill(insn) ? PM_MAP_SPILL : PM_MAP_ORDINARY;
}

/* --- tuples --- */

/* Places of what an instruction does too: a set of spots. */
static uint32_t tail_set(const rtx_insn *insn, int place)
{
    const std::vector<location_t> *locations = pm_tails_of(insn);
    std::vector<int> places;
    for (size_t i = 0; locations != NULL && i < locations->size(); i++) {
        int other = place_of((*locations)[i]);
        if (other >= 0 && other != place)
            places.push_back(other);
    }
    return pm_map_sets_spots(now->sets, places.data(), places.size());
}

/* Functions with equal code were made one. */
static void add_folded(const struct pm_place *place)
{
    const struct pm_statements *own =
        pm_statements_of(pm_source_function_of(current_function_decl));
    for (const struct pm_source_function *folded : now->folded) {
        const struct pm_statements *others = pm_statements_of(folded);
        if (own != NULL && others != NULL)
            pm_map_sets_also_folded(now->sets, place, own, folded, others);
    }
}

static void add_also(const struct pm_map_tuple *tuple, uint32_t tails)
{
    pm_id function = pm_map_sets_text(now->sets, tuple->site)->id;
    uint32_t at = 0;
    while (const struct pm_map_also *also = pm_fused_next(function, &tuple->place, &at))
        pm_map_sets_also(now->sets, also);
    if (tuple->site < 0)
        add_folded(&tuple->place);
    pm_map_sets_also_spots(now->sets, tails, PM_MAP_COMMON_TAIL);
}

static struct pm_map_tuple tuple_at_place(enum pm_map_kind kind, int place)
{
    struct pm_map_tuple tuple = {};
    tuple.kind = kind;
    tuple.site = -1;
    if (place >= 0) {
        const struct pm_map_spot *spot = pm_map_sets_spot_at(now->sets, place);
        tuple.site = spot->site;
        tuple.place = spot->place;
    }
    return tuple;
}

/* Of a kind that says all. */
static int plain_tuple(enum pm_map_kind kind, int place)
{
    struct pm_map_tuple tuple = tuple_at_place(kind, place);
    bool is_new;
    return pm_map_sets_tuple(now->sets, &tuple, 0, &is_new);
}

static int tuple_of_insn(const rtx_insn *insn, int place, int loop)
{
    enum pm_map_kind kind = kind_of(insn);
    if (kind == PM_MAP_SLED)
        return plain_tuple(kind, -1);
    if (kind == PM_MAP_FRAME)
        return plain_tuple(kind, now->head);
    struct touched touched = {};
    struct pm_map_tuple tuple = tuple_at_place(kind, place);
    touch_insn(insn, &touched);
    tuple.unnamed = touched.unnamed;
    tuple.loop = now->loops[(size_t)loop].noun;
    tuple.objects =
        pm_map_sets_objects(now->sets, touched.accesses.data(), touched.accesses.size());
    uint32_t tails = place >= 0 ? tail_set(insn, place) : 0;
    bool is_new;
    int index = pm_map_sets_tuple(now->sets, &tuple, tails, &is_new);
    if (is_new && place >= 0)
        add_also(&tuple, tails);
    return index;
}

/* The first place in a block, -1 none. */
static int first_place(basic_block bb)
{
    rtx_insn *insn;
    FOR_BB_INSNS(bb, insn) {
        int place = emits_code(insn) ? place_of(INSN_LOCATION(insn)) : -1;
        if (place >= 0)
            return place;
    }
    return -1;
}

/* Code without a place (moves of registers, mostly) goes with what stands before it; at a
 * block's begin with what follows, for which it prepares. */
static int place_at_begin(basic_block bb, int otherwise)
{
    int place = first_place(bb);
    if (place < 0 && single_succ_p(bb) && single_succ(bb) != EXIT_BLOCK_PTR_FOR_FN(cfun))
        place = first_place(single_succ(bb));
    return place >= 0 ? place : otherwise;
}

/* What counts the loops of a coroutine has the place of the function. */
static int place_in_loop(int place, int natural)
{
    int begin = now->loops[(size_t)natural].spot;
    return place == now->head && begin >= 0 ? begin : place;
}

static void collect_block(basic_block bb, int *place_before)
{
    int natural = loop_at(bb), loop = natural;
    int place = place_at_begin(bb, *place_before);
    bool returns = !pm_ends_without_return(bb);
    rtx_insn *insn;
    FOR_BB_INSNS(bb, insn) {
        if (!emits_code(insn))
            continue;
        int own = place_of(INSN_LOCATION(insn));
        place = own >= 0 ? own : place;
        if (own >= 0)
            loop = missing_loop_at(INSN_LOCATION(insn), natural, returns);
        int shown = place_in_loop(place, natural);
        now->tuple_of_insn[(size_t)INSN_UID(insn)] = tuple_of_insn(insn, shown, loop);
    }
    *place_before = place;
}

static void collect_all(function *fun)
{
    now->tuple_of_insn.assign((size_t)get_max_uid(), -1);
    now->loop_of_number.assign(number_of_loops(fun), -1);
    now->loops.push_back({0, 0, -1});
    pm_natural_loops_find(fun);
    pm_tails_resolve(fun);
    now->folded = pm_late_folded_into(fun->decl);
    struct pm_map_spot head = {-1, pm_source_function_of(fun->decl)->place};
    now->head = pm_map_sets_spot(now->sets, &head);
    int place = now->head;
    basic_block bb;
    FOR_EACH_BB_FN(bb, fun)
        collect_block(bb, &place);
}

static unsigned collect(function *fun)
{
    delete now;
    now = NULL;
    if (seen_error() || !pm_function_mapped(fun->decl))
        return 0;
    if (!pm_function_selected(fun->decl))
        pm_late_symbol(fun->decl); /* no sleds have named it */
    now = new collected();
    now->sets = pm_map_sets_new(pm_source_function_of(fun->decl));
    if (now->sets == NULL)
        pm_no_memory();
    bool had_loops = current_loops != NULL, had_dominators = dom_info_available_p(CDI_DOMINATORS);
    if (!had_loops)
        loop_optimizer_init(AVOID_CFG_MODIFICATIONS);
    collect_all(fun);
    if (!had_loops)
        loop_optimizer_finalize();
    if (!had_dominators)
        free_dominance_info(CDI_DOMINATORS);
    return 0;
}

/* --- labels --- */

static int new_label(void)
{
    return CODE_LABEL_NUMBER(gen_label_rtx());
}

/* Such notes are not made but left over from labels, so this one is changed into it. */
static int make_label(rtx_note *note)
{
    int label = new_label();
    NOTE_KIND(note) = NOTE_INSN_DELETED_LABEL;
    NOTE_DELETED_LABEL_NAME(note) = NULL;
    CODE_LABEL_NUMBER(note) = label;
    return label;
}

/* Where the compiler has a label at that very place, that one serves: notes between are no code. */
static int label_before(rtx_insn *insn)
{
    rtx_insn *before = PREV_INSN(insn);
    while (before != NULL && NOTE_P(before) && NOTE_KIND(before) != NOTE_INSN_SWITCH_TEXT_SECTIONS)
        before = PREV_INSN(before);
    if (before != NULL && LABEL_P(before) && LABEL_KIND(before) == LABEL_NORMAL)
        return CODE_LABEL_NUMBER(before);
    return make_label(emit_note_before(NOTE_INSN_DELETED, insn));
}

static int label_after(rtx_insn *insn)
{
    return make_label(emit_note_after(NOTE_INSN_DELETED, insn));
}

/* Room that nobody runs through: an aligned label after a jump, a jump table that lies in the
 * code. */
static bool is_padding(const rtx_insn *insn, bool after_barrier)
{
    if (JUMP_TABLE_DATA_P(insn))
        return JUMP_TABLES_IN_TEXT_SECTION;
    return LABEL_P(insn) && after_barrier &&
           label_to_alignment(const_cast<rtx_insn *>(insn)).levels[0].log > 0;
}

/* The tuple of the code that begins here; -1: goes on as before. */
static int tuple_at(const rtx_insn *insn, bool after_barrier)
{
    if (is_padding(insn, after_barrier))
        return plain_tuple(PM_MAP_PADDING, -1);
    return (size_t)INSN_UID(insn) < now->tuple_of_insn.size()
               ? now->tuple_of_insn[(size_t)INSN_UID(insn)]
               : -1;
}

static void open_part(bool is_cold, int begin)
{
    now->parts.push_back({is_cold, begin, -1, {}});
}

/* The first range begins where the part does. */
static void open_range(rtx_insn *insn, int tuple)
{
    struct pm_map_part_list *part = &now->parts.back();
    if (part->ranges.empty())
        part->ranges.push_back({tuple, part->begin});
    else if (part->ranges.back().tuple != tuple)
        part->ranges.push_back({tuple, label_before(insn)});
}

static unsigned label(function *)
{
    if (now == NULL)
        return 0;
    bool after_barrier = false;
    open_part(first_function_block_is_cold, new_label());
    for (rtx_insn *insn = get_insns(); insn != NULL; insn = NEXT_INSN(insn)) {
        if (NOTE_P(insn) && NOTE_KIND(insn) == NOTE_INSN_SWITCH_TEXT_SECTIONS) {
            now->parts.back().end = label_before(insn);
            open_part(!first_function_block_is_cold, label_after(insn));
        }
        int tuple = tuple_at(insn, after_barrier);
        if (tuple >= 0)
            open_range(insn, tuple);
        if (!NOTE_P(insn))
            after_barrier = BARRIER_P(insn);
    }
    now->parts.back().end = label_after(get_last_insn());
    return 0;
}

static unsigned write(function *fun)
{
    if (now != NULL && !seen_error()) {
        pm_late_symbol(fun->decl);
        if (pm_map_sets_failed(now->sets))
            pm_no_memory();
        pm_map_write(fun->decl, now->sets, now->parts);
    }
    delete now;
    now = NULL;
    return 0;
}

/* --- */

/* Where the assembler cannot take differences of labels as LEB128, there is no map. */
static bool has_map(function *)
{
#ifdef HAVE_AS_LEB128
    return HAVE_AS_LEB128 && !BYTES_BIG_ENDIAN;
#else
    return false;
#endif
}

void pm_map_register(const char *plugin_name)
{
    pm_gcc_register_pass(plugin_name, pm_gcc_rtl_pass("perfmap_map_collect", has_map, collect),
                         "*free_cfg", 1, PASS_POS_INSERT_BEFORE);
    pm_gcc_register_pass(plugin_name, pm_gcc_rtl_pass("perfmap_map_label", has_map, label), "final",
                         1, PASS_POS_INSERT_BEFORE);
    pm_gcc_register_pass(plugin_name, pm_gcc_rtl_pass("perfmap_map_write", has_map, write), "final",
                         1, PASS_POS_INSERT_AFTER);
    pm_map_out_register(plugin_name);
}
