/* Sleds in machine code, when it is final, and nouns of level Base.
 *
 * Only there the stack pointer at a function's entry and at all its exits is CFA - 8, tail calls
 * are tail calls, and inlining is done. LLVM lets no plugin add passes over machine code (14, 19).
 * But it makes the printer, which emits a function's code, through a table of the target's, and a
 * printer tells "handlers" of each function before it emits the first instruction. So the table
 * here gets a printer with one handler more, which puts the sleds in: asm instructions. Debug
 * information and unwind tables are made of labels, and branches get their lengths in the
 * assembler, so nothing minds.
 */
#include "map.h"
#include "marks.h"
#include "streamer.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/CodeGen/AsmPrinter.h"
#include "llvm/CodeGen/AsmPrinterHandler.h"
#include "llvm/CodeGen/MachineFrameInfo.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCSectionELF.h"
#include "llvm/MC/TargetRegistry.h"

#include <map>
#include <set>

extern "C" {
#include "../../mapping/base/cxx_name.h"
#include "../emit/sled_text.h"
}

using namespace llvm;

static thread_local struct stats {
    unsigned n_functions, n_function_sleds, n_loops, n_loop_sleds;
} stats;

/* --- one function --- */

namespace
{
struct emitted {
    AsmPrinter *printer;
    MachineFunction *machine;
    struct pm_source_function *source; /* NULL: it gets no sleds of its own */
    const char *name;
    pm_id symbol;
    const char *section_symbol; /* NULL: none that an asm's text can hold */
    bool begins_section, entry_begins_records;
};
} // namespace

static struct pm_source_function *source_of(const Function &function)
{
    static thread_local struct pm_intern *strings;
    if (!function.hasFnAttribute(PM_ATTRIBUTE_SOURCE))
        return NULL;
    if (strings == NULL)
        strings = pm_intern_new();
    std::string text = function.getFnAttribute(PM_ATTRIBUTE_SOURCE).getValueAsString().str();
    struct pm_source_function *source =
        strings != NULL ? pm_source_function_read(text.c_str(), strings) : NULL;
    if (source == NULL)
        pm_no_memory();
    return source;
}

/* Of each section of code, the symbol that its records are tied to: of the first function in it
 * (plugin/gcc/sleds_function.cc says why there is one for all). */
static thread_local std::map<const MCSection *, const char *> section_symbols;

static const char *section_symbol(const emitted &code)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    if (strlen(code.name) >= PM_SLED_SYMBOL_MAX || code.name[strspn(code.name, plain)] != 0)
        return NULL;
    return section_symbols.emplace(code.machine->getSection(), code.name).first->second;
}

static const char *sled_text(const emitted &code, const MachineBasicBlock &block, unsigned kind,
                             unsigned flags, unsigned must_save, pm_id id)
{
    static thread_local unsigned n_sleds;
    struct pm_buf text = PM_BUF_INIT(PM_SLED_TEXT_MAX);
    bool is_apart = block.getSectionID() != code.machine->front().getSectionID();
    const char *symbol = is_apart ? NULL : code.section_symbol;
    bool refers = (symbol == NULL || code.begins_section) &&
                  (kind == PM_SLED_ENTRY || !code.entry_begins_records || symbol == NULL);
    std::string unique = "m" + std::to_string(n_sleds++);
    pm_sled_text(&text, unique.c_str(), symbol, refers, kind, flags, must_save, id);
    if (text.failed)
        pm_no_memory();
    const char *lasting = code.machine->createExternalSymbolName(StringRef(text.data, text.len));
    pm_buf_release(&text);
    return lasting;
}

static void put_sled(const emitted &code, MachineBasicBlock &block,
                     MachineBasicBlock::iterator before, unsigned kind, unsigned flags,
                     unsigned must_save)
{
    const TargetInstrInfo *info = code.machine->getSubtarget().getInstrInfo();
    BuildMI(block, before, DebugLoc(), info->get(TargetOpcode::INLINEASM))
        .addExternalSymbol(sled_text(code, block, kind, flags, must_save, code.symbol))
        .addImm(InlineAsm::Extra_HasSideEffects);
    stats.n_function_sleds++;
}

/* --- sleds of functions --- */

static bool is_named(const emitted &code, const MachineInstr &instruction, const char *name)
{
    return code.machine->getSubtarget().getInstrInfo()->getName(instruction.getOpcode()) == name;
}

/* Behind the mark of indirect jumps' targets. */
static void put_entry_sled(const emitted &code)
{
    MachineBasicBlock &first = code.machine->front();
    MachineBasicBlock::iterator at = first.begin();
    while (at != first.end() && (at->isMetaInstruction() || is_named(code, *at, "ENDBR64")))
        ++at;
    put_sled(code, first, at, PM_SLED_ENTRY, PM_SLED_SP_AT_CFA, pm_must_save(*code.machine, NULL));
}

#if LLVM_VERSION_MAJOR < 15
#define pm_remove_operand RemoveOperand
#else
#define pm_remove_operand removeOperand
#endif

static unsigned opcode_named(const TargetInstrInfo &info, const char *name)
{
    for (unsigned opcode = 0; opcode < info.getNumOpcodes(); opcode++)
        if (info.getName(opcode) == name)
            return opcode;
    pm_stop(std::string("LLVM has no instruction ") + name);
}

/* What comes behind the instruction becomes a block of its own, and room is made for one more. */
static MachineBasicBlock *split_behind(MachineInstr *instruction, MachineBasicBlock **ret_between)
{
    MachineBasicBlock *block = instruction->getParent();
    MachineFunction *machine = block->getParent();
    MachineBasicBlock *between = machine->CreateMachineBasicBlock(block->getBasicBlock());
    MachineBasicBlock *behind = machine->CreateMachineBasicBlock(block->getBasicBlock());
    MachineFunction::iterator next = std::next(block->getIterator());
    machine->insert(next, between);
    machine->insert(next, behind);
    behind->splice(behind->end(), block, std::next(instruction->getIterator()), block->end());
    behind->transferSuccessors(block);
    block->addSuccessorWithoutProb(between);
    block->addSuccessorWithoutProb(behind);
    for (MachineBasicBlock *added : {between, behind})
        added->setSectionID(block->getSectionID());
    behind->setIsEndSection(block->isEndSection());
    block->setIsEndSection(false);
    *ret_between = between;
    return behind;
}

/* "jne other": a sled before it would be passed on the other way as well. It becomes "je over;
 * jmp other; over:". */
static void make_exit(MachineInstr *jump)
{
    const TargetInstrInfo &info = *jump->getMF()->getSubtarget().getInstrInfo();
    static thread_local unsigned conditional, unconditional;
    if (conditional == 0) {
        conditional = opcode_named(info, "JCC_1");
        unconditional = opcode_named(info, "TAILJMPd64");
    }
    MachineBasicBlock *exit, *over = split_behind(jump, &exit);
    auto made = BuildMI(*exit, exit->end(), jump->getDebugLoc(), info.get(unconditional));
    for (unsigned i = 0; i < jump->getNumOperands(); i++)
        if (i != 1) /* the condition; odd ones are the opposites */
            made.add(jump->getOperand(i));
    /* Debug information may have it as the end of a scope: it stays. */
    int64_t opposite = jump->getOperand(1).getImm() ^ 1;
    while (jump->getNumOperands() != 0)
        jump->pm_remove_operand(jump->getNumOperands() - 1);
    jump->setDesc(info.get(conditional));
    MachineInstrBuilder(*jump->getMF(), jump).addMBB(over).addImm(opposite);
    jump->addImplicitDefUseOperands(*jump->getMF()); /* the flags */
}

static void put_exit_sleds(const emitted &code)
{
    std::vector<MachineInstr *> conditional, exits;
    for (MachineBasicBlock &block : *code.machine)
        for (MachineInstr &instruction : block)
            if (is_named(code, instruction, "TAILJMPd64_CC"))
                conditional.push_back(&instruction);
    for (MachineInstr *jump : conditional)
        make_exit(jump);
    for (MachineBasicBlock &block : *code.machine)
        for (MachineInstr &instruction : block)
            if (instruction.isReturn() && !instruction.isConditionalBranch())
                exits.push_back(&instruction);
    for (MachineInstr *exit : exits)
        put_sled(code, *exit->getParent(), exit, exit->isCall() ? PM_SLED_TAIL : PM_SLED_RETURN,
                 PM_SLED_SP_AT_CFA, pm_must_save(*code.machine, exit));
}

static bool returns_twice(const MachineInstr &instruction)
{
    if (!instruction.isCall())
        return false;
    for (const MachineOperand &operand : instruction.operands())
        if (operand.isGlobal())
            if (const auto *callee = dyn_cast<Function>(operand.getGlobal()))
                return callee->hasFnAttribute(Attribute::ReturnsTwice);
    return false;
}

/* Where the function goes on after calls that did not return: at landing pads, and behind
 * setjmp. loops: those that are open at the begin of each block. */
static void put_landing_sleds(const emitted &code,
                              const std::map<const MachineBasicBlock *, unsigned> &depths)
{
    for (MachineBasicBlock &block : *code.machine) {
        auto depth = depths.find(&block);
        unsigned flags = depth != depths.end() ? depth->second : 0;
        if (block.isEHPad()) {
            MachineBasicBlock::iterator at = block.begin();
            while (at != block.end() && (at->isMetaInstruction() || at->isEHLabel()))
                ++at;
            put_sled(code, block, at, PM_SLED_LAND, flags, 0xffff);
        }
        for (auto at = block.begin(); at != block.end(); ++at)
            if (returns_twice(*at))
                put_sled(code, block, std::next(at), PM_SLED_LAND, flags | PM_SLED_BY_SETJMP,
                         0xffff);
    }
}

/* --- sleds of loops --- */

/* Is this a mark of loops.cc? */
static bool is_mark(const MachineInstr &instruction, unsigned *ret_kind, pm_id *ret_loop,
                    std::string *ret_name)
{
    return instruction.getOpcode() == TargetOpcode::INLINEASM &&
           instruction.getOperand(0).isSymbol() &&
           pm_mark_parse(instruction.getOperand(0).getSymbolName(), ret_kind, ret_loop, ret_name);
}

static pm_id add_loopcode(const emitted &code, pm_id loop, const std::string &name)
{
    struct pm_facts *facts = pm_unit_facts();
    pm_fact_symbol(facts, code.symbol, code.name);
    return pm_fact_loopcode(facts, code.symbol, code.name, loop, name.c_str());
}

/* Debug information has found its ends of scopes already: no instruction may go. */
static void drop_mark(MachineInstr *mark, unsigned kind, pm_id loop)
{
    mark->getOperand(0).ChangeToES("");
    pm_note_dropped_mark(kind, loop);
}

/* The marks of a block become sleds, or go. */
static void follow_block(const emitted &code, MachineBasicBlock &block, pm_open_loops *open)
{
    unsigned kind, depth;
    pm_id loop;
    std::string name;
    for (auto at = block.begin(); at != block.end();) {
        MachineInstr &instruction = *at++;
        if (!is_mark(instruction, &kind, &loop, &name))
            continue;
        if (!pm_follow_mark(open, kind, loop, &depth)) {
            drop_mark(&instruction, kind, loop);
            continue;
        }
        unsigned must_save = pm_must_save(*code.machine, &instruction);
        const char *text =
            sled_text(code, block, kind, depth, must_save, add_loopcode(code, loop, name));
        instruction.getOperand(0).ChangeToES(text);
        stats.n_loops += kind == PM_SLED_LOOP_ENTER;
        stats.n_loop_sleds++;
    }
}

static bool has_marks(const MachineFunction &machine)
{
    unsigned kind;
    pm_id loop;
    std::string name;
    for (const MachineBasicBlock &block : machine)
        for (const MachineInstr &instruction : block)
            if (is_mark(instruction, &kind, &loop, &name))
                return true;
    return false;
}

/* From the entry on; afterwards those that nothing leads to. How deep in loops blocks begin. */
static std::map<const MachineBasicBlock *, unsigned> put_loop_sleds(const emitted &code)
{
    if (!has_marks(*code.machine))
        return {};
    auto depths = pm_follow_blocks(
        &code.machine->front(),
        [&](MachineBasicBlock &block, pm_open_loops *open) { follow_block(code, block, open); });
    for (MachineBasicBlock &block : *code.machine) {
        pm_open_loops open;
        if (!depths.count(&block))
            follow_block(code, block, &open);
    }
    return depths;
}

/* --- nouns --- */

/* "f(int), coroutine body": what goes on where f waited is entered each time, and is no call of f.
 * NULL: the symbol is of f itself. */
static struct pm_source_function *part_of_coroutine(const emitted &code,
                                                    const struct pm_source_function *source)
{
    StringRef symbol = code.name;
    size_t dot = symbol.rfind('.');
    if (dot == StringRef::npos)
        return NULL;
    StringRef end = symbol.substr(dot);
    struct pm_buf name = PM_BUF_INIT(1 << 20);
    std::string demangled = source->name + (" [clone " + end + "]").str();
    struct pm_source_function *part = NULL;
    if (pm_cxx_name_coroutine(demangled.c_str(), &name)) {
        part = pm_source_function_new(pm_lasting((source->linkage + end).str()),
                                      pm_lasting(std::string(name.data, name.len)),
                                      source->local ? source->place.file : NULL, &source->place);
        if (!part)
            pm_no_memory();
    }
    pm_buf_release(&name);
    return part;
}

static void add_symbol(const emitted &code, const struct pm_source_function *source)
{
    struct pm_facts *facts = pm_unit_facts();
    pm_id symbol = pm_fact_symbol(facts, code.symbol, code.name);
    struct pm_source_function *part = part_of_coroutine(code, source);
    pm_id function = pm_fact_function(facts, part ? part : source);
    pm_fact_mapping(facts, symbol, PM_BASE_EXECUTES, function, PM_SOURCE_EXECUTES);
    if (part)
        pm_source_function_free(part);
}

static emitted begin_function(AsmPrinter *printer, const MachineFunction *given)
{
    emitted code = {};
    const Function &function = given->getFunction();
    code.printer = printer;
    /* The printer owns its function alone by now. */
    code.machine = const_cast<MachineFunction *>(given);
    code.source = given->callsEHReturn() ? NULL : source_of(function);
    code.name = pm_lasting(printer->getSymbol(&function)->getName().str());
    const char *local = NULL;
    if (code.source && (code.source->local || function.hasLocalLinkage()))
        local = code.source->place.file;
    else if (!code.source && function.hasLocalLinkage())
        local = pm_compilation.input.c_str();
    code.symbol = pm_id_of_symbol(code.name, local);
    code.section_symbol = section_symbol(code);
    code.begins_section =
        code.section_symbol == NULL || strcmp(code.section_symbol, code.name) == 0;
    code.entry_begins_records =
        code.section_symbol != NULL && code.source && pm_compilation.options.functions;
    return code;
}

static void put_sleds(const emitted &code)
{
    std::map<const MachineBasicBlock *, unsigned> depths = put_loop_sleds(code);
    if (code.source == NULL || !pm_compilation.options.functions ||
        code.machine->getFunction().hasFnAttribute(PM_ATTRIBUTE_INNER))
        return;
    stats.n_functions++;
    put_landing_sleds(code, depths);
    put_exit_sleds(code);
    put_entry_sled(code);
    add_symbol(code, code.source);
}

/* --- the late map --- */

static thread_local struct pm_code_lists late_map; /* of the function that is being emitted */
static thread_local pm_id mapped_symbol;           /* 0: it gets none */

static bool is_mapped(const Function &function)
{
    const struct pm_read_function *read =
        pm_compilation.options.map ? pm_read_function_of(function) : NULL;
    return read && read->mapped;
}

static void collect_map(const emitted &code)
{
    if (!is_mapped(code.machine->getFunction()))
        return;
    mapped_symbol = code.symbol;
    add_symbol(code, pm_read_function_of(code.machine->getFunction())->source);
    pm_map_collect(code.printer, code.machine, &late_map);
}

static void begin_code(AsmPrinter *printer, const MachineFunction *machine)
{
    late_map = {};
    mapped_symbol = 0;
    const Function &function = machine->getFunction();
    if (pm_compilation.is_taken_over)
        pm_copies_look(function);
    if (!function.hasFnAttribute(PM_ATTRIBUTE_SOURCE) && !has_marks(*machine) &&
        !is_mapped(function))
        return;
    emitted code = begin_function(printer, machine);
    put_sleds(code);
    collect_map(code);
}

static void end_code(AsmPrinter *printer, const MachineFunction *machine)
{
    if (mapped_symbol != 0)
        pm_map_write(printer, *machine, mapped_symbol, &late_map);
}

/* --- the printer --- */

static void write_section(AsmPrinter *printer)
{
    struct pm_buf chunk = PM_BUF_INIT(1 << 30);
    if (!pm_compilation.options.section)
        return;
    pm_facts_chunk(&chunk);
    if (chunk.len == 0)
        return;
    MCStreamer &out = *printer->OutStreamer;
    out.pm_push_section();
    out.pm_switch_section(printer->OutContext.getELFSection(PM_PIF_SECTION, ELF::SHT_PROGBITS, 0));
    out.emitBytes(StringRef(chunk.data, chunk.len));
    out.pm_pop_section();
    pm_buf_release(&chunk);
}

static void print_stats(void)
{
    fprintf(stderr,
            "perfmap: %s: %u functions with %u sleds, %u loops with %u sleds, %u nested loops "
            "without\n",
            pm_compilation.input.c_str(), stats.n_functions, stats.n_function_sleds, stats.n_loops,
            stats.n_loop_sleds, pm_n_nested_loops);
}

namespace
{
class handler : public AsmPrinterHandler
{
    AsmPrinter *printer;

  public:
    explicit handler(AsmPrinter *given) : printer(given) {}
    void beginModule(Module *module) override
    {
        section_symbols.clear();
        pm_take_over(*module);
    }
    void beginFunction(const MachineFunction *machine) override { begin_code(printer, machine); }
    void endFunction(const MachineFunction *machine) override { end_code(printer, machine); }
    void endModule() override
    {
        pm_map_end(printer);
        write_section(printer);
        if (!pm_compilation.is_linked)
            pm_facts_write_pif();
        if (pm_compilation.options.verbose)
            print_stats();
    }
#if LLVM_VERSION_MAJOR < 19
    void setSymbolSize(const MCSymbol *, uint64_t) override {}
    void beginInstruction(const MachineInstr *) override {}
    void endInstruction() override {}
#endif
};
} // namespace

static Target original;

static AsmPrinter *make_printer(TargetMachine &machine, std::unique_ptr<MCStreamer> &&streamer)
{
    AsmPrinter *printer = original.createAsmPrinter(machine, std::move(streamer));
#if LLVM_VERSION_MAJOR < 19
    printer->addAsmPrinterHandler(AsmPrinter::HandlerInfo(
        std::make_unique<handler>(printer), "perfmap", "PerfMap's sleds", "perfmap", "PerfMap"));
#else
    printer->addAsmPrinterHandler(std::make_unique<handler>(printer));
#endif
    return printer;
}

bool pm_code_register(const std::string &triple)
{
    static bool is_registered;
    std::string problem;
    if (is_registered)
        return true;
#if LLVM_VERSION_MAJOR < 22
    const Target *target = TargetRegistry::lookupTarget(triple, problem);
#else
    const Target *target = TargetRegistry::lookupTarget(Triple(triple), problem);
#endif
    if (target == NULL || !target->hasTargetMachine())
        return false;
    original = *target;
    TargetRegistry::RegisterAsmPrinter(const_cast<Target &>(*target), make_printer);
    is_registered = true;
    return true;
}
