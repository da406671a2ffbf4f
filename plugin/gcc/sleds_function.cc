/* Function sleds: at entry, at each return, at each tail call, at each landing pad of exceptions.
 *
 * An RTL pass after prologue and epilogue exist, because only there the stack pointer is CFA - 8 at
 * the entry and at every exit: it names the frame, no red zone is in use, tail calls are already
 * tail calls, and it is known which registers are dead. Earlier places (tried: after "ssa", after
 * "einline", TRY_FINALLY in GENERIC) slowed C++ by a third to a half and lost the tail calls. Also
 * after the blocks have their order ("bbro"): GCC reckons 128 bytes for each line of an asm's text
 * and therefore repeats no short end of a function that has one, so that there was a jump to it
 * more (SQLite: 0.2 % of the instructions).
 *
 * -fipa-ra: a caller may keep a value in a caller-saved register over a call of a function that is
 * known not to change it. The registers that the runtime may use are therefore clobbered by the
 * sled's asm; this pass runs before the summary of changed registers is made (in "final"), so
 * callers learn of it. A register is never called free unless it was clobbered.
 */
#include "sleds.h"

extern "C" {
#include "../emit/sled_text.h"
}

#if PM_GCC_X86

/* At which points, in which order, registers are offered to the runtime: rdtsc needs rax and rdx,
 * the rest by size of encoding. Hardware numbers, and GCC's. */
static const struct {
    unsigned hardware, gcc;
} free_candidates[] = {
    {0, AX_REG}, {2, DX_REG}, {1, CX_REG}, {11, R11_REG}, {10, R10_REG},
    {9, R9_REG}, {8, R8_REG}, {6, SI_REG}, {7, DI_REG},
};
enum { MAX_FREE = 4, SLED_BYTES = 5 };

/* Functions that promise their callers more than the ABI: what they may clobber is settled before
 * the prologue is made. */
static bool keeps_all_registers(tree function_decl)
{
    tree attributes = TYPE_ATTRIBUTES(TREE_TYPE(function_decl));
    return lookup_attribute("no_caller_saved_registers", attributes) ||
           lookup_attribute("interrupt", attributes);
}

/* What the function at hand changes without its sleds, as -fipa-ra will find it. */
static HARD_REG_SET changed_registers;

static void find_changed_registers(function *fun)
{
    basic_block bb;
    rtx_insn *insn;
    CLEAR_HARD_REG_SET(changed_registers);
    FOR_EACH_BB_FN(bb, fun)
        FOR_BB_INSNS(bb, insn) {
            HARD_REG_SET set;
            if (!NONDEBUG_INSN_P(insn))
                continue;
            find_all_hard_reg_sets(insn, &set, false);
            changed_registers |= set;
            if (CALL_P(insn))
                changed_registers |= insn_callee_abi(insn).full_reg_clobbers();
        }
}

static bool may_be_free(unsigned number, bitmap live)
{
    return !REGNO_REG_SET_P(live, number) && !fixed_regs[number] && !global_regs[number] &&
           TEST_HARD_REG_BIT(crtl->abi->full_reg_clobbers(), number);
}

/* A few general registers that are dead in `live` and that the ABI lets this function change, as a
 * set of GCC's numbers: first those that it changes anyway, for each other one is lost to callers
 * (SQLite: 0.35 % of moves more). ret_must_save: hardware bits of all others. */
static HARD_REG_SET free_registers(bitmap live, unsigned *ret_must_save)
{
    HARD_REG_SET free_set;
    CLEAR_HARD_REG_SET(free_set);
    *ret_must_save = 0xffff;
    if (keeps_all_registers(current_function_decl))
        return free_set;
    int n_free = 0;
    for (bool is_changed : {true, false})
        for (const auto &candidate : free_candidates) {
            if (n_free == MAX_FREE || !may_be_free(candidate.gcc, live) ||
                (bool)TEST_HARD_REG_BIT(changed_registers, candidate.gcc) != is_changed)
                continue;
            SET_HARD_REG_BIT(free_set, candidate.gcc);
            *ret_must_save &= ~(1u << candidate.hardware);
            n_free++;
        }
    return free_set;
}

/* One volatile asm that emits the text, with the flags and the free registers clobbered. */
static rtx asm_pattern(const char *text, const HARD_REG_SET &free_set)
{
    rtx body = gen_rtx_ASM_OPERANDS(VOIDmode, ggc_strdup(text), "", 0, rtvec_alloc(0),
                                    rtvec_alloc(0), rtvec_alloc(0), UNKNOWN_LOCATION);
    MEM_VOLATILE_P(body) = 1;
    std::vector<rtx> parts = {body, gen_rtx_CLOBBER(VOIDmode, gen_rtx_REG(CCmode, FLAGS_REG))};
    for (const auto &candidate : free_candidates)
        if (TEST_HARD_REG_BIT(free_set, candidate.gcc))
            parts.push_back(gen_rtx_CLOBBER(VOIDmode, gen_rtx_REG(DImode, candidate.gcc)));
    return gen_rtx_PARALLEL(VOIDmode, gen_rtvec_v((int)parts.size(), parts.data()));
}

/* Of each section of code that functions share, the symbol that its records are tied to: of the
 * first function in it. One section of records for one of code: with one for each function, as
 * walks all of that name whenever it opens one, and all .reloc for each (8000 functions: 3.0 s,
 * not 0.4). */
static std::map<section *, std::string> symbol_of_section;

static bool is_alone_in_section(tree decl)
{
    return flag_function_sections || crtl->has_bb_partition ||
           DECL_COMDAT_GROUP(decl) != NULL_TREE || DECL_ONE_ONLY(decl);
}

/* The symbol of a function in the section of this one, for blocks that lie there; NULL for those of
 * the other part of a function that is split into a hot and a cold one, and for names that an asm's
 * text cannot hold. */
static const char *section_symbol(basic_block bb)
{
    basic_block first = ENTRY_BLOCK_PTR_FOR_FN(cfun)->next_bb;
    if (crtl->has_bb_partition && BB_PARTITION(bb) != BB_PARTITION(first))
        return NULL;
    const char *name = XSTR(XEXP(DECL_RTL(current_function_decl), 0), 0);
    name = targetm.strip_name_encoding(name);
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    if (strlen(name) >= PM_SLED_SYMBOL_MAX || name[strspn(name, plain)] != 0)
        return NULL;
    if (is_alone_in_section(current_function_decl))
        return name;
    section *code = function_section(current_function_decl);
    return symbol_of_section.emplace(code, name).first->second.c_str();
}

/* Whether the records of this function begin a section of them. */
static bool begins_section(const char *symbol)
{
    const char *name = XSTR(XEXP(DECL_RTL(current_function_decl), 0), 0);
    return symbol == NULL || strcmp(symbol, targetm.strip_name_encoding(name)) == 0;
}

/* __builtin_eh_return moves the stack pointer away before it returns: only unwinders use it. */
static bool gets_function_sleds(function *fun)
{
    return pm_options.functions && !crtl->calls_eh_return && pm_function_selected(fun->decl);
}

/* The records of the function at hand that are tied to its symbol: the entry's begins them. Not
 * so where the entry has no such record or may have several. */
static bool entry_begins_records;

static bool entry_has_record(function *fun)
{
    basic_block entry = single_succ(ENTRY_BLOCK_PTR_FOR_FN(fun));
    return gets_function_sleds(fun) && !flag_split_stack && section_symbol(entry) != NULL;
}

/* A sled in bb, at a point where the registers in `live` are live. */
static rtx sled_pattern(basic_block bb, bitmap live, unsigned kind, unsigned flags, pm_id id)
{
    unsigned must_save;
    HARD_REG_SET free_set = free_registers(live, &must_save);
    const char *symbol = section_symbol(bb);
    bool refers = begins_section(symbol) && (kind == PM_SLED_ENTRY || !entry_begins_records);
    struct pm_buf text = PM_BUF_INIT(PM_SLED_TEXT_MAX);
    pm_sled_text(&text, "%=", symbol, refers, kind, flags, must_save, id);
    if (text.failed)
        fatal_error(UNKNOWN_LOCATION, "perfmap: no memory for a sled");
    rtx pattern = asm_pattern(text.data, free_set);
    pm_buf_release(&text);
    return pattern;
}

/* On the edge and not before the first insn of its block: that block may be the header of a loop.
 */
static void put_entry_sled(edge e, pm_id id)
{
    rtx pattern = sled_pattern(e->dest, DF_LR_IN(e->dest), PM_SLED_ENTRY, PM_SLED_SP_AT_CFA, id);
    start_sequence();
    emit_insn(pattern);
    rtx_insn *sequence = get_insns();
    end_sequence();
    insert_insn_on_edge(sequence, e);
    pm_sleds_stats.n_function_sleds++;
}

static bool calls_morestack(basic_block bb)
{
    rtx_insn *insn;
    FOR_BB_INSNS(bb, insn) {
        rtx call = CALL_P(insn) ? get_call_rtx_from(insn) : NULL_RTX;
        rtx callee = call && MEM_P(XEXP(call, 0)) ? XEXP(XEXP(call, 0), 0) : NULL_RTX;
        if (callee && GET_CODE(callee) == SYMBOL_REF && !strcmp(XSTR(callee, 0), "__morestack"))
            return true;
    }
    return false;
}

/* Usually one sled on the edge from the entry. With -fsplit-stack (Go's default) a function begins
 * with "enough stack? else call __morestack", which gold must find at the function's first byte,
 * and whose other way goes on on another stack: then one sled on either way out of that check,
 * where the stack pointer is what it will be at the exits. */
static void put_entry_sleds(function *fun, pm_id id)
{
    edge entry = single_succ_edge(ENTRY_BLOCK_PTR_FOR_FN(fun));
    basic_block check = entry->dest;
    if (any_condjump_p(BB_END(check)) && EDGE_COUNT(check->succs) == 2) {
        bool falls = calls_morestack(FALLTHRU_EDGE(check)->dest);
        edge more = falls ? FALLTHRU_EDGE(check) : BRANCH_EDGE(check);
        edge enough = falls ? BRANCH_EDGE(check) : FALLTHRU_EDGE(check);
        if (single_succ_p(more->dest) && calls_morestack(more->dest)) {
            put_entry_sled(enough, id);
            put_entry_sled(single_succ_edge(more->dest), id);
            return;
        }
    }
    put_entry_sled(entry, id);
}

/* The kind of exit that a block ends with, 0: it is none. */
static unsigned exit_kind(basic_block bb)
{
    rtx_insn *last = BB_END(bb);
    if (JUMP_P(last) && returnjump_p(last))
        return PM_SLED_RETURN;
    if (CALL_P(last) && SIBLING_CALL_P(last))
        return PM_SLED_TAIL;
    return 0;
}

static void put_exit_sled(basic_block bb, unsigned kind, pm_id id)
{
    rtx_insn *last = BB_END(bb);
    bitmap live = BITMAP_ALLOC(NULL);
    bitmap_copy(live, DF_LR_OUT(bb));
    df_simulate_initialize_backwards(bb, live);
    df_simulate_one_insn_backwards(bb, last, live);
    emit_insn_before_noloc(sled_pattern(bb, live, kind, PM_SLED_SP_AT_CFA, id), last, bb);
    BITMAP_FREE(live);
    pm_sleds_stats.n_function_sleds++;
}

/* Is this the asm that sleds_loop.cc put in? */
static bool is_loop_sled(rtx_insn *insn, unsigned *ret_kind, unsigned *ret_flags, pm_id *ret_id)
{
    const_rtx body = NONJUMP_INSN_P(insn) ? extract_asm_operands(PATTERN(insn)) : NULL;
    return body && pm_sled_text_parse(ASM_OPERANDS_TEMPLATE(body), ret_kind, ret_flags, ret_id) &&
           *ret_kind >= PM_SLED_LOOP_ENTER;
}

/* Loop sleds were made before registers were given out, so their records call none free. Now it is
 * known which are dead there: they are clobbered and called free, by the same rule as in function
 * sleds. (A counting trampoline then takes 0.9 ns in place of 2.4.) */
static void free_loop_sled_registers(basic_block bb)
{
    unsigned kind, flags;
    pm_id id;
    rtx_insn *insn;
    bitmap live = BITMAP_ALLOC(NULL);
    bitmap_copy(live, DF_LR_OUT(bb));
    df_simulate_initialize_backwards(bb, live);
    FOR_BB_INSNS_REVERSE(bb, insn) {
        if (!NONDEBUG_INSN_P(insn))
            continue;
        if (is_loop_sled(insn, &kind, &flags, &id)) {
            PATTERN(insn) = sled_pattern(bb, live, kind, flags, id);
            INSN_CODE(insn) = -1;
            df_insn_rescan(insn);
        }
        df_simulate_one_insn_backwards(bb, insn, live);
    }
    BITMAP_FREE(live);
}

static bool has_loop_sled(basic_block bb)
{
    unsigned kind, flags;
    pm_id id;
    rtx_insn *insn;
    FOR_BB_INSNS(bb, insn)
        if (is_loop_sled(insn, &kind, &flags, &id))
            return true;
    return false;
}

/* The pad gets the exception in registers, and is rare: none is called free. The stack pointer
 * is where it was before the call. */
static void put_landing_sled(basic_block bb, unsigned depth, pm_id id)
{
    const char *symbol = section_symbol(bb);
    bool refers = begins_section(symbol) && !entry_begins_records;
    struct pm_buf text = PM_BUF_INIT(PM_SLED_TEXT_MAX);
    HARD_REG_SET none;
    CLEAR_HARD_REG_SET(none);
    pm_sled_text(&text, "%=", symbol, refers, PM_SLED_LAND, depth, 0xffff, id);
    if (text.failed)
        fatal_error(UNKNOWN_LOCATION, "perfmap: no memory for a sled");
    emit_insn_after_noloc(asm_pattern(text.data, none), bb_note(bb), bb);
    pm_buf_release(&text);
    pm_sleds_stats.n_function_sleds++;
}

static void put_landing_sleds(function *fun, pm_id id)
{
    std::map<int, unsigned> depths; /* by the index of the block, for several pads may be one */
    eh_landing_pad pad;
    if (fun->eh == NULL)
        return;
    for (unsigned i = 1; vec_safe_iterate(fun->eh->lp_array, i, &pad); i++)
        if (pad != NULL && pad->landing_pad != NULL && LABEL_P(pad->landing_pad)) {
            basic_block bb = BLOCK_FOR_INSN(pad->landing_pad);
            if (bb != NULL) {
                unsigned &depth = depths[bb->index];
                depth = MAX(depth, pm_sleds_landing_depth(pad->index));
            }
        }
    for (const auto &landing : depths)
        put_landing_sled(BASIC_BLOCK_FOR_FN(fun, landing.first), landing.second, id);
}

static void put_function_sleds(function *fun)
{
    pm_id id = pm_symbol_id(fun->decl);
    put_entry_sleds(fun, id);
    pm_sleds_stats.n_functions++;
    basic_block bb;
    FOR_EACH_BB_FN(bb, fun) {
        unsigned kind = exit_kind(bb);
        if (kind != 0)
            put_exit_sled(bb, kind, id);
    }
    put_landing_sleds(fun, id);
    commit_edge_insertions();
    pm_late_symbol(fun->decl);
}

/* Until the blocks have their order, a no-operation of a sled's length stands where an exit's
 * sled will be: so GCC repeats an end of a function when it is short also with the sled in it. */
static unsigned put_placeholders(function *fun)
{
    basic_block bb;
    if (!gets_function_sleds(fun))
        return 0;
    FOR_EACH_BB_FN(bb, fun)
        if (exit_kind(bb) != 0)
            emit_insn_before_noloc(gen_nops(GEN_INT(SLED_BYTES)), BB_END(bb), bb);
    return 0;
}

static void remove_placeholders(function *fun)
{
    basic_block bb;
    FOR_EACH_BB_FN(bb, fun)
        for (rtx_insn *insn = BB_HEAD(bb), *next; insn != NEXT_INSN(BB_END(bb)); insn = next) {
            next = NEXT_INSN(insn);
            if (NONJUMP_INSN_P(insn) && GET_CODE(PATTERN(insn)) == UNSPEC_VOLATILE &&
                XINT(PATTERN(insn), 1) == UNSPECV_NOPS)
                delete_insn(insn);
        }
}

static bool gate_sleds(function *)
{
    return pm_sleds_possible();
}

static unsigned put_sleds(function *fun)
{
    basic_block bb;
    remove_placeholders(fun);
    df_analyze();
    find_changed_registers(fun);
    entry_begins_records = entry_has_record(fun);
    FOR_EACH_BB_FN(bb, fun)
        if (has_loop_sled(bb))
            free_loop_sled_registers(bb);
    if (gets_function_sleds(fun))
        put_function_sleds(fun);
    return 0;
}

void pm_sleds_function_register(const char *plugin_name)
{
    pm_gcc_register_pass(plugin_name,
                         pm_gcc_rtl_pass("perfmap_exits", gate_sleds, put_placeholders),
                         "pro_and_epilogue", 1, PASS_POS_INSERT_AFTER);
    pm_gcc_register_pass(plugin_name, pm_gcc_rtl_pass("perfmap_functions", gate_sleds, put_sleds),
                         "bbro", 1, PASS_POS_INSERT_AFTER);
}

#else

void pm_sleds_function_register(const char *) {}

#endif
