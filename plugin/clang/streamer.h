/* How LLVM's streamers change sections: by other names before LLVM 15. */
#ifndef PM_CLANG_STREAMER_H
#define PM_CLANG_STREAMER_H

#include "llvm/Config/llvm-config.h"
#include "llvm/MC/MCStreamer.h"

#if LLVM_VERSION_MAJOR < 15
#define pm_push_section PushSection
#define pm_pop_section PopSection
#define pm_switch_section SwitchSection
#else
#define pm_push_section pushSection
#define pm_pop_section popSection
#define pm_switch_section switchSection
#endif

#endif
