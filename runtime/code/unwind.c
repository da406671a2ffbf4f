/* Unwinds by .eh_frame: Linux Standard Base 5, "Exception Frames" and ".eh_frame_hdr"; DWARF 5,
 * sections 2.5 and 6.4. */
#include "runtime/code/unwind.h"

#include <string.h>

enum {
    MAX_OPERATIONS = 4096, /* of one function's rules: tables that lie do not keep us */
    STACK_OF_EXPRESSION = 16,
    CFA = PM_UNWIND_REGISTERS, /* among the expressions and offsets */
};

/* --- reading --- */

struct reader {
    const uint8_t *p, *end;
    bool bad;
};

static uint64_t read_bytes(struct reader *r, unsigned n)
{
    uint64_t value = 0;
    if (r->bad || (uint64_t)(r->end - r->p) < n) {
        r->bad = true;
        return 0;
    }
    for (unsigned i = 0; i < n; i++)
        value |= (uint64_t)r->p[i] << 8 * i;
    r->p += n;
    return value;
}

static void skip(struct reader *r, uint64_t n)
{
    if (r->bad || (uint64_t)(r->end - r->p) < n)
        r->bad = true;
    else
        r->p += n;
}

static uint64_t read_leb(struct reader *r, bool is_signed)
{
    uint64_t value = 0;
    for (unsigned shift = 0; !r->bad; shift += 7) {
        uint8_t byte = (uint8_t)read_bytes(r, 1);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) {
            if (is_signed && (byte & 0x40) != 0 && shift + 7 < 64)
                value |= ~(uint64_t)0 << (shift + 7);
            break;
        }
    }
    return value;
}

static uint64_t read_unsigned(struct reader *r)
{
    return read_leb(r, false);
}

static int64_t read_signed(struct reader *r)
{
    return (int64_t)read_leb(r, true);
}

/* A pointer by its encoding (DW_EH_PE_*); data: what those relative to data count from. */
static uint64_t read_pointer(struct reader *r, uint8_t encoding, uint64_t data)
{
    uint64_t base = 0, value;
    switch (encoding & 0x70) {
    case 0x00:
        break;
    case 0x10:
        base = (uint64_t)r->p;
        break;
    case 0x30:
        base = data;
        break;
    default:
        r->bad = true;
    }
    switch (encoding & 0x0f) {
    case 0x01:
        value = read_unsigned(r);
        break;
    case 0x02:
        value = read_bytes(r, 2);
        break;
    case 0x03:
        value = read_bytes(r, 4);
        break;
    case 0x00:
    case 0x04:
    case 0x0c:
        value = read_bytes(r, 8);
        break;
    case 0x09:
        value = (uint64_t)read_signed(r);
        break;
    case 0x0a:
        value = (uint64_t)(int64_t)(int16_t)read_bytes(r, 2);
        break;
    case 0x0b:
        value = (uint64_t)(int64_t)(int32_t)read_bytes(r, 4);
        break;
    default:
        r->bad = true;
        value = 0;
    }
    return base + value;
}

/* --- finding a function's record --- */

struct search_table {
    const uint8_t *pairs; /* of signed 4 bytes: start, record; both from the header on */
    uint32_t n;
};

/* Other forms than this one, which all linkers write, are not searched. */
static bool find_table(const struct pm_tables *tables, struct search_table *ret_table)
{
    const uint8_t *h = tables->header;
    if (h == NULL || h < tables->low || tables->high - h < 12 || h[0] != 1 ||
        (h[1] & 0x0f) != 0x0b || h[2] != 0x03 || h[3] != 0x3b)
        return false;
    memcpy(&ret_table->n, h + 8, sizeof ret_table->n);
    ret_table->pairs = h + 12;
    return ret_table->n <= (uint64_t)(tables->high - ret_table->pairs) / 8;
}

static uint64_t at_pair(const struct pm_tables *tables, const struct search_table *table,
                        uint32_t i, unsigned which)
{
    int32_t distance;
    memcpy(&distance, table->pairs + 8ull * i + 4 * which, sizeof distance);
    return (uint64_t)tables->header + (uint64_t)(int64_t)distance;
}

/* The last pair that starts at or before the address, + 1; 0: none. */
static uint32_t find_pair(const struct pm_tables *tables, const struct search_table *table,
                          uint64_t address)
{
    uint32_t low = 0, high = table->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (at_pair(tables, table, middle, 0) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t pm_unwind_function(const struct pm_tables *tables, uint64_t address)
{
    struct search_table table;
    uint32_t found = find_table(tables, &table) ? find_pair(tables, &table, address) : 0;
    return found != 0 ? at_pair(tables, &table, found - 1, 0) : 0;
}

#if defined(__x86_64__)

/* What CIE and FDE say of a function. */
struct record {
    uint64_t low, high, code_align;
    int64_t data_align;
    uint8_t encoding;
    bool has_data, is_signal;
    struct reader common, own; /* instructions */
};

/* At one of them: the rest of it. */
static struct reader open_record(const struct pm_tables *tables, uint64_t at)
{
    struct reader r = {(const uint8_t *)at, tables->high, false};
    if (at < (uint64_t)tables->low || at >= (uint64_t)tables->high) {
        r.bad = true;
        return r;
    }
    uint64_t bytes = read_bytes(&r, 4);
    if (bytes == 0 || bytes >= 0xfffffff0u || bytes > (uint64_t)(r.end - r.p))
        r.bad = true;
    else
        r.end = r.p + bytes;
    return r;
}

static void read_augmentation(struct reader *r, const char *text, struct record *record)
{
    for (; *text != 0; text++)
        if (*text == 'R')
            record->encoding = (uint8_t)read_bytes(r, 1);
        else if (*text == 'P') {
            uint8_t encoding = (uint8_t)read_bytes(r, 1);
            read_pointer(r, encoding & 0x0f, 0);
        } else if (*text == 'L')
            read_bytes(r, 1);
        else if (*text == 'S')
            record->is_signal = true;
        /* the length tells where it ends */
        else
            return;
}

static bool read_common(const struct pm_tables *tables, uint64_t at, struct record *record)
{
    struct reader r = open_record(tables, at);
    if (read_bytes(&r, 4) != 0 || r.bad)
        return false;
    uint8_t version = (uint8_t)read_bytes(&r, 1);
    const char *text = (const char *)r.p;
    while (read_bytes(&r, 1) != 0)
        ;
    record->code_align = read_unsigned(&r);
    record->data_align = read_signed(&r);
    uint64_t return_register = version == 1 ? read_bytes(&r, 1) : read_unsigned(&r);
    if (r.bad || (version != 1 && version != 3) || return_register != PM_UNWIND_IP)
        return false;
    if (*text == 'z') {
        record->has_data = true;
        uint64_t bytes = read_unsigned(&r);
        struct reader data = r;
        skip(&r, bytes);
        data.end = r.p;
        read_augmentation(&data, text + 1, record);
        r.bad |= data.bad;
    } else if (*text != 0)
        return false;
    record->common = r;
    return !r.bad;
}

static bool find_record(const struct pm_tables *tables, uint64_t address, struct record *ret_record)
{
    struct search_table table;
    uint32_t found = find_table(tables, &table) ? find_pair(tables, &table, address) : 0;
    if (found == 0)
        return false;
    struct reader r = open_record(tables, at_pair(tables, &table, found - 1, 1));
    uint64_t here = (uint64_t)r.p, distance = read_bytes(&r, 4);
    *ret_record = (struct record){0};
    if (r.bad || distance == 0 || !read_common(tables, here - distance, ret_record))
        return false;
    ret_record->low = read_pointer(&r, ret_record->encoding, 0);
    ret_record->high = ret_record->low + read_pointer(&r, ret_record->encoding & 0x0f, 0);
    if (ret_record->has_data)
        skip(&r, read_unsigned(&r));
    ret_record->own = r;
    return !r.bad && address >= ret_record->low && address < ret_record->high;
}

/* --- rules --- */

static void set_rule(struct pm_unwind *u, uint64_t number, enum pm_unwind_kind kind, int64_t offset)
{
    if (number >= PM_UNWIND_REGISTERS)
        return; /* vector registers and the like */
    u->rules.kind[number] = (uint8_t)kind;
    u->rules.offset[number] = offset;
}

static void set_expression(struct pm_unwind *u, uint64_t number, enum pm_unwind_kind kind,
                           struct reader *r)
{
    set_rule(u, number, kind, 0);
    if (number < PM_UNWIND_REGISTERS)
        u->rules.expression[number] = r->p;
    skip(r, read_unsigned(r));
}

static void set_cfa(struct pm_unwind *u, uint64_t number, int64_t offset, struct reader *r)
{
    u->rules.expression[CFA] = NULL;
    u->rules.cfa_register = (uint8_t)number;
    u->rules.offset[CFA] = offset;
    r->bad |= number >= PM_UNWIND_REGISTERS;
}

static void restore(struct pm_unwind *u, uint64_t number)
{
    if (number >= PM_UNWIND_REGISTERS)
        return;
    u->rules.kind[number] = u->first.kind[number];
    u->rules.offset[number] = u->first.offset[number];
    u->rules.expression[number] = u->first.expression[number];
}

/* The instructions with an operand of 6 bits in them; false: another one. */
static bool run_short(struct pm_unwind *u, const struct record *record, struct reader *r,
                      uint8_t code, uint64_t *at)
{
    uint8_t low = code & 0x3f;
    switch (code & 0xc0) {
    case 0x40:
        *at += low * record->code_align;
        return true;
    case 0x80:
        set_rule(u, low, PM_UNWIND_AT_OFFSET, (int64_t)read_unsigned(r) * record->data_align);
        return true;
    case 0xc0:
        restore(u, low);
        return true;
    default:
        return false;
    }
}

/* DW_CFA_* that say where a register is. False: another one. */
static bool run_register(struct pm_unwind *u, const struct record *record, struct reader *r,
                         uint8_t code)
{
    uint64_t number;
    switch (code) {
    case 0x05: /* offset_extended */
        number = read_unsigned(r);
        set_rule(u, number, PM_UNWIND_AT_OFFSET, (int64_t)read_unsigned(r) * record->data_align);
        return true;
    case 0x06: /* restore_extended */
        restore(u, read_unsigned(r));
        return true;
    case 0x07: /* undefined */
        set_rule(u, read_unsigned(r), PM_UNWIND_UNKNOWN, 0);
        return true;
    case 0x08: /* same_value */
        set_rule(u, read_unsigned(r), PM_UNWIND_SAME, 0);
        return true;
    case 0x09: /* register */
        number = read_unsigned(r);
        set_rule(u, number, PM_UNWIND_REGISTER, (int64_t)read_unsigned(r));
        return true;
    case 0x10: /* expression */
        number = read_unsigned(r);
        set_expression(u, number, PM_UNWIND_AT_EXPRESSION, r);
        return true;
    case 0x11: /* offset_extended_sf */
        number = read_unsigned(r);
        set_rule(u, number, PM_UNWIND_AT_OFFSET, read_signed(r) * record->data_align);
        return true;
    case 0x14: /* val_offset */
        number = read_unsigned(r);
        set_rule(u, number, PM_UNWIND_IS_OFFSET, (int64_t)read_unsigned(r) * record->data_align);
        return true;
    case 0x15: /* val_offset_sf */
        number = read_unsigned(r);
        set_rule(u, number, PM_UNWIND_IS_OFFSET, read_signed(r) * record->data_align);
        return true;
    case 0x16: /* val_expression */
        number = read_unsigned(r);
        set_expression(u, number, PM_UNWIND_IS_EXPRESSION, r);
        return true;
    default:
        return false;
    }
}

/* Those that say where the frame is, and from which address on. */
static void run_frame(struct pm_unwind *u, const struct record *record, struct reader *r,
                      uint8_t code, uint64_t *at)
{
    uint64_t number;
    switch (code) {
    case 0x00: /* nop */
        break;
    case 0x01: /* set_loc */
        *at = read_pointer(r, record->encoding, 0);
        break;
    case 0x02: /* advance_loc1, 2, 4 */
        *at += read_bytes(r, 1) * record->code_align;
        break;
    case 0x03:
        *at += read_bytes(r, 2) * record->code_align;
        break;
    case 0x04:
        *at += read_bytes(r, 4) * record->code_align;
        break;
    case 0x0c: /* def_cfa */
        number = read_unsigned(r);
        set_cfa(u, number, (int64_t)read_unsigned(r), r);
        break;
    case 0x0d: /* def_cfa_register */
        set_cfa(u, read_unsigned(r), u->rules.offset[CFA], r);
        break;
    case 0x0e: /* def_cfa_offset */
        u->rules.offset[CFA] = (int64_t)read_unsigned(r);
        break;
    case 0x0f: /* def_cfa_expression */
        u->rules.expression[CFA] = r->p;
        skip(r, read_unsigned(r));
        break;
    case 0x12: /* def_cfa_sf */
        number = read_unsigned(r);
        set_cfa(u, number, read_signed(r) * record->data_align, r);
        break;
    case 0x13: /* def_cfa_offset_sf */
        u->rules.offset[CFA] = read_signed(r) * record->data_align;
        break;
    case 0x2e: /* GNU_args_size */
        read_unsigned(r);
        break;
    default:
        r->bad = true;
    }
}

/* Up to the rules that hold at the address. */
static bool run(struct pm_unwind *u, const struct record *record, struct reader r, uint64_t address)
{
    uint64_t at = record->low;
    unsigned n_remembered = 0;
    for (unsigned n = 0; r.p < r.end && !r.bad && n < MAX_OPERATIONS; n++) {
        uint8_t code = (uint8_t)read_bytes(&r, 1);
        if (code == 0x0a) { /* remember_state */
            if (n_remembered == PM_UNWIND_MAX_REMEMBERED)
                return false;
            u->remembered[n_remembered++] = u->rules;
        } else if (code == 0x0b) { /* restore_state */
            if (n_remembered == 0)
                return false;
            u->rules = u->remembered[--n_remembered];
        } else if (!run_short(u, record, &r, code, &at) && !run_register(u, record, &r, code))
            run_frame(u, record, &r, code, &at);
        if (at > address)
            return !r.bad;
    }
    return !r.bad;
}

/* --- values --- */

static bool read_stack(struct pm_unwind *u, uint64_t address, uint64_t *ret_word)
{
    uint64_t offset = address - u->stack_low;
    if (address >= u->stack_low && offset + sizeof *ret_word <= u->stack_bytes) {
        memcpy(ret_word, u->stack + offset, sizeof *ret_word);
        return true;
    }
    u->is_short |= address >= u->stack_low;
    return false;
}

static bool read_register(const struct pm_unwind *u, uint64_t number, uint64_t *ret_value)
{
    if (number >= PM_UNWIND_REGISTERS || (u->known >> number & 1) == 0)
        return false;
    *ret_value = u->registers[number];
    return true;
}

struct expression {
    uint64_t stack[STACK_OF_EXPRESSION];
    unsigned n;
    bool bad;
};

static void push(struct expression *e, uint64_t value)
{
    if (e->n == STACK_OF_EXPRESSION)
        e->bad = true;
    else
        e->stack[e->n++] = value;
}

static uint64_t pop(struct expression *e)
{
    if (e->n == 0)
        e->bad = true;
    return e->n != 0 ? e->stack[--e->n] : 0;
}

static void compute(struct expression *e, uint8_t code)
{
    uint64_t b = pop(e), a = pop(e);
    switch (code) {
    case 0x1a:
        push(e, a & b);
        break;
    case 0x1c:
        push(e, a - b);
        break;
    case 0x1e:
        push(e, a * b);
        break;
    case 0x21:
        push(e, a | b);
        break;
    case 0x22:
        push(e, a + b);
        break;
    case 0x24:
        push(e, b < 64 ? a << b : 0);
        break;
    case 0x25:
        push(e, b < 64 ? a >> b : 0);
        break;
    case 0x2a: /* ge */
        push(e, (int64_t)a >= (int64_t)b);
        break;
    default:
        e->bad = true;
    }
}

static void operate(struct pm_unwind *u, struct expression *e, struct reader *r)
{
    uint8_t code = (uint8_t)read_bytes(r, 1);
    uint64_t value = 0;
    if (code >= 0x30 && code <= 0x4f) /* lit0 and on */
        push(e, code - 0x30u);
    else if (code >= 0x70 && code <= 0x8f) { /* breg0 and on */
        e->bad |= !read_register(u, code - 0x70u, &value);
        push(e, value + (uint64_t)read_signed(r));
    } else if (code == 0x06) { /* deref */
        e->bad |= !read_stack(u, pop(e), &value);
        push(e, value);
    } else if (code == 0x08) /* const1u, const1s, const2u, const2s, const4u, const4s */
        push(e, read_bytes(r, 1));
    else if (code == 0x09)
        push(e, (uint64_t)(int64_t)(int8_t)read_bytes(r, 1));
    else if (code == 0x0a)
        push(e, read_bytes(r, 2));
    else if (code == 0x0b)
        push(e, (uint64_t)(int64_t)(int16_t)read_bytes(r, 2));
    else if (code == 0x0c)
        push(e, read_bytes(r, 4));
    else if (code == 0x0d)
        push(e, (uint64_t)(int64_t)(int32_t)read_bytes(r, 4));
    else if (code == 0x10) /* constu, consts */
        push(e, read_unsigned(r));
    else if (code == 0x11)
        push(e, (uint64_t)read_signed(r));
    else if (code == 0x12) { /* dup */
        value = pop(e);
        push(e, value);
        push(e, value);
    } else if (code == 0x13) /* drop */
        pop(e);
    else if (code == 0x23) /* plus_uconst */
        push(e, pop(e) + read_unsigned(r));
    else
        compute(e, code);
}

/* at: the length, then the operations. cfa: what a register's expression starts from; NULL: that
 * of the CFA itself. */
static bool evaluate(struct pm_unwind *u, const struct pm_tables *tables, const uint8_t *at,
                     const uint64_t *cfa, uint64_t *ret_value)
{
    struct reader r = {at, tables->high, false};
    struct expression e = {.n = 0};
    uint64_t bytes = read_unsigned(&r);
    if (r.bad || bytes > (uint64_t)(r.end - r.p))
        return false;
    r.end = r.p + bytes;
    if (cfa != NULL)
        push(&e, *cfa);
    while (r.p < r.end && !r.bad && !e.bad)
        operate(u, &e, &r);
    *ret_value = pop(&e);
    return !r.bad && !e.bad;
}

static bool find_cfa(struct pm_unwind *u, const struct pm_tables *tables, uint64_t *ret_cfa)
{
    if (u->rules.expression[CFA] != NULL)
        return evaluate(u, tables, u->rules.expression[CFA], NULL, ret_cfa);
    if (!read_register(u, u->rules.cfa_register, ret_cfa))
        return false;
    *ret_cfa += (uint64_t)u->rules.offset[CFA];
    return true;
}

/* A register's value in the frame of the caller. */
static bool find_value(struct pm_unwind *u, const struct pm_tables *tables, unsigned number,
                       uint64_t cfa, uint64_t *ret_value)
{
    const struct pm_unwind_rules *rules = &u->rules;
    uint64_t at = cfa + (uint64_t)rules->offset[number];
    switch (rules->kind[number]) {
    case PM_UNWIND_SAME:
        return read_register(u, number, ret_value);
    case PM_UNWIND_IS_OFFSET:
        *ret_value = at;
        return true;
    case PM_UNWIND_AT_OFFSET:
        /* below the stack pointer it has been fetched back: tables do not always say so before
         * `ret` */
        return at < u->registers[PM_UNWIND_SP] ? read_register(u, number, ret_value)
                                               : read_stack(u, at, ret_value);
    case PM_UNWIND_AT_EXPRESSION:
        return evaluate(u, tables, rules->expression[number], &cfa, &at) &&
               read_stack(u, at, ret_value);
    case PM_UNWIND_IS_EXPRESSION:
        return evaluate(u, tables, rules->expression[number], &cfa, ret_value);
    case PM_UNWIND_REGISTER:
        return read_register(u, (uint64_t)rules->offset[number], ret_value);
    default:
        return false;
    }
}

/* --- frames --- */

bool pm_unwind_begin(struct pm_unwind *u, const struct pm_taken *taken)
{
    if (!taken->has_registers || taken->stack_bytes == 0)
        return false;
    /* of pm_taken's, as DWARF counts them */
    static const uint8_t numbers[PM_TAKEN_REGISTERS] = {3, 6, 12, 13, 14, 15};
    u->known = 1u << PM_UNWIND_IP | 1u << PM_UNWIND_SP;
    u->registers[PM_UNWIND_IP] = taken->address;
    u->registers[PM_UNWIND_SP] = taken->sp;
    for (unsigned i = 0; i < PM_TAKEN_REGISTERS; i++) {
        u->registers[numbers[i]] = taken->registers[i];
        u->known |= 1u << numbers[i];
    }
    u->exact = true;
    u->is_short = false;
    u->stack = taken->stack;
    u->stack_low = taken->sp;
    u->stack_bytes = taken->stack_bytes;
    return true;
}

static bool find_rules(struct pm_unwind *u, const struct pm_tables *tables, struct record *record)
{
    uint64_t address = pm_unwind_lookup(u);
    if (!find_record(tables, address, record))
        return false;
    memset(&u->rules, 0, sizeof u->rules);
    u->rules.kind[PM_UNWIND_SP] = PM_UNWIND_IS_OFFSET;
    u->rules.kind[PM_UNWIND_IP] = PM_UNWIND_UNKNOWN;
    if (!run(u, record, record->common, UINT64_MAX))
        return false;
    u->first = u->rules;
    return run(u, record, record->own, address);
}

uint64_t pm_unwind_frame_bytes(const struct pm_tables *tables, uint64_t return_address)
{
    struct pm_unwind u;
    struct record record;
    u.registers[PM_UNWIND_IP] = return_address;
    u.exact = false;
    if (!find_rules(&u, tables, &record) || u.rules.expression[PM_UNWIND_REGISTERS] != NULL ||
        u.rules.cfa_register != PM_UNWIND_SP || u.rules.offset[PM_UNWIND_REGISTERS] < 0)
        return 0;
    return (uint64_t)u.rules.offset[PM_UNWIND_REGISTERS];
}

enum pm_unwind_result pm_unwind_step(struct pm_unwind *u, const struct pm_tables *tables)
{
    struct record record;
    uint64_t cfa, values[PM_UNWIND_REGISTERS] = {0};
    uint32_t known = 0;
    if (!find_rules(u, tables, &record))
        return PM_UNWIND_LOST;
    if (u->rules.kind[PM_UNWIND_IP] == PM_UNWIND_UNKNOWN)
        return PM_UNWIND_BOTTOM;
    u->is_short = false;
    if (!find_cfa(u, tables, &cfa))
        return u->is_short ? PM_UNWIND_SHORT : PM_UNWIND_LOST;
    u->is_short = false;
    if (!find_value(u, tables, PM_UNWIND_IP, cfa, &values[PM_UNWIND_IP]))
        return u->is_short ? PM_UNWIND_SHORT : PM_UNWIND_LOST;
    for (unsigned i = 0; i < PM_UNWIND_IP; i++)
        if (find_value(u, tables, i, cfa, &values[i]))
            known |= 1u << i;
    if (values[PM_UNWIND_IP] == 0)
        return PM_UNWIND_BOTTOM;
    /* A handler's frame leads back to what was interrupted, maybe on another stack; all others
     * lead up. */
    if ((known >> PM_UNWIND_SP & 1) == 0 ||
        (values[PM_UNWIND_SP] <= u->registers[PM_UNWIND_SP] && !record.is_signal))
        return PM_UNWIND_LOST;
    memcpy(u->registers, values, sizeof values);
    u->known = known | 1u << PM_UNWIND_IP;
    u->exact = record.is_signal;
    u->cfa = cfa;
    return PM_UNWIND_FRAME;
}

/* A push of rbx, rbp, r12 to r15 at p: which, as DWARF counts them, and how many bytes; 0:
 * something else. */
static unsigned pushed(const uint8_t *p, unsigned *ret_bytes)
{
    bool is_long = p[0] == 0x41;
    uint8_t code = p[is_long];
    *ret_bytes = is_long ? 2 : 1;
    if (is_long)
        return code >= 0x54 && code <= 0x57 ? code - 0x54u + 12 : 0;
    return code == 0x53 ? 3 : code == 0x55 ? 6 : 0;
}

bool pm_unwind_by_pushes(struct pm_unwind *u, const struct pm_taken *taken,
                         const struct pm_tables *tables)
{
    enum { MOST = 6 };
    unsigned numbers[MOST], n = 0, bytes;
    uint64_t at = pm_unwind_function(tables, taken->address), word;
    if (at == 0 || !pm_unwind_begin(u, taken))
        return false;
    while (n < MOST && at < taken->address &&
           (numbers[n] = pushed((const uint8_t *)at, &bytes)) != 0) {
        at += bytes;
        n++;
    }
    uint64_t sp = taken->sp;
    for (; n > 0; n--, sp += 8) {
        if (!read_stack(u, sp, &word))
            return false;
        u->registers[numbers[n - 1]] = word;
    }
    if (!read_stack(u, sp, &word))
        return false;
    u->registers[PM_UNWIND_IP] = word;
    u->registers[PM_UNWIND_SP] = u->cfa = sp + 8;
    u->exact = false;
    return true;
}

#else

bool pm_unwind_begin(struct pm_unwind *u, const struct pm_taken *taken)
{
    (void)u;
    (void)taken;
    return false;
}

enum pm_unwind_result pm_unwind_step(struct pm_unwind *u, const struct pm_tables *tables)
{
    (void)u;
    (void)tables;
    return PM_UNWIND_LOST;
}

uint64_t pm_unwind_frame_bytes(const struct pm_tables *tables, uint64_t return_address)
{
    (void)tables;
    (void)return_address;
    return 0;
}

bool pm_unwind_by_pushes(struct pm_unwind *u, const struct pm_taken *taken,
                         const struct pm_tables *tables)
{
    (void)u;
    (void)taken;
    (void)tables;
    return false;
}

#endif
