/* Equal ends of several blocks, of which the compiler keeps one (-fcrossjumping: -O2, and from
 * one instruction on at -Os). What is left has the statement of one of them only, so it is found
 * out here what the others were.
 *
 * Before "jump2" each instruction gets a key: of its pattern, of those up to the end of its
 * block, and of what follows the block. One that is gone when there still are blocks, while one
 * of the same key is left, is done by that.
 */
#include "map.h"
#include "table.h"

struct tail {
    uint64_t key;
    location_t location;
};

static std::vector<struct tail> tails; /* by INSN_UID; key 0: none */
static tree tails_function;            /* that they are of */
static struct pm_table<uint64_t, int> lost_by_key;
static std::vector<std::vector<location_t>> lost;

static uint64_t hash_of(const_rtx x);

static uint64_t hash_operand(const_rtx x, char format, int i)
{
    bool is_asm = GET_CODE(x) == ASM_OPERANDS || GET_CODE(x) == ASM_INPUT;
    uint64_t hash = 0;
    switch (format) {
    case 'e':
        return hash_of(XEXP(x, i));
    case 'E':
        for (int k = 0; k < XVECLEN(x, i); k++)
            hash = pm_hash_join(hash, hash_of(XVECEXP(x, i, k)));
        return hash;
    case 'i':
        return is_asm ? 0 : (uint64_t)XINT(x, i); /* where it is written */
    case 'w':
        return (uint64_t)XWINT(x, i);
    case 's':
        for (const char *p = XSTR(x, i); p != NULL && *p != 0; p++)
            hash = pm_hash_join(hash, (unsigned char)*p);
        return hash;
    case 'u':
        return pm_hash(XEXP(x, i));
    default:
        return 0;
    }
}

static uint64_t hash_of(const_rtx x)
{
    if (x == NULL_RTX)
        return 0;
    uint64_t hash = pm_hash_join((uint64_t)GET_CODE(x), (uint64_t)GET_MODE(x));
    if (REG_P(x))
        return pm_hash_join(hash, REGNO(x));
    if (CONST_INT_P(x))
        return pm_hash_join(hash, (uint64_t)INTVAL(x));
    if (GET_CODE(x) == SYMBOL_REF)
        return pm_hash_join(hash, hash_operand(x, 's', 0));
    if (CONSTANT_P(x) && GET_CODE(x) != CONST && GET_CODE(x) != LABEL_REF)
        return pm_hash_join(hash, pm_hash((const void *)x));
    if (MEM_P(x))
        return pm_hash_join(hash, hash_of(XEXP(x, 0)));
    const char *format = GET_RTX_FORMAT(GET_CODE(x));
    for (int i = 0; i < GET_RTX_LENGTH(GET_CODE(x)); i++)
        hash = pm_hash_join(hash, hash_operand(x, format[i], i));
    return hash;
}

static void look_at_block(basic_block bb)
{
    uint64_t key = 1;
    edge e;
    edge_iterator at;
    FOR_EACH_EDGE(e, at, bb->succs)
        key = pm_hash_join(key, (uint64_t)e->dest->index);
    rtx_insn *insn;
    FOR_BB_INSNS_REVERSE(bb, insn) {
        if (!NONDEBUG_INSN_P(insn) || (insn == BB_END(bb) && simplejump_p(insn)))
            continue;
        key = pm_hash_join(key, hash_of(PATTERN(insn))) | 1;
        tails[(size_t)INSN_UID(insn)] = {key, INSN_LOCATION(insn)};
    }
}

static unsigned look(function *fun)
{
    tails.clear();
    tails_function = NULL_TREE;
    if (seen_error() || !pm_function_mapped(fun->decl))
        return 0;
    tails_function = fun->decl;
    tails.resize((size_t)get_max_uid());
    basic_block bb;
    FOR_EACH_BB_FN(bb, fun)
        look_at_block(bb);
    return 0;
}

static void lose(const struct tail &tail)
{
    bool is_new;
    int index = *lost_by_key.add(tail.key, (int)lost.size(), &is_new);
    if (is_new)
        lost.push_back({});
    std::vector<location_t> *list = &lost[(size_t)index];
    if (std::find(list->begin(), list->end(), tail.location) == list->end())
        list->push_back(tail.location);
}

void pm_tails_resolve(function *fun)
{
    lost_by_key.clear();
    lost.clear();
    if (tails_function != fun->decl) {
        tails.clear();
        return;
    }
    std::vector<bool> is_left(tails.size());
    basic_block bb;
    rtx_insn *insn;
    FOR_EACH_BB_FN(bb, fun)
        FOR_BB_INSNS(bb, insn)
            if (NONDEBUG_INSN_P(insn) && (size_t)INSN_UID(insn) < tails.size())
                is_left[(size_t)INSN_UID(insn)] = true;
    for (size_t uid = 0; uid < tails.size(); uid++)
        if (tails[uid].key != 0 && !is_left[uid])
            lose(tails[uid]);
}

const std::vector<location_t> *pm_tails_of(const rtx_insn *insn)
{
    size_t uid = (size_t)INSN_UID(insn);
    if (uid >= tails.size() || tails[uid].key == 0)
        return NULL;
    const int *index = lost_by_key.find(tails[uid].key);
    return index != NULL ? &lost[(size_t)*index] : NULL;
}

static bool merges_code(function *)
{
    return flag_crossjumping;
}

void pm_tails_register(const char *plugin_name)
{
    pm_gcc_register_pass(plugin_name, pm_gcc_rtl_pass("perfmap_tails", merges_code, look), "jump2",
                         1, PASS_POS_INSERT_BEFORE);
}
