/* The late map: what each instruction of the emitted code implements.
 *
 * It is found out when the code is final, before it is emitted. Where what an instruction
 * implements changes, the instruction gets a symbol before it, which the printer writes as a label:
 * the code and its debug information are what they are without. A place in the source is that of
 * the instruction's debug location, which LLVM keeps without debug information, too (main.cc).
 */
#include "merged.h"

#include "llvm/CodeGen/AsmPrinter.h"
#include "llvm/CodeGen/MachineFrameInfo.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/MachineMemOperand.h"
#include "llvm/CodeGen/PseudoSourceValue.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCSymbol.h"

#include <map>
#include <set>

extern "C" {
#include "../emit/map_sets.h"
#include "../emit/sled_text.h"
}

using namespace llvm;

enum { MAX_SPOTS = 8 }; /* of one piece of code, beside its own; more say nothing */

namespace
{
struct collected {
    AsmPrinter *printer;
    MachineFunction *machine;
    struct pm_code_lists *map;
    const struct pm_read_function *read;
    struct pm_place begin; /* of the function, or of the OpenMP directive whose body it is */
    struct pm_code_loops *loops;
    struct pm_map_sets *sets; /* the map's */
    std::map<const DILocation *, struct pm_located> places;
    struct pm_merged *merged;
    std::map<std::pair<pm_id, unsigned>, uint32_t> bodies; /* loop, access: spots */
};
} // namespace

/* --- sites and places --- */

/* The innermost inlined copy that a place lies in, -1 the function itself. */
static int site_of(collected *now, const DILocation *location)
{
    const DILocation *around = location->getInlinedAt();
    const DISubprogram *described = location->getScope()->getSubprogram();
    if (!around || !described)
        return -1;
    if (pm_is_inner(described))
        return site_of(now, around);
    struct pm_written_place call = {};
    if (!pm_written_place_of(around, &call))
        call.place = {};
    return pm_map_sets_site(now->sets, site_of(now, around), pm_read_function_in(described)->source,
                            &call.place);
}

static thread_local std::map<pm_id, std::pair<const struct pm_source_function *, int>>
    unstated_loops;

/* The loops of one function that the statement lies in. */
static void add_loops(const struct pm_written_place &code, int site, struct pm_located *found)
{
    const struct pm_source_function *function = code.read->source;
    const struct pm_place *around = NULL;
    bool is_statement = code.read->text && pm_text_loop(code.read->text, &code.place, &around);
    pm_id id = pm_id_of_loop(function->id, code.place.file, pm_place_point(&code.place));
    int loop = pm_source_loop_with(function, id); /* its keyword */
    for (const auto &directive : code.read->directives)
        if (pm_text_point_same(directive.first, pm_place_point(&code.place)))
            loop = pm_source_loop_with(function, directive.second);
    if (loop >= 0 && found->loops.empty())
        found->is_head = true;
    else if (!is_statement) /* a closing brace, where objects end */
        loop = pm_source_loop_at(function, code.place.file, pm_place_point(&code.place));
    else if (around)
        loop = pm_source_loop_with(
            function, pm_id_of_loop(function->id, around->file, pm_place_point(around)));
    for (; loop >= 0; loop = function->loops[loop].parent) {
        found->loops.push_back({site, function->loops[loop].id});
        if (!code.read->selected)
            unstated_loops[function->loops[loop].id] = {function, loop};
    }
}

/* The facts of functions that get sleds have their loops; of others they get those that code is
 * in. */
static pm_id stated_loop(pm_id loop)
{
    auto found = unstated_loops.find(loop);
    if (found != unstated_loops.end()) {
        pm_fact_loop(pm_unit_facts(), found->second.first, found->second.second);
        unstated_loops.erase(found);
    }
    return loop;
}

/* In a function that was inlined: its own loops, and those of the call. */
static void find_loops(collected *now, const DILocation *location, struct pm_located *found)
{
    struct pm_written_place code;
    for (; location; location = location->getInlinedAt())
        if (pm_written_place_of(location, &code)) {
            if (code.read->text)
                pm_text_statement(code.read->text, &code.place);
            add_loops(code, site_of(now, location), found);
        }
}

/* NULL: the location says nothing. Statements begin where the front end said. */
static const struct pm_located *place_of(collected *now, const DILocation *location)
{
    struct pm_written_place code;
    auto known = now->places.find(location);
    if (known != now->places.end())
        return known->second.place.line != 0 ? &known->second : NULL;
    struct pm_located &found = now->places[location];
    if (!pm_written_place_of(location, &code))
        return NULL;
    if (code.read->text)
        pm_text_statement(code.read->text, &code.place);
    found.site = site_of(now, location);
    found.read = code.read;
    found.place = code.place;
    find_loops(now, location, &found);
    return &found;
}

/* --- kinds --- */

static const char *asm_text(const MachineInstr &instruction)
{
    return instruction.isInlineAsm() && instruction.getOperand(0).isSymbol()
               ? instruction.getOperand(0).getSymbolName()
               : NULL;
}

static bool emits_code(const MachineInstr &instruction)
{
    const char *text = asm_text(instruction);
    return text ? text[0] != 0 : !instruction.isMetaInstruction();
}

static bool spills(const MachineInstr *instruction)
{
    if (!instruction || !instruction->hasOneMemOperand() || instruction->isCall())
        return false;
    const PseudoSourceValue *pseudo = (*instruction->memoperands_begin())->getPseudoValue();
    const auto *slot = dyn_cast_or_null<FixedStackPseudoSourceValue>(pseudo);
    return slot &&
           instruction->getMF()->getFrameInfo().isSpillSlotObjectIndex(slot->getFrameIndex());
}

/* One of several in a row. A lone one amid other code is like any move of registers. */
static bool is_spill(const MachineInstr &instruction)
{
    return spills(&instruction) &&
           (spills(instruction.getPrevNode()) || spills(instruction.getNextNode()));
}

static enum pm_map_kind kind_of(const MachineInstr &instruction)
{
    const char *text = asm_text(instruction);
    if (text && pm_sled_text_parse(text, NULL, NULL, NULL))
        return PM_MAP_SLED;
    if (instruction.isCall())
        return PM_MAP_CALL;
    if (instruction.getFlag(MachineInstr::FrameSetup) ||
        instruction.getFlag(MachineInstr::FrameDestroy) || instruction.isReturn())
        return PM_MAP_FRAME;
    return is_spill(instruction) ? PM_MAP_SPILL : PM_MAP_ORDINARY;
}

/* --- vectorised code that has the place of its loop (seen with LLVM 14) --- */

static bool is_loop_control(collected *now, pm_id id, const struct pm_located *at)
{
    const struct pm_source_function *function = pm_map_sets_text(now->sets, at->site);
    int number = pm_source_loop_with(function, id);
    const struct pm_source_loop *loop = number >= 0 ? &function->loops[number] : NULL;
    return loop && loop->place.line == at->place.line && loop->file == at->place.file;
}

static bool has_touch(const struct pm_read_text *text, const struct pm_place &place, unsigned use)
{
    for (const struct pm_touch &touch : text->touches)
        if (touch.use & use && touch.n != 0 && touch.statement >= 0) {
            const struct pm_place &begin = text->statements[(size_t)touch.statement].place;
            if (begin.line == place.line && begin.column == place.column)
                return true;
        }
    return false;
}

/* Statements with code in the loop that touch memory so. */
static std::vector<int> body_statements(collected *now, pm_id loop, unsigned use)
{
    std::set<const struct pm_located *> seen;
    std::set<int> spots;
    for (const MachineBasicBlock &block : *now->machine)
        for (const MachineInstr &instruction : block) {
            const DILocation *location = instruction.getDebugLoc().get();
            const struct pm_located *at = emits_code(instruction) ? place_of(now, location) : NULL;
            if (!at || !seen.insert(at).second || is_loop_control(now, loop, at) ||
                pm_code_loop_at(now->loops, block, *at) != loop)
                continue;
            const struct pm_read_function *read =
                pm_read_function_in(location->getScope()->getSubprogram());
            struct pm_map_spot spot = {at->site, at->place};
            if (read->text && has_touch(read->text, at->place, use))
                spots.insert(pm_map_sets_spot(now->sets, &spot));
        }
    return spots.size() <= MAX_SPOTS ? std::vector<int>(spots.begin(), spots.end())
                                     : std::vector<int>();
}

static uint32_t vectorised_spots(collected *now, pm_id loop, const struct pm_located *at,
                                 const struct pm_touched &touched)
{
    if (touched.elsewhere == 0 || loop == 0 || !is_loop_control(now, loop, at))
        return 0;
    auto entry = now->bodies.insert({{loop, touched.elsewhere}, 0});
    if (entry.second) {
        std::vector<int> spots = body_statements(now, loop, touched.elsewhere);
        entry.first->second = pm_map_sets_spots(now->sets, spots.data(), spots.size());
    }
    return entry.first->second;
}

static int tuple_of(collected *now, const struct pm_map_tuple &tuple, uint32_t others = 0,
                    enum pm_map_reason reason = PM_MAP_COMMON_TAIL)
{
    bool is_new;
    int number = pm_map_sets_tuple(now->sets, &tuple, others, &is_new);
    if (is_new)
        pm_map_sets_also_spots(now->sets, others, reason);
    return number;
}

/* Which of the statements comes first means nothing. */
static int tuple_of_merged(collected *now, struct pm_map_tuple *tuple, std::vector<int> spots)
{
    const struct pm_map_spot *first = pm_map_sets_spot_at(now->sets, spots[0]);
    tuple->site = first->site;
    tuple->place = first->place;
    return tuple_of(now, *tuple, pm_map_sets_spots(now->sets, spots.data() + 1, spots.size() - 1));
}

static int tuple_of_instruction(collected *now, const MachineInstr &instruction,
                                const struct pm_located *at)
{
    struct pm_map_tuple tuple = {};
    struct pm_touched touched = {};
    tuple.kind = kind_of(instruction);
    tuple.site = -1;
    if (tuple.kind == PM_MAP_SLED)
        return tuple_of(now, tuple);
    tuple.place = now->begin;
    if (tuple.kind == PM_MAP_FRAME)
        return tuple_of(now, tuple);
    pm_objects_of(instruction, &touched);
    struct pm_merged_spots merged = {};
    if (at && pm_is_merged(instruction))
        merged = pm_merged_find(now->merged, instruction, at, &touched);
    tuple.unnamed = touched.unnamed;
    tuple.objects =
        pm_map_sets_objects(now->sets, touched.accesses.data(), touched.accesses.size());
    if (!at)
        return tuple_of(now, tuple);
    tuple.site = at->site;
    tuple.place = at->place;
    tuple.loop = stated_loop(pm_code_loop_at(now->loops, *instruction.getParent(), *at));
    if (merged.are_accesses)
        return tuple_of_merged(now, &tuple, merged.spots);
    if (uint32_t others = vectorised_spots(now, tuple.loop, at, touched))
        return tuple_of(now, tuple, others, PM_MAP_VECTORISED);
    if (!merged.spots.empty())
        return tuple_of_merged(now, &tuple, merged.spots);
    if (uint32_t chosen = pm_merged_choice(now->merged, instruction, at))
        return tuple_of(now, tuple, chosen, PM_MAP_COMBINED);
    std::vector<int> ways = pm_merged_ways(now->merged, instruction, at, touched);
    return tuple_of(now, tuple, pm_map_sets_spots(now->sets, ways.data(), ways.size()));
}

/* --- labels --- */

static int add_label(collected *now, const std::string &name)
{
    now->map->labels.push_back(name);
    return (int)now->map->labels.size() - 1;
}

static MCSymbol *new_symbol(collected *now)
{
    static thread_local unsigned n_labels;
    MCContext &context = now->printer->OutContext;
    return context.getOrCreateSymbol(Twine(now->printer->MAI->getPrivateGlobalPrefix()) + "pmr" +
                                     Twine(n_labels++));
}

static int label_before(collected *now, MachineInstr *instruction)
{
    MCSymbol *symbol = instruction->getPreInstrSymbol();
    if (!symbol)
        instruction->setPreInstrSymbol(*now->machine, symbol = new_symbol(now));
    return add_label(now, symbol->getName().str());
}

static int label_after(collected *now, MachineInstr *instruction)
{
    MCSymbol *symbol = instruction->getPostInstrSymbol();
    if (!symbol)
        instruction->setPostInstrSymbol(*now->machine, symbol = new_symbol(now));
    return add_label(now, symbol->getName().str());
}

/* --- ranges --- */

static void open_part(collected *now, const MachineBasicBlock &block, MachineInstr *first)
{
    bool is_cold = block.getSectionID() != now->machine->front().getSectionID();
    now->map->parts.push_back({is_cold, label_before(now, first), -1, &block, {}});
}

/* The first range begins where the part does. */
static void open_range(collected *now, MachineInstr *instruction, int tuple)
{
    struct pm_code_part *part = &now->map->parts.back();
    if (part->ranges.empty())
        part->ranges.push_back({tuple, part->begin});
    else if (part->ranges.back().tuple != tuple)
        part->ranges.push_back({tuple, label_before(now, instruction)});
}

/* Code without a place goes with what stands before it; at a block's begin with what follows, for
 * which it prepares. */
static const struct pm_located *first_place(collected *now, const MachineBasicBlock &block)
{
    for (const MachineInstr &instruction : block)
        if (emits_code(instruction))
            if (const struct pm_located *at = place_of(now, instruction.getDebugLoc().get()))
                return at;
    return NULL;
}

static const struct pm_located *place_at_begin(collected *now, const MachineBasicBlock &block,
                                               const struct pm_located *otherwise)
{
    const struct pm_located *at = first_place(now, block);
    if (!at && block.succ_size() == 1)
        at = first_place(now, **block.succ_begin());
    return at ? at : otherwise;
}

static void collect_block(collected *now, MachineBasicBlock &block, const struct pm_located **at)
{
    *at = place_at_begin(now, block, *at);
    for (MachineInstr &instruction : block) {
        if (!emits_code(instruction))
            continue;
        if (const struct pm_located *own = place_of(now, instruction.getDebugLoc().get()))
            *at = own;
        if (now->map->parts.empty() ||
            (block.isBeginSection() && now->map->parts.back().first != &block))
            open_part(now, block, &instruction);
        open_range(now, &instruction, tuple_of_instruction(now, instruction, *at));
    }
}

static MachineInstr *last_code(MachineBasicBlock *block)
{
    for (auto at = block->rbegin(); at != block->rend(); ++at)
        if (emits_code(*at))
            return &*at;
    return NULL;
}

static struct pm_place begin_of(const struct pm_read_function *read, const Function &function)
{
    const DISubprogram *described =
        pm_is_outlined(function.getName()) ? function.getSubprogram() : NULL;
    if (described && read->text)
        for (const struct pm_read_region &region : read->text->regions)
            if (region.place.line == described->getLine())
                return region.place;
    return read->source->place;
}

void pm_map_collect(AsmPrinter *printer, MachineFunction *machine, struct pm_code_lists *ret_map)
{
    collected now = {};
    const struct pm_located *at = NULL;
    MachineInstr *last = NULL;
    now.printer = printer;
    now.machine = machine;
    now.map = ret_map;
    now.read = pm_read_function_of(machine->getFunction());
    now.begin = begin_of(now.read, machine->getFunction());
    now.sets = ret_map->sets = pm_map_sets_new(now.read->source);
    if (!now.sets)
        pm_no_memory();
    pm_locate locate = [&](const MachineInstr &instruction) {
        return emits_code(instruction) ? place_of(&now, instruction.getDebugLoc().get())
                                       : (const struct pm_located *)NULL;
    };
    now.loops = pm_code_loops_new(machine, locate);
    now.merged = pm_merged_new(machine, now.sets, now.loops, locate,
                               [&](const DILocation *location) { return site_of(&now, location); });
    for (MachineBasicBlock &block : *machine) {
        size_t n_parts = ret_map->parts.size();
        collect_block(&now, block, &at);
        if (ret_map->parts.size() > n_parts && n_parts > 0)
            ret_map->parts[n_parts - 1].end = label_after(&now, last);
        if (MachineInstr *code = last_code(&block))
            last = code;
    }
    if (last)
        ret_map->parts.back().end = label_after(&now, last);
    pm_code_loops_free(now.loops);
    pm_merged_free(now.merged);
    if (pm_map_sets_failed(now.sets))
        pm_no_memory();
}
