#include "symbols.h"

#include "bytes.h"
#include "intervals.h"

#include <gelf.h>
#include <stdlib.h>

enum { SYMBOLS_MAX = 1 << 25 };

struct pm_symbols {
    struct pm_symbol *items;
    struct pm_intervals map;
};

struct candidate {
    uint64_t low, size_bytes, end; /* end: of the section */
    const char *name;
    unsigned rank; /* the smallest of equal ranges is shown */
};

struct collecting {
    const struct pm_elf_file *file;
    struct candidate *items;
    size_t n, n_max;
    bool failed;
    struct pm_intern *set;
};

/* Without the version that linkers write behind names. */
static const char *interned_name(struct pm_intern *set, const char *name)
{
    const char *version = name[0] ? strchr(name + 1, '@') : NULL;
    return pm_intern_add(set, name, version ? (size_t)(version - name) : strlen(name));
}

static void add_candidate(struct collecting *c, const struct candidate *candidate)
{
    if (c->n == c->n_max) {
        size_t max = c->n_max ? 2 * c->n_max : 256;
        struct candidate *items =
            max <= SYMBOLS_MAX ? pm_realloc_array(c->items, max, sizeof *items) : NULL;
        if (!items) {
            c->failed = true;
            return;
        }
        c->items = items;
        c->n_max = max;
    }
    c->items[c->n++] = *candidate;
}

static unsigned rank_of(const GElf_Sym *symbol)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info), binding = GELF_ST_BIND(symbol->st_info);
    unsigned rank = 2;
    if (binding == STB_GLOBAL)
        rank = 0;
    else if (binding == STB_WEAK)
        rank = 1;
    if (type == STT_FUNC)
        return rank;
    return rank + (type == STT_GNU_IFUNC ? 4 : 8);
}

/* Labels that compilers and ARM's assemblers leave are no functions. */
static bool is_label(const char *name)
{
    return name[0] == '\0' || name[0] == '$' || !strncmp(name, ".L", 2);
}

static void add_symbol(struct collecting *c, const struct pm_elf_section *table,
                       const GElf_Sym *symbol, const struct pm_elf_section *const *by_index,
                       size_t n_by_index)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
        symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= n_by_index)
        return;
    const struct pm_elf_section *section = by_index[symbol->st_shndx];
    if (!section || !(section->flags & SHF_EXECINSTR))
        return;
    const char *name = elf_strptr(c->file->elf, table->link, symbol->st_name);
    if (!name || is_label(name))
        return;
    uint64_t end = section->address + section->size_bytes;
    if (symbol->st_value < section->address || symbol->st_value >= end || c->failed)
        return;
    struct candidate candidate = {symbol->st_value, symbol->st_size, end,
                                  interned_name(c->set, name), rank_of(symbol)};
    if (!candidate.name)
        c->failed = true;
    else
        add_candidate(c, &candidate);
}

/* false: the file has no such table */
static bool add_table(struct collecting *c, const char *table_name)
{
    const struct pm_elf_section *table = pm_elf_file_section(c->file, table_name);
    Elf_Scn *scn = table ? elf_getscn(c->file->elf, table->index) : NULL;
    if (!scn || table->type == SHT_NOBITS || table->size_bytes > c->file->size_bytes)
        return false;
    Elf_Data *data = elf_getdata(scn, NULL);
    size_t n_by_index = 0;
    if (!data || elf_getshdrnum(c->file->elf, &n_by_index) != 0)
        return false;
    const struct pm_elf_section **by_index = pm_alloc_array(n_by_index + 1, sizeof(void *));
    if (!by_index) {
        c->failed = true;
        return false;
    }
    for (size_t i = 0; i < c->file->n_sections; i++)
        if (c->file->sections[i].index < n_by_index)
            by_index[c->file->sections[i].index] = &c->file->sections[i];
    GElf_Sym symbol;
    for (int i = 1; !c->failed && gelf_getsym(data, i, &symbol); i++)
        add_symbol(c, table, &symbol, by_index, n_by_index);
    free(by_index);
    return c->n > 0;
}

/* Where the dynamic linker writes addresses of functions, with their names. */
struct got_entry {
    uint64_t address;
    const char *name;
};

struct got {
    struct got_entry *items;
    size_t n, n_max;
};

static int by_address(const void *a, const void *b)
{
    const struct got_entry *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

static void add_got(struct collecting *c, const struct pm_elf_section *table, struct got *got)
{
    Elf_Scn *scn = elf_getscn(c->file->elf, table->index);
    Elf_Scn *symbols_scn = elf_getscn(c->file->elf, table->link);
    Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
    Elf_Data *symbols = symbols_scn ? elf_getdata(symbols_scn, NULL) : NULL;
    GElf_Shdr symbols_header;
    if (!data || !symbols || !gelf_getshdr(symbols_scn, &symbols_header))
        return;
    GElf_Rela rela;
    for (int i = 0; !c->failed && gelf_getrela(data, i, &rela); i++) {
        GElf_Sym symbol;
        uint64_t type = GELF_R_TYPE(rela.r_info);
        if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) ||
            !gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &symbol))
            continue;
        const char *name = elf_strptr(c->file->elf, symbols_header.sh_link, symbol.st_name);
        if (!name || is_label(name))
            continue;
        if (got->n == got->n_max) {
            size_t max = got->n_max ? 2 * got->n_max : 64;
            struct got_entry *items =
                max <= SYMBOLS_MAX ? pm_realloc_array(got->items, max, sizeof *items) : NULL;
            c->failed = !items;
            if (!items)
                return;
            got->items = items;
            got->n_max = max;
        }
        got->items[got->n++] = (struct got_entry){rela.r_offset, name};
    }
}

static const char *linked_name(struct collecting *c, const char *name, const char *suffix)
{
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    const char *version = strchr(name, '@');
    pm_buf_add(&text, name, version ? (size_t)(version - name) : strlen(name));
    pm_buf_add_str(&text, suffix);
    const char *interned =
        text.data && !text.failed ? pm_intern_add(c->set, text.data, text.len) : NULL;
    pm_buf_release(&text);
    return interned;
}

/* A stub jumps through the table: ff 25 and the distance from the next instruction. */
static void add_stubs(struct collecting *c, const struct pm_elf_section *section,
                      const struct got *got, unsigned stub_bytes)
{
    struct pm_bytes code;
    if (pm_elf_file_load(c->file, section, &code) != PM_LOAD_OK)
        return;
    if (code.len >= 4 && !memcmp(code.p, "\xf3\x0f\x1e\xfa", 4))
        stub_bytes = 16;
    for (size_t at = 0; at + 6 <= code.len && !c->failed; at++) {
        uint64_t distance;
        if (code.p[at] != 0xff || code.p[at + 1] != 0x25 ||
            !pm_fixed_at(code.p, code.len, at + 2, 4, false, &distance))
            continue;
        uint64_t from = section->address + at + 6;
        struct got_entry key = {from + (uint64_t)(int64_t)(int32_t)distance, NULL};
        const struct got_entry *entry =
            got->n ? bsearch(&key, got->items, got->n, sizeof key, by_address) : NULL;
        if (!entry)
            continue;
        struct candidate stub = {section->address + at / stub_bytes * stub_bytes, stub_bytes,
                                 section->address + section->size_bytes,
                                 linked_name(c, entry->name, "@plt"), 0};
        c->failed = !stub.name;
        if (stub.name)
            add_candidate(c, &stub);
    }
    free(code.p);
}

/* Code that was compiled with -fno-plt calls through the table itself. */
static void add_slots(struct collecting *c, const struct got *got)
{
    enum { SLOT_BYTES = 8 };
    for (size_t i = 0; i < got->n && !c->failed; i++) {
        const struct got_entry *at = &got->items[i];
        struct candidate slot = {at->address, SLOT_BYTES, at->address + SLOT_BYTES,
                                 linked_name(c, at->name, "@got"), 0};
        c->failed = !slot.name;
        if (slot.name)
            add_candidate(c, &slot);
    }
}

static void add_plt(struct collecting *c)
{
    if (c->file->machine != EM_X86_64 || c->file->type == ET_REL)
        return;
    struct got got = {0};
    for (size_t i = 0; i < c->file->n_sections; i++)
        if (c->file->sections[i].type == SHT_RELA)
            add_got(c, &c->file->sections[i], &got);
    if (got.n)
        qsort(got.items, got.n, sizeof *got.items, by_address);
    add_slots(c, &got);
    for (size_t i = 0; i < c->file->n_sections && got.n; i++) {
        const struct pm_elf_section *section = &c->file->sections[i];
        if (!strcmp(section->name, ".plt") || !strcmp(section->name, ".plt.sec"))
            add_stubs(c, section, &got, 16);
        else if (!strcmp(section->name, ".plt.got"))
            add_stubs(c, section, &got, 8);
    }
    free(got.items);
}

static int by_low_then_rank(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* A symbol without a size reaches to the next one, and yields to those with one. */
static bool fill(struct pm_symbols *symbols, const struct collecting *c)
{
    symbols->items = pm_alloc_array(c->n + 1, sizeof *symbols->items);
    if (!symbols->items)
        return false;
    uint64_t next = UINT64_MAX;
    for (size_t i = c->n; i-- > 0;) {
        const struct candidate *item = &c->items[i];
        if (i + 1 < c->n && c->items[i + 1].low != item->low)
            next = c->items[i + 1].low;
        uint64_t end = item->size_bytes ? item->low + item->size_bytes : next;
        end = end > item->end || end < item->low ? item->end : end;
        symbols->items[i] = (struct pm_symbol){item->name, NULL, item->low, end};
        pm_intervals_add(&symbols->map, item->low, end, item->size_bytes != 0, (uint32_t)i);
    }
    return pm_intervals_finish(&symbols->map);
}

struct pm_symbols *pm_symbols_new(const struct pm_elf_file *file,
                                  const struct pm_elf_file *debug_file, struct pm_intern *set)
{
    struct pm_symbols *symbols = pm_alloc(sizeof *symbols);
    if (!symbols)
        return NULL;
    struct collecting c = {.file = file, .set = set};
    bool found = add_table(&c, ".symtab");
    if (!found && debug_file) {
        c.file = debug_file;
        found = add_table(&c, ".symtab");
        c.file = file;
    }
    if (!found)
        add_table(&c, ".dynsym");
    add_plt(&c);
    if (c.n)
        qsort(c.items, c.n, sizeof *c.items, by_low_then_rank);
    bool done = !c.failed && fill(symbols, &c);
    free(c.items);
    if (done)
        return symbols;
    pm_symbols_free(symbols);
    return NULL;
}

void pm_symbols_free(struct pm_symbols *symbols)
{
    if (!symbols)
        return;
    pm_intervals_release(&symbols->map);
    free(symbols->items);
    free(symbols);
}

struct pm_symbol *pm_symbols_find(const struct pm_symbols *symbols, uint64_t address)
{
    const struct pm_interval *found = pm_intervals_find(&symbols->map, address);
    return found ? &symbols->items[found->value] : NULL;
}
