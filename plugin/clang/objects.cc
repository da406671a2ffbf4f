/* Which variables, arrays and fields an instruction touches.
 *
 * The source says what is read and written at which place (touching.cc), and Clang gives that place
 * to the code: Expr::getExprLoc(). Instruction selection keeps one place of several: what it puts
 * into one instruction is known again by the load or store of LLVM's code that the memory operand
 * names. Where several touches have one place (macros; operands of one operator), what the address
 * is made of tells which one it is: a global variable, a parameter, a pointer that was loaded.
 *
 * Memory of the stack frame is named by the place alone: slots are shared by variables that do not
 * live at the same time.
 */
#include "map.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/CodeGen/MachineFrameInfo.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/MachineMemOperand.h"
#include "llvm/CodeGen/PseudoSourceValue.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/MC/MCSymbol.h"

#include <algorithm>
#include <map>

extern "C" {
#include "../emit/arguments.h"
}

using namespace llvm;

namespace
{
/* What an address is made of. */
struct base {
    bool is_own;              /* memory that the compiler made: spill slots, constants */
    bool is_local;            /* of the frame */
    std::vector<pm_id> nouns; /* of global variables, and pointers with PM_MAP_THROUGH */
    std::vector<unsigned> access;
};

/* A touch of the source at the place of some code. */
struct candidate {
    const DILocation *location;
    const struct pm_read_text *text;
    const struct pm_touch *touch;
};
using candidates = std::vector<candidate>;
} // namespace

/* --- touches at a place --- */

static bool is_at(const struct pm_place &place, const struct pm_place &code)
{
    return place.line == code.line && place.column == code.column && place.file == code.file;
}

static void add_candidate(candidates *out, const candidate &one)
{
    for (const candidate &known : *out)
        if (known.touch == one.touch && known.location == one.location)
            return;
    out->push_back(one);
}

/* outer: of operations that they may have become part of. */
static void find_touches(const DILocation *location, unsigned use, bool outer, candidates *out)
{
    struct pm_written_place code;
    if (!pm_written_place_of(location, &code) || !code.read->text)
        return;
    const struct pm_read_text *text = code.read->text;
    const std::vector<struct pm_touch> &touches = text->touches;
    if (outer) {
        for (const struct pm_touch &touch : touches)
            if (touch.use & use && is_at(touch.outer, code.place))
                add_candidate(out, {location, text, &touch});
        return;
    }
    auto at = std::lower_bound(touches.begin(), touches.end(), code.place,
                               [](const struct pm_touch &touch, const struct pm_place &place) {
                                   return pm_text_point_less(pm_place_point(&touch.place),
                                                             pm_place_point(&place));
                               });
    for (; at != touches.end() && at->place.line == code.place.line &&
           at->place.column == code.place.column;
         ++at)
        if (at->use & use && is_at(at->place, code.place))
            add_candidate(out, {location, text, &*at});
}

/* --- what addresses are made of --- */

static void add_noun(base *base, pm_id noun, unsigned access)
{
    if (noun == 0)
        return;
    base->nouns.push_back(noun);
    base->access.push_back(access);
}

/* By argument: which parameter of the source debug information says that it is, from 1. */
using described = std::map<const Value *, unsigned>;

template <class Variable> static void add_described(described *all, const Variable &one)
{
    const DILocation *location = one.getDebugLoc().get();
    unsigned number = one.getVariable()->getArg();
    if (number == 0 || !location || location->getInlinedAt() ||
        one.getNumVariableLocationOps() != 1 || one.getExpression()->getNumElements() != 0)
        return;
    all->insert({one.getVariableLocationOp(0), number});
}

static described described_parameters(const Function &function)
{
    described all;
    for (const Instruction &instruction : function.getEntryBlock()) {
#if LLVM_VERSION_MAJOR >= 19
        for (DbgVariableRecord &one : filterDbgVars(instruction.getDbgRecordRange()))
            if (one.isDbgValue())
                add_described(&all, one);
#endif
        if (const auto *one = dyn_cast<DbgValueInst>(&instruction))
            add_described(&all, *one);
    }
    return all;
}

/* 0: it does not say. */
static unsigned described_parameter(const Argument *argument)
{
    static thread_local const Function *function;
    static thread_local std::string name; /* addresses are used again */
    static thread_local described all;
    if (function != argument->getParent() || name != function->getName()) {
        function = argument->getParent();
        name = function->getName().str();
        all = described_parameters(*function);
    }
    auto found = all.find(argument);
    return found != all.end() ? found->second : 0;
}

/* Code of the function's text, which is called with something else. */
static bool has_other_parameters(const Function &function)
{
    StringRef symbol = function.getName();
    return pm_is_outlined(symbol) || symbol.find(".resume") != StringRef::npos ||
           symbol.find(".destroy") != StringRef::npos || symbol.find(".cleanup") != StringRef::npos;
}

/* Without a description they are those of the source, unless the optimisers changed what is
 * passed. */
static size_t parameter_index(const Argument *argument, size_t n_parameters)
{
    const Function *function = argument->getParent();
    size_t number = described_parameter(argument), index = argument->getArgNo();
    size_t n_hidden = function->hasStructRetAttr();
    if (number != 0)
        return number - 1;
    if (function->arg_size() != n_parameters + n_hidden || index < n_hidden)
        return n_parameters;
    return index - n_hidden;
}

static void add_argument(base *base, const Argument *argument)
{
    const Function *function = argument->getParent();
    const struct pm_read_function *read = pm_read_function_of(*function);
    if (argument->hasByValAttr()) {
        base->is_local = true;
        return;
    }
    if (!read || !read->text || has_other_parameters(*function))
        return;
    size_t index = parameter_index(argument, read->text->parameters.size());
    if (index < read->text->parameters.size())
        add_noun(base, read->text->parameters[index], PM_MAP_THROUGH);
}

/* A pointer that lay in memory: what it was loaded from names it. */
static void add_loaded(base *base, const LoadInst *load)
{
    candidates found;
    find_touches(load->getDebugLoc().get(), PM_MAP_READS, false, &found);
    for (const candidate &one : found)
        if (one.touch->n != 0)
            add_noun(base, one.text->accesses[one.touch->first].noun, PM_MAP_THROUGH);
}

static void add_object(base *base, const Value *object)
{
    if (const auto *intrinsic = dyn_cast<IntrinsicInst>(object))
        if (intrinsic->arg_size() == 1 && isa<GlobalValue>(intrinsic->getArgOperand(0)))
            object = intrinsic->getArgOperand(0); /* of a thread's own variable */
    if (const auto *global = dyn_cast<GlobalVariable>(object)) {
        pm_id noun = pm_noun_of_symbol(global->getName().str());
        if (noun == 0 && (global->isConstant() || global->hasPrivateLinkage()))
            base->is_own = true;
        else
            add_noun(base, noun, 0);
    } else if (isa<AllocaInst>(object)) {
        base->is_local = true;
    } else if (const auto *argument = dyn_cast<Argument>(object)) {
        add_argument(base, argument);
    } else if (const auto *load = dyn_cast<LoadInst>(object)) {
        add_loaded(base, load);
    }
}

static base base_of_pseudo(const MachineInstr &instruction, const PseudoSourceValue *pseudo)
{
    base base = {};
    const auto *slot = dyn_cast<FixedStackPseudoSourceValue>(pseudo);
    const MachineFrameInfo &frame = instruction.getMF()->getFrameInfo();
    base.is_own = true;
    if (slot && !frame.isFixedObjectIndex(slot->getFrameIndex()) &&
        !frame.isSpillSlotObjectIndex(slot->getFrameIndex())) {
        base.is_own = false;
        base.is_local = true;
    }
    return base;
}

static base base_of(const MachineInstr &instruction, const MachineMemOperand &operand)
{
    enum { STEPS_MAX = 16 };
    base base = {};
    if (const PseudoSourceValue *pseudo = operand.getPseudoValue())
        return base_of_pseudo(instruction, pseudo);
    const Value *address = operand.getValue();
    if (!address)
        return base;
    SmallVector<const Value *, 4> objects;
    getUnderlyingObjects(address, objects, NULL, STEPS_MAX);
    for (const Value *object : objects)
        add_object(&base, object);
    return base;
}

/* --- which touch is it? --- */

static bool has_access(const candidate &one, pm_id noun, unsigned through)
{
    for (uint32_t i = 0; i < one.touch->n; i++) {
        const struct pm_access &access = one.text->accesses[one.touch->first + i];
        if (access.noun == noun && (access.access & PM_MAP_THROUGH) == through)
            return true;
    }
    return false;
}

static bool is_of(const candidate &one, const base &base)
{
    for (size_t i = 0; i < base.nouns.size(); i++)
        if (has_access(one, base.nouns[i], base.access[i]))
            return true;
    return false;
}

template <typename Test> static void keep_if_any(candidates *list, Test test)
{
    candidates kept;
    for (const candidate &one : *list)
        if (test(one))
            kept.push_back(one);
    if (!kept.empty())
        list->swap(kept);
}

/* The loads or stores of LLVM's code that have the address: their places are more exact than the
 * instruction's. */
static void find_of_code(const Value *address, unsigned use, candidates *out)
{
    if (!address || isa<Constant>(address))
        return;
    for (const User *user : address->users()) {
        const auto *load = dyn_cast<LoadInst>(user);
        const auto *store = dyn_cast<StoreInst>(user);
        bool fits = (use & PM_MAP_READS && load) ||
                    (use & PM_MAP_WRITES && store && store->getPointerOperand() == address);
        if (fits)
            find_touches(cast<Instruction>(user)->getDebugLoc().get(), use, false, out);
    }
}

static candidates find_candidates(const MachineInstr &instruction, const Value *address,
                                  const base &base, unsigned use)
{
    candidates found;
    const DILocation *location = instruction.getDebugLoc().get();
    find_touches(location, use, false, &found);
    keep_if_any(&found, [&](const candidate &one) { return is_of(one, base); });
    bool fits = !found.empty() && (base.nouns.empty() || is_of(found[0], base));
    if (fits)
        return found;
    candidates of_code;
    find_of_code(address, use, &of_code);
    if (of_code.empty())
        find_touches(location, use, true, &of_code);
    if (found.empty())
        found = of_code;
    else
        for (const candidate &one : of_code)
            if (is_of(one, base))
                add_candidate(&found, one);
    keep_if_any(&found, [&](const candidate &one) { return is_of(one, base); });
    return found;
}

/* --- accesses --- */

static void add_access(std::vector<struct pm_access> *out, pm_id noun, unsigned access)
{
    if (noun != 0)
        out->push_back({noun, access});
}

/* What callers passed to a parameter of a function that was inlined. */
static void add_passed(const candidate &one, pm_id parameter, unsigned use,
                       std::vector<struct pm_access> *out)
{
    struct pm_written_place call;
    const std::vector<pm_id> &parameters = one.text->parameters;
    const DILocation *around = one.location->getInlinedAt();
    size_t index =
        (size_t)(std::find(parameters.begin(), parameters.end(), parameter) - parameters.begin());
    if (!around || index == parameters.size() || !pm_written_place_of(around, &call) ||
        !call.read->text)
        return;
    for (const struct pm_passed &passed : call.read->text->passed)
        if (passed.argument == index && is_at(passed.place, call.place)) {
            pm_noun_state(passed.noun);
            add_access(out, passed.noun, use);
        }
}

static void add_touch(const candidate &one, unsigned use, std::vector<struct pm_access> *out)
{
    for (uint32_t i = 0; i < one.touch->n; i++) {
        const struct pm_access &access = one.text->accesses[one.touch->first + i];
        unsigned through = access.access & PM_MAP_THROUGH;
        pm_noun_state(access.noun);
        add_access(out, access.noun, through | use);
        if (through && one.location)
            add_passed(one, access.noun, use, out);
    }
}

void pm_touch_accesses(const DILocation *location, const struct pm_read_text *text,
                       const struct pm_touch *touch, unsigned use,
                       std::vector<struct pm_access> *ret)
{
    add_touch({location, text, touch}, use, ret);
}

static void add_base(const base &base, unsigned use, std::vector<struct pm_access> *out)
{
    for (size_t i = 0; i < base.nouns.size(); i++) {
        pm_noun_state(base.nouns[i]);
        add_access(out, base.nouns[i], base.access[i] | use);
    }
}

/* One memory operand. */
static void touch(const MachineInstr &instruction, const Value *address, const base &base,
                  unsigned use, struct pm_touched *ret)
{
    if (base.is_own)
        return;
    candidates found = find_candidates(instruction, address, base, use);
    bool has_globals = std::count(base.access.begin(), base.access.end(), 0u) != 0;
    bool is_pointer = !base.is_local && !has_globals && address;
    size_t before = ret->accesses.size();
    for (const candidate &one : found)
        if (one.touch->goes_through || (has_globals ? is_of(one, base) : !is_pointer))
            add_touch(one, one.touch->use & use, &ret->accesses);
    ret->elsewhere |= ret->accesses.size() == before && !base.is_local ? use : 0;
    if (has_globals || ret->accesses.size() == before)
        add_base(base, use, &ret->accesses);
    if (ret->accesses.size() == before && instruction.getDebugLoc())
        ret->unnamed = true;
}

static unsigned use_of(bool reads, bool writes)
{
    unsigned use = 0;
    if (reads)
        use |= PM_MAP_READS;
    if (writes)
        use |= PM_MAP_WRITES;
    return use;
}

/* --- calls --- */

static std::string callee_of(const MachineInstr &call)
{
    for (const MachineOperand &operand : call.operands()) {
        if (operand.isGlobal())
            return operand.getGlobal()->getName().str();
        if (operand.isSymbol())
            return operand.getSymbolName();
        if (operand.isMCSymbol()) /* at -O0 */
            return operand.getMCSymbol()->getName().str();
    }
    return "";
}

/* Calls of C++'s library: with access 0, for what it does with the objects is another matter. What
 * the library's own code calls, which was inlined, is for whatever the statement is. */
static void touch_library_call(const MachineInstr &call, struct pm_touched *ret)
{
    struct pm_written_place place;
    if (!pm_compilation.is_cxx || !pm_written_place_of(call.getDebugLoc().get(), &place))
        return;
    if (!place.read->text) {
        ret->unnamed = true;
        return;
    }
    for (const struct pm_handed &handed : place.read->text->handed) {
        if (!is_at(handed.place, place.place))
            continue;
        ret->unnamed |= handed.noun == 0;
        pm_noun_state(handed.noun);
        add_access(&ret->accesses, handed.noun, 0);
    }
}

/* Calls of memory functions, which loops and copies of structs may have become. */
static void touch_call(const MachineInstr &call, struct pm_touched *ret)
{
    const char *arguments = pm_data_arguments(pm_builtin_free_name(callee_of(call).c_str()));
    unsigned uses = 0;
    for (unsigned i = 0; arguments && arguments[i]; i++)
        uses |= pm_argument_use(arguments, i);
    if (!arguments || uses == 0) {
        touch_library_call(call, ret);
        return;
    }
    candidates found;
    const DILocation *location = call.getDebugLoc().get();
    find_touches(location, PM_MAP_READS | PM_MAP_WRITES, false, &found);
    unsigned done = 0;
    for (const candidate &one : found)
        done |= one.touch->use;
    if (uses & PM_USE_READS && !(done & PM_MAP_READS))
        find_touches(location, PM_MAP_READS, true, &found);
    if (uses & PM_USE_WRITES && !(done & PM_MAP_WRITES))
        find_touches(location, PM_MAP_WRITES, true, &found);
    for (const candidate &one : found)
        add_touch(one, one.touch->use, &ret->accesses);
    ret->unnamed |= found.empty();
}

/* --- the whole --- */

/* An asm's operands are registers, mostly. */
static bool has_memory_operand(const MachineInstr &instruction)
{
    for (unsigned i = InlineAsm::MIOp_FirstOperand; i < instruction.getNumOperands(); i++) {
        const MachineOperand &operand = instruction.getOperand(i);
#if LLVM_VERSION_MAJOR < 18
        if (operand.isImm() && InlineAsm::isMemKind((unsigned)operand.getImm()))
            return true;
        if (operand.isImm())
            i += InlineAsm::getNumOperandRegisters((unsigned)operand.getImm());
#else
        if (!operand.isImm())
            continue;
        const InlineAsm::Flag flag((uint32_t)operand.getImm());
        if (flag.isMemKind())
            return true;
        i += flag.getNumOperandRegisters();
#endif
    }
    return false;
}

void pm_objects_of(const MachineInstr &instruction, struct pm_touched *ret)
{
    *ret = {};
    for (const MachineMemOperand *operand : instruction.memoperands())
        touch(instruction, operand->getValue(), base_of(instruction, *operand),
              use_of(operand->isLoad(), operand->isStore()), ret);
    if (instruction.isCall()) {
        touch_call(instruction, ret);
    } else if (instruction.isInlineAsm()) {
        candidates found;
        if (!has_memory_operand(instruction))
            return;
        find_touches(instruction.getDebugLoc().get(), PM_MAP_READS | PM_MAP_WRITES, false, &found);
        for (const candidate &one : found)
            add_touch(one, one.touch->use, &ret->accesses);
    } else if (instruction.memoperands_empty() && instruction.mayLoadOrStore()) {
        unsigned use = use_of(instruction.mayLoad(), instruction.mayStore());
        touch(instruction, NULL, {}, use, ret);
    }
    ret->accesses.resize(pm_accesses_sort(ret->accesses.data(), ret->accesses.size()));
}
