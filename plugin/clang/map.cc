/* The late map: what each instruction of the emitted code implements.
 *
 * It is found out when the code is final, before it is emitted. Where what an instruction
 * implements changes, the instruction gets a symbol before it, which the printer writes as a label:
 * the code and its debug information are what they are without. A place in the source is that of
 * the instruction's debug location, which LLVM keeps without debug information, too (main.cc).
 */
#include "code_loops.h"

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

extern "C" {
#include "../emit/sled_text.h"
}

using namespace llvm;

namespace
{
struct collected {
    AsmPrinter *printer;
    MachineFunction *machine;
    struct pm_code_lists *map;
    const struct pm_read_function *read;
    struct pm_code_loops *loops;
    std::map<const DILocation *, struct pm_located> places;
    std::map<const DILocation *, int> sites; /* by place of the call */
    std::map<std::vector<uint64_t>, int> object_sets;
    std::map<std::vector<uint64_t>, int> tuples;
};
} // namespace

/* --- sites and places --- */

static bool same_place(const struct pm_place &a, const struct pm_place &b)
{
    return a.line == b.line && a.column == b.column && a.file == b.file;
}

/* Copies of a function that were inlined at one place are one site (the optimisers copy calls). */
static int add_site(collected *now, const struct pm_map_site &site)
{
    std::vector<struct pm_map_site> &sites = now->map->sites;
    for (size_t i = 0; i < sites.size(); i++)
        if (sites[i].parent == site.parent && sites[i].function->id == site.function->id &&
            same_place(sites[i].call, site.call))
            return (int)i;
    sites.push_back(site);
    return (int)sites.size() - 1;
}

/* The innermost inlined copy that a place lies in, -1 the function itself. */
static int site_of(collected *now, const DILocation *location)
{
    const DILocation *around = location->getInlinedAt();
    const DISubprogram *described = location->getScope()->getSubprogram();
    if (!around || !described)
        return -1;
    struct pm_written_place call = {};
    struct pm_map_site site = {site_of(now, around), pm_read_function_in(described)->source, {}};
    if (pm_written_place_of(around, &call))
        site.call = call.place;
    return add_site(now, site);
}

/* The loops of one function that the statement lies in. */
static void add_loops(const struct pm_written_place &code, int site, struct pm_located *found)
{
    const struct pm_source_function *function = code.read->source;
    const struct pm_place *around =
        code.read->text ? pm_text_loop(code.read->text, &code.place) : NULL;
    pm_id id = pm_id_of_loop(function->id, code.place.file, pm_place_point(&code.place));
    int loop = pm_source_loop_with(function, id); /* its keyword */
    if (loop >= 0 && found->loops.empty())
        found->is_head = true;
    else if (around)
        loop = pm_source_loop_with(
            function, pm_id_of_loop(function->id, around->file, pm_place_point(around)));
    for (; loop >= 0; loop = function->loops[loop].parent)
        found->loops.push_back({site, function->loops[loop].id});
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

/* --- tuples --- */

static int object_set(collected *now, const std::vector<struct pm_access> &accesses)
{
    std::vector<uint64_t> key;
    struct pm_code_lists *map = now->map;
    if (accesses.empty())
        return 0;
    for (const struct pm_access &access : accesses) {
        key.push_back(access.noun);
        key.push_back(access.access);
    }
    auto entry = now->object_sets.insert({key, (int)map->objects.size()});
    if (entry.second) {
        map->objects.push_back({(uint32_t)map->accesses.size(), (uint32_t)accesses.size()});
        map->accesses.insert(map->accesses.end(), accesses.begin(), accesses.end());
    }
    return entry.first->second;
}

static int tuple_of(collected *now, const struct pm_map_tuple &tuple)
{
    std::vector<uint64_t> key = {(uint64_t)tuple.kind << 1 | tuple.unnamed,
                                 (uint64_t)tuple.site,
                                 (uint64_t)(uintptr_t)tuple.place.file,
                                 (uint64_t)tuple.place.line << 32 | tuple.place.column,
                                 tuple.loop,
                                 tuple.objects};
    auto entry = now->tuples.insert({key, (int)now->map->tuples.size()});
    if (entry.second)
        now->map->tuples.push_back(tuple);
    return entry.first->second;
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
    if (tuple.kind == PM_MAP_FRAME) {
        tuple.place = now->read->source->place;
        return tuple_of(now, tuple);
    }
    pm_objects_of(instruction, &touched);
    tuple.unnamed = touched.unnamed;
    tuple.objects = (uint32_t)object_set(now, touched.accesses);
    tuple.place = now->read->source->place;
    if (at) {
        tuple.site = at->site;
        tuple.place = at->place;
        tuple.loop = pm_code_loop_at(now->loops, *instruction.getParent(), *at);
    }
    return tuple_of(now, tuple);
}

/* --- labels --- */

static int add_label(collected *now, const std::string &name)
{
    now->map->labels.push_back(name);
    return (int)now->map->labels.size() - 1;
}

static MCSymbol *new_symbol(collected *now)
{
    static unsigned n_labels;
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

void pm_map_collect(AsmPrinter *printer, MachineFunction *machine, struct pm_code_lists *ret_map)
{
    collected now = {};
    const struct pm_located *at = NULL;
    MachineInstr *last = NULL;
    now.printer = printer;
    now.machine = machine;
    now.map = ret_map;
    now.read = pm_read_function_of(machine->getFunction());
    ret_map->objects.push_back({0, 0});
    now.loops = pm_code_loops_new(machine, [&](const MachineInstr &instruction) {
        return emits_code(instruction) ? place_of(&now, instruction.getDebugLoc().get())
                                       : (const struct pm_located *)NULL;
    });
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
}
