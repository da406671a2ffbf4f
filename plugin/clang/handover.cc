/* Code that another process emits: with -flto the linker, with -save-temps the compiler once more.
 *
 * What the trees said travels with LLVM's code, as metadata that no object has:
 *
 *     !perfmap.units = !{!1}                       one for each unit; linkers join these lists
 *     !1 = distinct !{!"unit", !"facts", !5, !9}   and the descriptions of its functions
 *
 * The code refers to a symbol that there is not, until it is emitted by a process that puts in the
 * sleds. So what a linker makes without this back end does not link, and its message says what to
 * do. Only the same version of PerfMap reads what it wrote.
 */
#include "map.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <algorithm>
#include <climits>
#include <memory>
#include <unordered_map>

using namespace llvm;

static const char units_name[] = "perfmap.units", guard_name[] = "perfmap.guard";
static const char needed_name[] =
    "perfmap: the linker has to load the plugin, too: -Wl,--plugin=$(perfmap plugin-path), or for "
    "lld -Wl,--load-pass-plugin=$(perfmap plugin-path)";

/* --- carrying: the same functions write and read --- */

namespace
{
struct file {
    std::string name, shown;
};

struct carrier {
    struct pm_buf *out;   /* NULL: it reads */
    struct pm_cursor *in; /* NULL: it writes */
    std::unordered_map<std::string, size_t> numbers;
    std::vector<file> files;
};
} // namespace

static void carry(carrier *c, uint64_t *number)
{
    if (c->out)
        pm_buf_add_uleb(c->out, *number);
    else if (!pm_cursor_uleb(c->in, number))
        pm_stop("what PerfMap wrote into LLVM's code is damaged, or of another version: compile "
                "it again");
}

template <class T> static void carry_number(carrier *c, T *number)
{
    uint64_t value = (uint64_t)*number;
    carry(c, &value);
    *number = (T)value;
}

static void carry_text(carrier *c, std::string *text)
{
    uint64_t size = text->size();
    struct pm_str bytes;
    carry(c, &size);
    if (c->out)
        pm_buf_add(c->out, text->data(), text->size());
    else if (pm_cursor_bytes(c->in, (size_t)size, &bytes))
        text->assign(bytes.p, bytes.len);
    else
        pm_stop("what PerfMap wrote into LLVM's code is cut off: compile it again");
}

template <class T, class F> static void carry_list(carrier *c, std::vector<T> *list, F carry_item)
{
    uint64_t n = list->size();
    carry(c, &n);
    for (uint64_t i = 0; i < n; i++) {
        if (!c->out)
            list->push_back({});
        carry_item(&(*list)[(size_t)i]);
    }
}

/* A file is named once. */
static size_t carry_new_file(carrier *c, file *one)
{
    carry_text(c, &one->name);
    carry_text(c, &one->shown);
    c->files.push_back(*one);
    return c->files.size();
}

/* shown NULL: nobody asks for it. */
static void carry_file(carrier *c, const char **name, const char **shown)
{
    size_t number = 0;
    struct pm_place place = {};
    if (c->out && *name) {
        auto known = c->numbers.find(*name);
        number = known != c->numbers.end() ? known->second : c->files.size() + 1;
        c->numbers[*name] = number;
    }
    carry_number(c, &number);
    if (number > c->files.size()) {
        file one;
        if (c->out)
            one = {*name, shown && *shown ? *shown : *name};
        number = carry_new_file(c, &one);
    }
    if (c->out || number == 0)
        return;
    pm_place_set_known_file(&place, c->files[number - 1].name, c->files[number - 1].shown);
    *name = place.file;
    if (shown)
        *shown = place.shown;
}

static void carry_point(carrier *c, struct pm_text_point *point)
{
    carry_number(c, &point->line);
    carry_number(c, &point->column);
}

static void carry_place(carrier *c, struct pm_place *place)
{
    carry_file(c, &place->file, &place->shown);
    carry_number(c, &place->line);
    carry_number(c, &place->column);
}

/* --- the text of a function --- */

static void carry_statements(carrier *c, struct pm_read_text *text)
{
    carry_list(c, &text->statements, [&](struct pm_written_statement *statement) {
        carry_place(c, &statement->place);
        carry_point(c, &statement->last);
        carry_place(c, &statement->loop_place);
    });
    carry_list(c, &text->ways, [&](struct pm_read_ways *ways) {
        carry_number(c, &ways->condition);
        carry_number(c, &ways->first);
        carry_number(c, &ways->otherwise);
        carry_number(c, &ways->end);
    });
    for (const struct pm_read_ways &ways : text->ways)
        if (ways.first < 0 || ways.end > (int)text->statements.size() ||
            ways.condition >= (int)text->statements.size())
            pm_stop("what PerfMap wrote into LLVM's code is damaged: compile it again");
    std::vector<struct pm_range> ranges(text->ranges.list, text->ranges.list + text->ranges.n);
    carry_list(c, &ranges, [&](struct pm_range *range) {
        carry_file(c, &range->file, NULL);
        carry_point(c, &range->first);
        carry_point(c, &range->last);
    });
    for (size_t i = 0; !c->out && i < ranges.size(); i++)
        if (!pm_statements_add(&text->ranges, &ranges[i]))
            pm_no_memory();
    if (!c->out && !pm_statements_sort(&text->ranges))
        pm_no_memory();
    carry_list(c, &text->keywords, [&](struct pm_read_keyword *keyword) {
        carry_place(c, &keyword->place);
        carry_point(c, &keyword->value);
    });
}

static void carry_touches(carrier *c, struct pm_read_text *text)
{
    carry_list(c, &text->touches, [&](struct pm_touch *touch) {
        carry_place(c, &touch->place);
        carry_place(c, &touch->outer);
        carry_number(c, &touch->use);
        carry_number(c, &touch->gives_address);
        carry_number(c, &touch->goes_through);
        carry_number(c, &touch->statement);
        carry_number(c, &touch->first);
        carry_number(c, &touch->n);
    });
    carry_list(c, &text->accesses, [&](struct pm_access *access) {
        carry_number(c, &access->noun);
        carry_number(c, &access->access);
    });
    for (const struct pm_touch &touch : text->touches)
        if ((uint64_t)touch.first + touch.n > text->accesses.size() ||
            touch.statement >= (int)text->statements.size())
            pm_stop("what PerfMap wrote into LLVM's code is damaged: compile it again");
}

/* Not what only the facts say: those were made. */
static void carry_function_text(carrier *c, struct pm_read_text *text)
{
    carry_statements(c, text);
    carry_touches(c, text);
    carry_list(c, &text->parameters, [&](pm_id *noun) { carry_number(c, noun); });
    carry_list(c, &text->passed, [&](struct pm_passed *passed) {
        carry_place(c, &passed->place);
        carry_number(c, &passed->argument);
        carry_number(c, &passed->noun);
    });
    carry_list(c, &text->handed, [&](struct pm_handed *handed) {
        carry_place(c, &handed->place);
        carry_number(c, &handed->noun);
    });
    carry_list(c, &text->regions,
               [&](struct pm_read_region *region) { carry_place(c, &region->place); });
}

/* --- functions --- */

static std::string source_text(const struct pm_source_function *source)
{
    struct pm_buf text = PM_BUF_INIT((size_t)1 << 30);
    pm_source_function_write(source, &text);
    if (text.failed)
        pm_no_memory();
    std::string result(text.data, text.len);
    pm_buf_release(&text);
    return result;
}

/* Files are compared by pointer. */
static void know_files(struct pm_source_function *source)
{
    pm_place_set_known_file(&source->place, source->place.file, source->place.shown);
    for (uint32_t i = 0; i < source->n_loops; i++) {
        struct pm_source_loop *loop = &source->loops[i];
        struct pm_place place = {};
        pm_place_set_known_file(&place, loop->file, loop->shown);
        loop->file = place.file;
        loop->shown = place.shown;
    }
}

static struct pm_source_function *source_of_text(const std::string &text)
{
    static thread_local struct pm_intern *strings;
    if (!strings)
        strings = pm_intern_new();
    struct pm_source_function *source =
        strings ? pm_source_function_read(text.c_str(), strings) : NULL;
    if (!source)
        pm_no_memory();
    know_files(source);
    return source;
}

static void carry_function(carrier *c, struct pm_read_function *function)
{
    std::string text = c->out ? source_text(function->source) : "";
    bool has_text = function->text != NULL;
    carry_text(c, &text);
    carry_number(c, &function->selected);
    carry_number(c, &function->mapped);
    carry_list(c, &function->directives, [&](std::pair<struct pm_text_point, pm_id> *directive) {
        carry_point(c, &directive->first);
        carry_number(c, &directive->second);
    });
    carry_number(c, &has_text);
    if (!c->out) {
        function->source = source_of_text(text);
        function->text = has_text ? new pm_read_text() : NULL;
    }
    if (has_text)
        carry_function_text(c, function->text);
}

/* --- the unit --- */

static void carry_options(carrier *c)
{
    struct pm_options *options = &pm_compilation.options;
    std::string folder = options->pif_dir ? options->pif_dir : "";
    std::string pdb_folder = options->pdb_dir ? options->pdb_dir : "";
    for (bool *option : {&options->functions, &options->loops, &options->search_loops,
                         &options->all_loops, &options->section, &options->map, &options->verbose,
                         &options->pif_none, &pm_compilation.optimizes, &pm_compilation.is_cxx})
        carry_number(c, option);
    carry_text(c, &folder);
    if (!c->out && !folder.empty())
        options->pif_dir = const_cast<char *>(pm_lasting(folder));
    carry_text(c, &pdb_folder);
    if (!c->out && !pdb_folder.empty())
        options->pdb_dir = const_cast<char *>(pm_lasting(pdb_folder));
    carry_text(c, &pm_compilation.input);
    carry_text(c, &pm_compilation.output);
    carry_text(c, &pm_compilation.folder);
}

struct global_symbol {
    std::string name;
    pm_id noun;
};

static void carry_symbols(carrier *c)
{
    std::vector<global_symbol> symbols;
    if (c->out)
        for (const auto &symbol : pm_noun_symbols())
            symbols.push_back({symbol.first, symbol.second});
    carry_list(c, &symbols, [&](global_symbol *symbol) {
        carry_text(c, &symbol->name);
        carry_number(c, &symbol->noun);
    });
    for (const global_symbol &symbol : symbols)
        if (!c->out)
            pm_noun_add_symbol(symbol.name, symbol.noun);
}

/* --- handing over --- */

/* Code may touch what no fact of a statement names. */
static void state_nouns(const struct pm_read_text *text)
{
    for (const struct pm_access &access : text->accesses)
        pm_noun_state(access.noun);
    for (const struct pm_passed &passed : text->passed)
        pm_noun_state(passed.noun);
    for (const struct pm_handed &handed : text->handed)
        pm_noun_state(handed.noun);
    for (pm_id parameter : text->parameters)
        pm_noun_state(parameter);
}

/* Builds are reproducible: not in the order of addresses. */
static bool comes_before(const struct pm_scope &a, const struct pm_scope &b)
{
    if (a.read->source->id != b.read->source->id)
        return a.read->source->id < b.read->source->id;
    return std::make_pair(a.described->getLinkageName(), a.described->getLine()) <
           std::make_pair(b.described->getLinkageName(), b.described->getLine());
}

static MDString *metadata_of(Module &module, struct pm_buf *text)
{
    if (text->failed)
        pm_no_memory();
    MDString *made = MDString::get(module.getContext(), StringRef(text->data, text->len));
    pm_buf_release(text);
    return made;
}

static MDString *facts_of_unit(Module &module)
{
    struct pm_buf facts = PM_BUF_INIT(1 << 30);
    pm_pif_write_compressed(pm_unit_facts()->pif, &facts);
    return metadata_of(module, &facts);
}

static void put_guard(Module &module)
{
    Type *byte = Type::getInt8Ty(module.getContext());
    auto *needed =
        new GlobalVariable(module, byte, true, GlobalValue::ExternalLinkage, NULL, needed_name);
    auto *guard = new GlobalVariable(module, needed->getType(), true, GlobalValue::PrivateLinkage,
                                     needed, guard_name);
    appendToUsed(module, {guard});
}

void pm_hand_over(Module &module)
{
    struct pm_buf unit = PM_BUF_INIT(1 << 30);
    carrier c = {&unit, NULL, {}, {}};
    std::vector<struct pm_scope> scopes = pm_scopes_list();
    std::vector<Metadata *> parts = {NULL, NULL};
    std::stable_sort(scopes.begin(), scopes.end(), comes_before);
    pm_working_folder();
    carry_options(&c);
    carry_symbols(&c);
    for (struct pm_scope &scope : scopes) {
        carry_number(&c, &scope.is_inner);
        carry_function(&c, const_cast<struct pm_read_function *>(scope.read));
        if (scope.read->text)
            state_nouns(scope.read->text);
        parts.push_back(const_cast<DISubprogram *>(scope.described));
    }
    parts[0] = metadata_of(module, &unit);
    parts[1] = facts_of_unit(module);
    module.getOrInsertNamedMetadata(units_name)
        ->addOperand(MDNode::getDistinct(module.getContext(), parts));
    put_guard(module);
    pm_facts_write_pif();
}

/* --- taking over --- */

static thread_local std::vector<std::unique_ptr<struct pm_read_function>> taken;

static void forget_module(void)
{
    for (auto &function : taken) {
        pm_source_function_free(const_cast<struct pm_source_function *>(function->source));
        if (function->text)
            pm_statements_release(&function->text->ranges);
        delete function->text;
    }
    taken.clear();
    pm_scopes_forget();
    pm_noun_forget_symbols();
    pm_copies_forget();
    pm_unit_facts_forget();
    pm_compilation = {};
}

static void add_facts(const Metadata *text)
{
    struct pm_error err = PM_ERROR_INIT;
    StringRef chunk = cast<MDString>(text)->getString();
    if (pm_pif_read_compact(pm_unit_facts()->pif, "facts of a unit", chunk.data(), chunk.size(),
                            &err) != PM_OK)
        pm_stop(pm_error_text(&err));
}

static void take_unit(const MDNode *unit)
{
    struct pm_cursor cursor;
    StringRef text = cast<MDString>(unit->getOperand(0))->getString();
    carrier c = {NULL, &cursor, {}, {}};
    std::vector<struct pm_scope> scopes;
    pm_cursor_init(&cursor, text.data(), text.size());
    carry_options(&c);
    carry_symbols(&c);
    for (unsigned i = 2; i < unit->getNumOperands(); i++) {
        auto function = std::make_unique<struct pm_read_function>();
        struct pm_scope scope = {dyn_cast_or_null<DISubprogram>(unit->getOperand(i)),
                                 function.get(), false};
        carry_number(&c, &scope.is_inner);
        carry_function(&c, function.get());
        if (scope.described)
            scopes.push_back(scope);
        taken.push_back(std::move(function));
    }
    pm_scopes_take_over(scopes);
    add_facts(unit->getOperand(1));
}

static void drop_guards(Module &module)
{
    for (GlobalVariable &guard : module.globals())
        if (guard.hasInitializer() && guard.getName().find(guard_name) == 0)
            guard.setInitializer(Constant::getNullValue(guard.getValueType()));
}

void pm_take_over(Module &module)
{
    const NamedMDNode *units = module.getNamedMetadata(units_name);
    if (pm_compilation.is_taken_over || units)
        forget_module();
    if (!units)
        return;
    pm_compilation.is_taken_over = true;
    pm_compilation.is_linked = !pm_reads_trees;
    for (const MDNode *unit : units->operands())
        take_unit(unit);
    drop_guards(module);
}
