/* The compiler's own headers, and the one place where GCC's versions differ. Tried with 11 to 16
 * (docs/COMPILERS.md).
 *
 * What GCC's system.h poisons (malloc, strdup, ...) is used by inline functions of other libraries,
 * so those come first. Nothing here depends on the rest of PerfMap. A difference of a later GCC is
 * to be settled here, by a name PM_GCC_* or a function pm_gcc_* that all versions understand; the
 * other files hold no #if on the version.
 */
#ifndef PM_GCC_COMMON_H
#define PM_GCC_COMMON_H

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <vector>
#include <map>
#include <set>
#include <algorithm>
#define XXH_INLINE_ALL
#include <xxhash.h>

#ifndef _Noreturn /* C's word in mapping/base/status.h; C++ has none with that spelling */
#define _Noreturn __attribute__((noreturn))
#endif

/* GCC's headers are not clean under our warnings. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#include "bversion.h"
#include "gcc-plugin.h"
#include "plugin-version.h"
#include "intl.h"
#include "target.h"
#include "rtl.h"
#include "tree.h"
#include "gimple.h"
#include "predict.h"
#include "tree-pass.h"
#include "ssa.h"
#include "memmodel.h"
#include "tm_p.h"
#include "stor-layout.h"
#include "stringpool.h"
#include "attribs.h"
#include "cgraph.h"
#include "cfgloop.h"
#include "context.h"
#include "diagnostic.h"
#include "df.h"
#include "dominance.h"
#include "emit-rtl.h"
#include "except.h"
#include "file-prefix-map.h"
#include "regs.h"
#include "insn-constants.h"
#include "insn-flags.h"
#include "function-abi.h"
#include "function.h"
#include "gimple-iterator.h"
#include "gimple-pretty-print.h"
#include "gimple-walk.h"
#include "gimplify.h"
#include "gimplify-me.h"
#include "langhooks.h"
#include "omp-general.h"
#include "options.h"
#include "opts.h"
#include "output.h"
#include "print-tree.h"
#include "rtl-iter.h"
#include "toplev.h"
#include "tree-affine.h"
#include "tree-cfg.h"
#include "tree-dfa.h"
#include "tree-eh.h"
#include "tree-inline.h"
#include "tree-into-ssa.h"
#include "tree-iterator.h"
#include "tree-nested.h"
#include "tree-pretty-print.h"
#include "tree-scalar-evolution.h"
#include "tree-ssa.h"
#include "tree-ssa-loop-manip.h"
#include "tree-ssa-loop.h"
#include "tree-ssa-loop-niter.h"
#include "varasm.h"
#pragma GCC diagnostic pop

/* OpenMP: `masked` came with 12; since 13 what `ordered` waits for has a clause of its own. */
#if GCCPLUGIN_VERSION_MAJOR >= 12
#define PM_GCC_OMP_MASKED GIMPLE_OMP_MASKED
#else
#define PM_GCC_OMP_MASKED (-1)
#endif
#if GCCPLUGIN_VERSION_MAJOR >= 13
#define PM_GCC_OMP_CLAUSE_DOACROSS OMP_CLAUSE_DOACROSS
#else
#define PM_GCC_OMP_CLAUSE_DOACROSS OMP_CLAUSE_DEPEND
#endif

/* Can the code that is being generated hold sleds? 64-bit x86 only. (TARGET_X32 is i386.h's alone;
 * TARGET_64BIT is not.) */
#ifdef TARGET_X32
#define PM_GCC_X86 1
#define PM_GCC_TARGET_HAS_SLEDS (TARGET_64BIT && !TARGET_X32)
#else
#define PM_GCC_X86 0
#define PM_GCC_TARGET_HAS_SLEDS false
#endif

static inline bool pm_gcc_is_compare_and_swap(const_rtx x)
{
#if PM_GCC_X86
    return GET_CODE(x) == UNSPEC_VOLATILE && XINT(x, 1) == UNSPECV_CMPXCHG;
#else
    return false;
#endif
}

/* libiberty's, in every compiler; its header is not among the plugin headers. The result is to be
 * freed; NULL: not a mangled name. */
extern "C" __attribute__((weak)) char *cplus_demangle_v3(const char *mangled, int options);
static inline char *pm_gcc_demangle(const char *mangled)
{
    return cplus_demangle_v3 ? cplus_demangle_v3(mangled, 0) : NULL;
}
/* With parameters: DMGL_PARAMS and DMGL_ANSI of libiberty's demangle.h, which GCC does not
 * install. */
static inline char *pm_gcc_demangle_signature(const char *mangled)
{
    return cplus_demangle_v3 ? cplus_demangle_v3(mangled, 1 | 2) : NULL;
}

/* Loops by number; the tree's root is no loop. The list iterators changed in 12, the numbers did
 * not. */
#define PM_FOR_EACH_LOOP(fun, loop)                                                   \
    for (unsigned pm_loop_no_ = 1; pm_loop_no_ < number_of_loops(fun); pm_loop_no_++) \
        if (class loop *loop = get_loop(fun, pm_loop_no_))

/* --- passes: a name, a gate and a body, instead of a class each ---
 *
 *     pm_gcc_register_pass(plugin_name, pm_gcc_gimple_pass("perfmap_loops", PROP_cfg, gate, run),
 *                          "fix_loops", 1, PASS_POS_INSERT_BEFORE);
 */
typedef bool pm_gcc_gate(function *);
typedef unsigned pm_gcc_body(function *);

template <class base, opt_pass_type type> class pm_gcc_pass final : public base
{
  public:
    pm_gcc_pass(const pass_data &data, pm_gcc_gate *gate_function, pm_gcc_body *body_function)
        : base(data, g), gate_function_(gate_function), body_function_(body_function)
    {
    }
    bool gate(function *fun) override { return gate_function_ == NULL || gate_function_(fun); }
    unsigned int execute(function *fun) override { return body_function_(fun); }
    opt_pass *clone() override { return new pm_gcc_pass(*this, gate_function_, body_function_); }

  private:
    pm_gcc_gate *gate_function_;
    pm_gcc_body *body_function_;
};

static inline pass_data pm_gcc_pass_data(opt_pass_type type, const char *name,
                                         unsigned properties_required)
{
    pass_data data = {type, name, OPTGROUP_NONE, TV_NONE, properties_required, 0, 0, 0, 0};
    return data;
}

/* gate NULL: always. The body's result is a set of TODO_ flags. */
static inline opt_pass *pm_gcc_gimple_pass(const char *name, unsigned properties_required,
                                           pm_gcc_gate *gate, pm_gcc_body *body)
{
    return new pm_gcc_pass<gimple_opt_pass, GIMPLE_PASS>(
        pm_gcc_pass_data(GIMPLE_PASS, name, properties_required), gate, body);
}

static inline opt_pass *pm_gcc_rtl_pass(const char *name, pm_gcc_gate *gate, pm_gcc_body *body)
{
    return new pm_gcc_pass<rtl_opt_pass, RTL_PASS>(pm_gcc_pass_data(RTL_PASS, name, 0), gate, body);
}

/* instance 0: at every instance of the reference pass. */
static inline void pm_gcc_register_pass(const char *plugin_name, opt_pass *pass,
                                        const char *reference, int instance,
                                        pass_positioning_ops position)
{
    struct register_pass_info info = {pass, reference, instance, position};
    register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, NULL, &info);
}

#endif
