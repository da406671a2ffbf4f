/* Of which statements merged code is. What the source says and no code of a statement does any
 * more, merged code does:
 *
 *     if (a->kind > limit)
 *         a->last = i;       one store of both, and code of its own for -i: the store is that of
 *     else                   the statements that write a->last, and have no store of it
 *         a->last = -i;
 *
 * Where no jump is left that the condition decides, its code is that of both ways, too.
 *
 * Code that touches no memory, and what no statement lacks, may be of any statement that has no
 * code, of the one before it, or else of the one that follows.
 */
#include "merged.h"

#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/MachineMemOperand.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"

#include <algorithm>
#include <map>
#include <set>

extern "C" {
#include "../emit/map_sets.h"
}

using namespace llvm;

enum { SPOTS_MAX = 8 }; /* more say nothing */

using statement_key = std::tuple<pm_id, uint32_t, uint32_t>; /* function, line, column */

struct pm_lost_statement {
    int statement; /* of its text */
    std::set<pm_id> objects;
};

/* What a statement calls, and what was inlined there. */
struct pm_inlined_call {
    const struct pm_read_function *callee;
    int statement;
};

struct pm_merged {
    const MachineFunction *machine;
    struct pm_map_sets *sets;
    const struct pm_code_loops *loops;
    pm_locate locate;
    pm_site_of site_of;
    bool code_is_known, touches_are_known, jumps_are_known, calls_are_known;
    std::map<const struct pm_located *, const struct pm_read_ways *> ways;
    std::set<pm_id> called;
    std::map<const struct pm_read_function *, std::vector<struct pm_inlined_call>> inlined;
    /* By the head of the loop around: conditions that are jumped by, and what was chosen. */
    std::set<std::pair<const MachineBasicBlock *, statement_key>> jumps;
    std::map<std::tuple<const MachineBasicBlock *, int, const struct pm_read_ways *>, uint32_t>
        choices;
    std::set<statement_key> with_code;
    std::map<std::pair<statement_key, unsigned>, std::set<pm_id>> touched; /* by use */
    std::map<const struct pm_read_function *, std::vector<struct pm_lost_statement>> lost;
};

bool pm_is_merged(const MachineInstr &instruction)
{
    const DILocation *location = instruction.getDebugLoc().get();
    return location && location->getLine() == 0 && !instruction.isCall();
}

struct pm_merged *pm_merged_new(const MachineFunction *machine, struct pm_map_sets *sets,
                                const struct pm_code_loops *loops, pm_locate locate,
                                pm_site_of site_of)
{
    auto *merged = new struct pm_merged();
    merged->machine = machine;
    merged->sets = sets;
    merged->loops = loops;
    merged->locate = locate;
    merged->site_of = site_of;
    return merged;
}

void pm_merged_free(struct pm_merged *merged)
{
    delete merged;
}

/* --- what code of their own does --- */

static statement_key key_of(const struct pm_merged &merged, const struct pm_located &at)
{
    return {pm_map_sets_text(merged.sets, at.site)->id, at.place.line, at.place.column};
}

static void note_code(struct pm_merged *merged)
{
    if (merged->code_is_known)
        return;
    merged->code_is_known = true;
    for (const MachineBasicBlock &block : *merged->machine)
        for (const MachineInstr &instruction : block)
            if (const struct pm_located *at = merged->locate(instruction))
                merged->with_code.insert(key_of(*merged, *at));
}

static void note_touches(struct pm_merged *merged)
{
    if (merged->touches_are_known)
        return;
    merged->touches_are_known = true;
    for (const MachineBasicBlock &block : *merged->machine)
        for (const MachineInstr &instruction : block) {
            const struct pm_located *at =
                instruction.mayLoadOrStore() ? merged->locate(instruction) : NULL;
            if (!at)
                continue;
            struct pm_touched touched;
            pm_objects_of(instruction, &touched);
            for (const struct pm_access &access : touched.accesses)
                for (unsigned use : {PM_MAP_READS, PM_MAP_WRITES})
                    if (access.access & use)
                        merged->touched[{key_of(*merged, *at), use}].insert(access.noun);
        }
}

static void add_spot(struct pm_merged *merged, int site, const struct pm_place &place,
                     std::vector<int> *spots)
{
    struct pm_map_spot spot = {site, place};
    int number = pm_map_sets_spot(merged->sets, &spot);
    if (std::find(spots->begin(), spots->end(), number) == spots->end())
        spots->push_back(number);
}

/* --- statements whose loads or stores it is --- */

namespace
{
/* The one merged instruction. */
struct merged_access {
    const DILocation *location;
    const struct pm_read_function *read;
    int site;
    const struct pm_located *at;
    const std::vector<struct pm_access> *objects; /* with none: it may touch anything */
    unsigned use;
    bool by_pointers; /* the source may lead to the objects by other names */
    /* Of a place that no inlining led to: the loop that its statement lies in, line 0 for none. A
     * search in the text, so not for every statement. */
    bool is_own;
    struct pm_place loop;
};

struct text_touch {
    const struct pm_read_text *text;
    const struct pm_touch *touch;
};
} // namespace

static merged_access access_of(const DILocation *location, int site, const struct pm_located *at,
                               const struct pm_touched &touched)
{
    merged_access access = {};
    access.location = location;
    access.read = pm_read_function_in(location->getScope()->getSubprogram());
    access.site = site;
    access.at = at;
    access.objects = &touched.accesses;
    access.is_own = site == at->site;
    const struct pm_place *loop = NULL;
    if (access.read->text && access.is_own)
        pm_text_loop(access.read->text, &at->place, &loop);
    if (loop)
        access.loop = *loop;
    return access;
}

/* In the same loop, as far as one can say. */
static bool is_near(const merged_access &access, const struct pm_written_statement &statement)
{
    return !access.is_own || (statement.loop_place.line == access.loop.line &&
                              statement.loop_place.column == access.loop.column);
}

static bool touches_one(const merged_access &access, const struct pm_touch &touch)
{
    for (uint32_t i = 0; i < touch.n; i++)
        for (const struct pm_access &object : *access.objects)
            if (access.read->text->accesses[touch.first + i].noun == object.noun)
                return true;
    return access.objects->empty() || (access.by_pointers && touch.goes_through);
}

/* The statement says so, and has no code that does it. */
static bool lacks(const struct pm_merged &merged, const merged_access &access,
                  const struct pm_touch &touch)
{
    const struct pm_read_text *text = access.read->text;
    if (touch.statement < 0 || touch.n == 0 || !(touch.use & access.use) || touch.gives_address)
        return false;
    const struct pm_written_statement &statement = text->statements[(size_t)touch.statement];
    if (!is_near(access, statement) || !touches_one(access, touch))
        return false;
    statement_key key = {access.read->source->id, statement.place.line, statement.place.column};
    auto found = merged.touched.find({key, access.use});
    return found == merged.touched.end() || !found->second.count(text->accesses[touch.first].noun);
}

/* Functions that are still called are none of these. */
static const std::set<pm_id> &called_functions(struct pm_merged *merged)
{
    if (merged->calls_are_known)
        return merged->called;
    merged->calls_are_known = true;
    for (const MachineBasicBlock &block : *merged->machine)
        for (const MachineInstr &instruction : block)
            for (const MachineOperand &operand : instruction.operands()) {
                const auto *function = instruction.isCall() && operand.isGlobal()
                                           ? dyn_cast<Function>(operand.getGlobal())
                                           : NULL;
                const struct pm_read_function *read =
                    function ? pm_read_function_of(*function) : NULL;
                if (read)
                    merged->called.insert(read->source->id);
            }
    return merged->called;
}

static const std::vector<struct pm_inlined_call> &inlined_calls(struct pm_merged *merged,
                                                                const struct pm_read_function *read)
{
    auto entry = merged->inlined.insert({read, {}});
    std::vector<struct pm_inlined_call> &calls = entry.first->second;
    if (!entry.second)
        return calls;
    const std::set<pm_id> &called = called_functions(merged);
    for (const auto &call : read->text->calls_within) {
        const struct pm_read_function *callee =
            call.first >= 0 && !called.count(call.second) ? pm_scopes_with_id(call.second) : NULL;
        if (callee && callee->text)
            calls.push_back({callee, call.first});
    }
    return calls;
}

static bool is_same_access(const struct pm_access &a, const struct pm_access &b)
{
    return a.noun == b.noun && a.access == b.access;
}

/* What all of them touch is what the instruction touches. */
static void agree(const DILocation *location, unsigned use, const std::vector<text_touch> &touches,
                  struct pm_touched *touched)
{
    std::vector<struct pm_access> all;
    for (size_t i = 0; i < touches.size(); i++) {
        std::vector<struct pm_access> own;
        pm_touch_accesses(location, touches[i].text, touches[i].touch, use, &own);
        auto is_missing = [&](const struct pm_access &access) {
            return std::none_of(own.begin(), own.end(), [&](const struct pm_access &other) {
                return is_same_access(access, other);
            });
        };
        if (i == 0)
            all = own;
        all.erase(std::remove_if(all.begin(), all.end(), is_missing), all.end());
    }
    touched->accesses.insert(touched->accesses.end(), all.begin(), all.end());
    touched->accesses.resize(pm_accesses_sort(touched->accesses.data(), touched->accesses.size()));
    touched->unnamed &= all.empty();
}

static std::vector<const struct pm_touch *> lacking_touches(const struct pm_merged &merged,
                                                            merged_access access)
{
    std::vector<const struct pm_touch *> found;
    for (bool by_pointers : {false, true}) {
        access.by_pointers = by_pointers;
        for (const struct pm_touch &touch : access.read->text->touches)
            if (lacks(merged, access, touch))
                found.push_back(&touch);
        if (!found.empty())
            break;
    }
    return found;
}

/* Those of functions that were inlined, on both ways of an "if": the place of what was made of both
 * is in the function around. */
static std::vector<int> lacking_in_calls(struct pm_merged *merged, const merged_access &access,
                                         struct pm_touched *touched)
{
    std::vector<int> spots;
    std::vector<text_touch> touches;
    merged_access within = access;
    within.is_own = false;
    within.by_pointers = true;
    for (const struct pm_inlined_call &call : inlined_calls(merged, access.read)) {
        const struct pm_written_statement &statement =
            access.read->text->statements[(size_t)call.statement];
        if (!access.is_own || !is_near(access, statement))
            continue;
        within.read = call.callee;
        for (const struct pm_touch &touch : call.callee->text->touches)
            if (touch.goes_through && lacks(*merged, within, touch)) {
                int site = pm_map_sets_site(merged->sets, access.site, call.callee->source,
                                            &statement.place);
                add_spot(merged, site, call.callee->text->statements[(size_t)touch.statement].place,
                         &spots);
                touches.push_back({call.callee->text, &touch});
            }
    }
    if (spots.size() > SPOTS_MAX)
        return {};
    agree(NULL, access.use, touches, touched);
    return spots;
}

static std::vector<int> lacking_statements(struct pm_merged *merged, const merged_access &access,
                                           struct pm_touched *touched)
{
    std::vector<int> spots;
    std::vector<text_touch> touches;
    const struct pm_read_text *text = access.read->text;
    note_touches(merged);
    for (const struct pm_touch *touch : lacking_touches(*merged, access)) {
        touches.push_back({text, touch});
        add_spot(merged, access.site, text->statements[(size_t)touch->statement].place, &spots);
    }
    if (touches.empty())
        return lacking_in_calls(merged, access, touched);
    if (spots.size() > SPOTS_MAX)
        return {};
    agree(access.location, access.use, touches, touched);
    return spots;
}

/* --- stores that are of another way, too --- */

/* MergedLoadStoreMotion makes one store of those at the ends of two ways. It keeps the place of the
 * first (LLVM 14; 19 gives it none), and drops what it knew of the types. */
static bool has_lost_type(const MachineInstr &instruction)
{
    for (const MachineMemOperand *operand : instruction.memoperands())
        if (operand->isStore() && !operand->getPseudoValue() && !operand->getAAInfo().TBAA)
            return true;
    return false;
}

static bool is_within(int first, int end, int statement)
{
    return first <= statement && statement < end;
}

static bool are_ways(const struct pm_read_text *text, int one, int other)
{
    for (const struct pm_read_ways &ways : text->ways) {
        bool first = is_within(ways.first, ways.otherwise, one);
        bool second = is_within(ways.otherwise, ways.end, one);
        if ((first && is_within(ways.otherwise, ways.end, other)) ||
            (second && is_within(ways.first, ways.otherwise, other)))
            return true;
    }
    return false;
}

static bool is_other_way(const merged_access &access, int other)
{
    const struct pm_read_text *text = access.read->text;
    const struct pm_place &own = access.at->place;
    for (size_t i = 0; i < text->statements.size(); i++) {
        const struct pm_place &place = text->statements[i].place;
        if (place.line == own.line && place.column == own.column && place.file == own.file)
            return are_ways(text, (int)i, other);
    }
    return false;
}

std::vector<int> pm_merged_ways(struct pm_merged *merged, const MachineInstr &instruction,
                                const struct pm_located *at, const struct pm_touched &touched)
{
    const DILocation *location = instruction.getDebugLoc().get();
    std::vector<int> spots;
    if (!location || !instruction.mayStore() || instruction.isCall() || !has_lost_type(instruction))
        return spots;
    merged_access access = access_of(location, at->site, at, touched);
    access.use = PM_MAP_WRITES;
    if (!access.read->text || access.read->text->ways.empty() || touched.accesses.empty())
        return spots;
    note_touches(merged);
    for (const struct pm_touch *touch : lacking_touches(*merged, access))
        if (is_other_way(access, touch->statement) && spots.size() < SPOTS_MAX)
            add_spot(merged, at->site,
                     access.read->text->statements[(size_t)touch->statement].place, &spots);
    return spots;
}

/* --- ways that were computed together --- */

static void note_jumps(struct pm_merged *merged)
{
    if (merged->jumps_are_known)
        return;
    merged->jumps_are_known = true;
    for (const MachineBasicBlock &block : *merged->machine)
        for (const MachineInstr &instruction : block.terminators()) {
            const struct pm_located *at = instruction.isBranch() && block.succ_size() > 1
                                              ? merged->locate(instruction)
                                              : NULL;
            if (at)
                merged->jumps.insert(
                    {pm_code_loop_head(merged->loops, block), key_of(*merged, *at)});
        }
}

/* What the statement writes, none of its code does. */
static bool lacks_writes(const struct pm_merged &merged, const struct pm_located &at, int statement)
{
    const struct pm_read_text *text = at.read->text;
    const struct pm_place &place = text->statements[(size_t)statement].place;
    auto found = merged.touched.find(
        {{at.read->source->id, place.line, place.column}, (unsigned)PM_MAP_WRITES});
    for (const struct pm_touch &touch : text->touches)
        if (touch.statement == statement && touch.use & PM_MAP_WRITES && touch.n != 0 &&
            (found == merged.touched.end() ||
             !found->second.count(text->accesses[touch.first].noun)))
            return true;
    return false;
}

static uint32_t chosen_spots(struct pm_merged *merged, const struct pm_located *at,
                             const struct pm_read_ways &ways)
{
    std::vector<int> spots;
    note_touches(merged);
    for (int i = ways.first; i < ways.end && spots.size() <= SPOTS_MAX; i++)
        if (lacks_writes(*merged, *at, i))
            add_spot(merged, at->site, at->read->text->statements[(size_t)i].place, &spots);
    return spots.size() <= SPOTS_MAX ? pm_map_sets_spots(merged->sets, spots.data(), spots.size())
                                     : 0;
}

/* NULL: it is no condition. */
static const struct pm_read_ways *find_ways(const struct pm_located &at)
{
    for (const struct pm_read_ways &ways : at.read->text->ways) {
        if (ways.condition < 0)
            continue;
        const struct pm_place &place = at.read->text->statements[(size_t)ways.condition].place;
        if (place.line == at.place.line && place.column == at.place.column &&
            place.file == at.place.file)
            return &ways;
    }
    return NULL;
}

static const struct pm_read_ways *ways_of(struct pm_merged *merged, const struct pm_located *at)
{
    auto entry = merged->ways.insert({at, NULL});
    if (entry.second)
        entry.first->second = find_ways(*at);
    return entry.first->second;
}

uint32_t pm_merged_choice(struct pm_merged *merged, const MachineInstr &instruction,
                          const struct pm_located *at)
{
    if (!at->read->text || instruction.mayLoadOrStore() || instruction.isCall() ||
        instruction.isTerminator())
        return 0;
    const struct pm_read_ways *ways = ways_of(merged, at);
    if (!ways)
        return 0;
    note_jumps(merged);
    const MachineBasicBlock *head = pm_code_loop_head(merged->loops, *instruction.getParent());
    if (merged->jumps.count({head, key_of(*merged, *at)}))
        return 0;
    auto entry = merged->choices.insert({{head, at->site, ways}, 0});
    if (entry.second)
        entry.first->second = chosen_spots(merged, at, *ways);
    return entry.first->second;
}

/* --- statements without code --- */

static const std::vector<struct pm_lost_statement> &lost_of(struct pm_merged *merged,
                                                            const struct pm_read_function *read)
{
    auto entry = merged->lost.insert({read, {}});
    std::vector<struct pm_lost_statement> &lost = entry.first->second;
    if (!entry.second)
        return lost;
    std::map<int, std::set<pm_id>> objects;
    for (const struct pm_touch &touch : read->text->touches)
        for (uint32_t i = 0; i < touch.n && touch.use != 0; i++)
            objects[touch.statement].insert(read->text->accesses[touch.first + i].noun);
    for (const auto &touched : objects) {
        const struct pm_place &place = read->text->statements[(size_t)touched.first].place;
        if (!merged->with_code.count({read->source->id, place.line, place.column}))
            lost.push_back({touched.first, touched.second});
    }
    return lost;
}

/* One of the objects. With none given: anything. */
static bool touches_any(const struct pm_lost_statement &lost,
                        const std::vector<struct pm_access> &objects)
{
    for (const struct pm_access &object : objects)
        if (lost.objects.count(object.noun))
            return true;
    return objects.empty();
}

/* Those of the same loop. */
static void add_lost_statements(struct pm_merged *merged, const merged_access &access,
                                std::vector<int> *spots)
{
    note_code(merged);
    for (const struct pm_lost_statement &lost : lost_of(merged, access.read)) {
        const struct pm_written_statement &statement =
            access.read->text->statements[(size_t)lost.statement];
        if (is_near(access, statement) && spots->size() <= SPOTS_MAX &&
            touches_any(lost, *access.objects))
            add_spot(merged, access.site, statement.place, spots);
    }
}

static const struct pm_located *next_place(const struct pm_merged &merged,
                                           const MachineInstr &instruction)
{
    enum { STEPS_MAX = 32 };
    const MachineInstr *next = instruction.getNextNode();
    for (int i = 0; next && i < STEPS_MAX; i++, next = next->getNextNode())
        if (const struct pm_located *at = merged.locate(*next))
            return at;
    return NULL;
}

struct pm_merged_spots pm_merged_find(struct pm_merged *merged, const MachineInstr &instruction,
                                      const struct pm_located *at, struct pm_touched *touched)
{
    const DILocation *location = instruction.getDebugLoc().get();
    merged_access access = access_of(location, merged->site_of(location), at, *touched);
    access.use = PM_MAP_READS;
    std::vector<int> spots;
    bool is_access = access.read->text && (touched->unnamed || !touched->accesses.empty());
    if (is_access && instruction.mayLoad())
        spots = lacking_statements(merged, access, touched);
    access.use = PM_MAP_WRITES;
    if (is_access && instruction.mayStore()) /* add to memory: the statement that writes */
        spots = lacking_statements(merged, access, touched);
    if (!spots.empty())
        return {spots, true};
    add_spot(merged, at->site, at->place, &spots);
    if (access.read->text)
        add_lost_statements(merged, access, &spots);
    const struct pm_located *next = spots.size() == 1 ? next_place(*merged, instruction) : NULL;
    if (next)
        add_spot(merged, next->site, next->place, &spots);
    return {spots, false};
}
