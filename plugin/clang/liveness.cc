/* Which registers a sled's trampoline may use: those that are dead at the sled, and that callers
 * do not expect to be kept. Code is final here, so nothing need be declared: no optimiser of
 * LLVM's looks at it any more, but for -enable-ipra, where callers know what a function changes. */
#include "backend.h"

#include "llvm/CodeGen/LivePhysRegs.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

enum { N_CANDIDATES = 9, MAX_FREE = 4, ALL = 0xffff };

/* In which order registers are offered to the runtime: rdtsc needs rax and rdx, the rest by size
 * of encoding. Hardware numbers. */
static const struct {
    const char *name;
    unsigned hardware;
} offered[N_CANDIDATES] = {
    {"RAX", 0}, {"RDX", 2}, {"RCX", 1}, {"R11", 11}, {"R10", 10},
    {"R9", 9},  {"R8", 8},  {"RSI", 6}, {"RDI", 7},
};

/* LLVM's numbers of these: they differ from version to version. */
static const MCRegister *registers(const TargetRegisterInfo &info)
{
    static thread_local MCRegister numbers[N_CANDIDATES];
    static thread_local bool known;
    for (unsigned number = 1; !known && number < info.getNumRegs(); number++)
        for (int i = 0; i < N_CANDIDATES; i++)
            if (strcmp(info.getName(number), offered[i].name) == 0)
                numbers[i] = number;
    known = true;
    return numbers;
}

/* Functions that promise their callers more than the ABI, or of which callers know more. */
static bool keeps_registers(const MachineFunction &machine)
{
    const Function &function = machine.getFunction();
    CallingConv::ID convention = function.getCallingConv();
    return (convention != CallingConv::C && convention != CallingConv::Fast) ||
           function.hasFnAttribute("no_caller_saved_registers") ||
           machine.getTarget().Options.EnableIPRA || !machine.getRegInfo().tracksLiveness();
}

static void find_live_at_entry(const MachineFunction &machine, LivePhysRegs *live)
{
    live->addLiveIns(machine.front());
    for (const auto &argument : machine.getRegInfo().liveins())
        live->addReg(argument.first);
}

static void find_live_before(const MachineInstr *before, LivePhysRegs *live)
{
    const MachineBasicBlock &block = *before->getParent();
    live->addLiveOuts(block);
    for (auto at = block.rbegin(); at != block.rend(); ++at) {
        live->stepBackward(*at);
        if (&*at == before)
            break;
    }
}

unsigned pm_must_save(MachineFunction &machine, MachineInstr *before)
{
    unsigned must_save = ALL, n_free = 0;
    if (keeps_registers(machine))
        return ALL;
    LivePhysRegs live(*machine.getSubtarget().getRegisterInfo());
    if (before)
        find_live_before(before, &live);
    else
        find_live_at_entry(machine, &live);
    const MCRegister *numbers = registers(*machine.getSubtarget().getRegisterInfo());
    for (int i = 0; i < N_CANDIDATES && n_free < MAX_FREE; i++)
        if (numbers[i] && live.available(machine.getRegInfo(), numbers[i])) {
            must_save &= ~(1u << offered[i].hardware);
            n_free++;
        }
    return must_save;
}
