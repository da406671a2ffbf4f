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

/* What is known of a location_t: its site and its statement. */
struct located {
    int site;
    struct pm_place place;
};

/* What tuples are told apart by; place: index in collected.places, -1 none; loop, objects,
 * tails: as there. */
struct tuple_key {
    int kind, unnamed, place, loop, objects, tails;
};

static inline bool operator==(const struct tuple_key &a, const struct tuple_key &b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static inline uint64_t pm_hash(const struct tuple_key &key)
{
    uint64_t hash = pm_hash_join((uint64_t)(unsigned)key.place << 32 | (unsigned)key.objects,
                                 (uint64_t)(unsigned)key.loop << 8 | (unsigned)key.kind);
    return pm_hash_join(hash, (uint64_t)(unsigned)key.tails << 32 | (unsigned)key.unnamed);
}

/* Of a place within a site. */
struct place_key {
    int site;
    const char *file;
    unsigned line, column;
};

static inline bool operator==(const struct place_key &a, const struct place_key &b)
{
    return a.site == b.site && a.file == b.file && a.line == b.line && a.column == b.column;
}

static inline uint64_t pm_hash(const struct place_key &key)
{
    uint64_t hash = pm_hash_join(pm_hash(key.file), (unsigned)key.site);
    return pm_hash_join(hash, (uint64_t)key.line << 32 | key.column);
}

struct found_loop {
    pm_id noun, id;
};

struct collected {
    struct pm_map_lists map;
    std::vector<int> tuple_of_insn; /* by INSN_UID; -1: no code, or not known */
    /* Caches. */
    struct pm_table<location_t, int> places_by_location; /* index in places */
    std::vector<struct located> places;
    struct pm_table<struct place_key, int> place_index;
    struct pm_table<tree, int> sites_by_block;
    std::vector<int> loop_of_number;                            /* natural loop -> index in loops */
    std::vector<struct found_loop> loops;                       /* the first is none */
    std::map<std::pair<location_t, int>, int> loop_of_location; /* and 2 * natural loop + returns */
    std::map<pm_id, int> missing_loops;
    std::map<std::vector<uint64_t>, int> object_sets;
    std::vector<std::vector<int>> tails; /* indices in places; the first is empty */
    std::map<std::vector<int>, int> tail_sets;
    struct pm_table<struct tuple_key, int> tuples;
    std::vector<const struct pm_source_function *> folded;
    int head; /* the function's own place: what prologue and epilogue do is no statement's */
};

static struct collected *now; /* the function between the passes; NULL: it gets no map */

/* --- sites and places --- */

static bool same_place(const struct pm_place &a, const struct pm_place &b)
{
    return a.line == b.line && a.column == b.column && a.file == b.file;
}

/* Copies of a function that were inlined at one place are one site (the optimisers copy calls). */
static int add_site(int parent, tree block, tree function_decl)
{
    struct pm_map_site site = {parent, pm_source_function_of(function_decl), {}};
    pm_place_of(BLOCK_SOURCE_LOCATION(block), &site.call);
    std::vector<struct pm_map_site> *sites = &now->map.sites;
    for (size_t i = 0; i < sites->size(); i++) {
        const struct pm_map_site &known = (*sites)[i];
        if (known.parent == parent && known.function == site.function &&
            same_place(known.call, site.call))
            return (int)i;
    }
    sites->push_back(site);
    return (int)sites->size() - 1;
}

static const struct pm_source_function *function_at(int site)
{
    return site >= 0 ? now->map.sites[(size_t)site].function
                     : pm_source_function_of(current_function_decl);
}

/* GCC splits "if (cheap) return; long rest" in two functions, and may inline the second one into
 * the first again. That is no call of the source: it has the place of the function. */
static bool is_rest_of(int site, tree block, tree function_decl)
{
    return LOCATION_LOCUS(BLOCK_SOURCE_LOCATION(block)) ==
               LOCATION_LOCUS(DECL_SOURCE_LOCATION(function_decl)) &&
           pm_source_function_of(function_decl) == function_at(site);
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

static int add_place(const struct located &located)
{
    const struct pm_place &place = located.place;
    bool is_new;
    int index = *now->place_index.add({located.site, place.file, place.line, place.column},
                                      (int)now->places.size(), &is_new);
    if (is_new)
        now->places.push_back(located);
    return index;
}

/* Site and beginning of the statement; -1: the location says nothing. */
static int place_of(location_t location)
{
    const int *known = now->places_by_location.find(location);
    if (known != NULL)
        return *known;
    struct located located = {};
    int index = -1;
    if (pm_place_of(location, &located.place)) {
        located.site = site_of(LOCATION_BLOCK(location));
        const struct pm_statements *statements = pm_statements_of(function_at(located.site));
        int at = statements != NULL ? pm_statement_at(statements, &located.place) : -1;
        if (at >= 0) {
            located.place.line = statements->list[at].first.line;
            located.place.column = statements->list[at].first.column;
        }
        index = add_place(located);
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

static int object_set(std::vector<struct pm_access> *accesses)
{
    if (accesses->empty())
        return 0;
    accesses->resize(pm_accesses_sort(accesses->data(), accesses->size()));
    std::vector<uint64_t> key;
    for (const struct pm_access &access : *accesses) {
        key.push_back(access.noun);
        key.push_back(access.access);
    }
    struct pm_map_lists *map = &now->map;
    auto entry = now->object_sets.insert({key, (int)map->objects.size()});
    if (entry.second) {
        map->objects.push_back({(uint32_t)map->accesses.size(), (uint32_t)accesses->size()});
        map->accesses.insert(map->accesses.end(), accesses->begin(), accesses->end());
    }
    return entry.first->second;
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
    now->loops.push_back({pm_late_source_loop(identity), identity->id});
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
    const struct located &at = now->places[(size_t)index];
    std::vector<struct pm_map_also> also;
    pm_fused_add(function_at(at.site)->id, &at.place, &also);
    return std::any_of(also.begin(), also.end(), [](const struct pm_map_also &other) {
        return other.reason == PM_MAP_LOOP_TO_CALL;
    });
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

/* Places of what an instruction does too: index in tails. */
static int tail_set(const rtx_insn *insn, int place)
{
    const std::vector<location_t> *locations = pm_tails_of(insn);
    std::vector<int> places;
    for (size_t i = 0; locations != NULL && i < locations->size(); i++) {
        int other = place_of((*locations)[i]);
        if (other >= 0 && other != place)
            places.push_back(other);
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    auto entry = now->tail_sets.insert({places, (int)now->tails.size()});
    if (entry.second)
        now->tails.push_back(places);
    return entry.first->second;
}

static void add_tails(int set, std::vector<struct pm_map_also> *also)
{
    for (int place : now->tails[(size_t)set]) {
        const struct located &other = now->places[(size_t)place];
        also->push_back({function_at(other.site), other.place, PM_MAP_COMMON_TAIL, true});
    }
}

/* Functions with equal code were made one: their statements are equal, so the first is the
 * first. */
static void add_folded(const struct pm_place *place, std::vector<struct pm_map_also> *also)
{
    const struct pm_statements *own =
        pm_statements_of(pm_source_function_of(current_function_decl));
    int at = own != NULL ? pm_statement_at(own, place) : -1;
    if (at < 0)
        return;
    for (const struct pm_source_function *folded : now->folded) {
        const struct pm_statements *others = pm_statements_of(folded);
        if (others == NULL || others->n != own->n)
            continue;
        const struct pm_range &other = others->list[at];
        const char *shown = other.file == folded->place.file ? folded->place.shown : other.file;
        also->push_back({folded,
                         {other.file, shown, other.first.line, other.first.column},
                         PM_MAP_FOLDED,
                         false});
    }
}

static int tuple_of(const struct tuple_key &key)
{
    bool is_new;
    int index = *now->tuples.add(key, (int)now->map.tuples.size(), &is_new);
    if (!is_new)
        return index;
    struct pm_map_tuple tuple = {};
    tuple.kind = (enum pm_map_kind)key.kind;
    tuple.unnamed = key.unnamed;
    tuple.site = -1;
    tuple.loop = now->loops[(size_t)key.loop].noun;
    tuple.objects = (uint32_t)key.objects;
    tuple.first_also = (uint32_t)now->map.also.size();
    if (key.place >= 0) {
        tuple.site = now->places[(size_t)key.place].site;
        tuple.place = now->places[(size_t)key.place].place;
    }
    if (key.place >= 0 && tuple.kind != PM_MAP_FRAME) {
        std::vector<struct pm_map_also> *also = &now->map.also;
        pm_fused_add(function_at(tuple.site)->id, &tuple.place, also);
        if (tuple.site < 0 && !now->folded.empty())
            add_folded(&tuple.place, also);
        add_tails(key.tails, also);
    }
    tuple.n_also = (uint32_t)now->map.also.size() - tuple.first_also;
    now->map.tuples.push_back(tuple);
    return index;
}

static int tuple_of_insn(const rtx_insn *insn, int place, int loop)
{
    enum pm_map_kind kind = kind_of(insn);
    if (kind == PM_MAP_SLED)
        return tuple_of({kind, false, -1, 0, 0, 0});
    if (kind == PM_MAP_FRAME)
        return tuple_of({kind, false, now->head, 0, 0, 0});
    struct touched touched = {};
    touch_insn(insn, &touched);
    return tuple_of({kind, touched.unnamed, place, loop, object_set(&touched.accesses),
                     place >= 0 ? tail_set(insn, place) : 0});
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
        now->tuple_of_insn[(size_t)INSN_UID(insn)] = tuple_of_insn(insn, place, loop);
    }
    *place_before = place;
}

static void collect_all(function *fun)
{
    now->tuple_of_insn.assign((size_t)get_max_uid(), -1);
    now->loop_of_number.assign(number_of_loops(fun), -1);
    now->loops.push_back({0, 0});
    pm_natural_loops_find(fun);
    now->map.objects.push_back({0, 0});
    now->tails.push_back({});
    now->tail_sets.insert({{}, 0});
    pm_tails_resolve(fun);
    now->folded = pm_late_folded_into(fun->decl);
    now->head = add_place({-1, pm_source_function_of(fun->decl)->place});
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
        return tuple_of({PM_MAP_PADDING, false, -1, 0, 0, 0});
    return (size_t)INSN_UID(insn) < now->tuple_of_insn.size()
               ? now->tuple_of_insn[(size_t)INSN_UID(insn)]
               : -1;
}

static void open_part(bool is_cold, int begin)
{
    now->map.parts.push_back({is_cold, begin, -1, {}});
}

/* The first range begins where the part does. */
static void open_range(rtx_insn *insn, int tuple)
{
    struct pm_map_part_list *part = &now->map.parts.back();
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
            now->map.parts.back().end = label_before(insn);
            open_part(!first_function_block_is_cold, label_after(insn));
        }
        int tuple = tuple_at(insn, after_barrier);
        if (tuple >= 0)
            open_range(insn, tuple);
        if (!NOTE_P(insn))
            after_barrier = BARRIER_P(insn);
    }
    now->map.parts.back().end = label_after(get_last_insn());
    return 0;
}

static unsigned write(function *fun)
{
    if (now != NULL && !seen_error()) {
        pm_late_symbol(fun->decl);
        pm_map_write(fun->decl, &now->map);
    }
    delete now;
    now = NULL;
    return 0;
}

/* --- */

/* Where the assembler cannot take differences of labels as LEB128, there is no map. */
static bool gate(function *)
{
#ifdef HAVE_AS_LEB128
    return HAVE_AS_LEB128 && !BYTES_BIG_ENDIAN;
#else
    return false;
#endif
}

void pm_map_register(const char *plugin_name)
{
    pm_gcc_register_pass(plugin_name, pm_gcc_rtl_pass("perfmap_map_collect", gate, collect),
                         "*free_cfg", 1, PASS_POS_INSERT_BEFORE);
    pm_gcc_register_pass(plugin_name, pm_gcc_rtl_pass("perfmap_map_label", gate, label), "final", 1,
                         PASS_POS_INSERT_BEFORE);
    pm_gcc_register_pass(plugin_name, pm_gcc_rtl_pass("perfmap_map_write", gate, write), "final", 1,
                         PASS_POS_INSERT_AFTER);
    pm_map_out_register(plugin_name);
}
