/* The late map of one function goes to the object, in the form of plugin/emit/map_block.h: text,
 * which LLVM's own assembler reads. It is written after the function's code. "o" ties the section
 * to the one that holds the code, so that linkers collect both or none; "?" puts it into the
 * code's group. */
#include "map.h"
#include "source.h"
#include "streamer.h"

#include "llvm/CodeGen/AsmPrinter.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Function.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCExpr.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"

#include <algorithm>
#include <climits>
#include <map>

extern "C" {
#include "../emit/map_sets.h"
}

using namespace llvm;

static thread_local const std::vector<std::string> *labels; /* of the function at hand */

static void add_label(struct pm_buf *out, int label)
{
    pm_buf_add_str(out, (*labels)[(size_t)label].c_str());
}

/* Symbols that any assembler takes without quotes. */
static bool is_plain(StringRef name)
{
    return std::all_of(name.begin(), name.end(),
                       [](char c) { return isAlnum(c) || c == '_' || c == '.' || c == '$'; });
}

/* --- assembler text --- */

static void parse(AsmPrinter *printer, const char *text, size_t size)
{
    const TargetMachine &machine = printer->TM;
    const MCSubtargetInfo &subtarget = *machine.getMCSubtargetInfo();
    SourceMgr sources;
    sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(StringRef(text, size), "perfmap"),
                               SMLoc());
    std::unique_ptr<MCAsmParser> parser(
        createMCAsmParser(sources, printer->OutContext, *printer->OutStreamer, *printer->MAI));
    std::unique_ptr<MCInstrInfo> instructions(machine.getTarget().createMCInstrInfo());
    std::unique_ptr<MCTargetAsmParser> target(machine.getTarget().createMCAsmParser(
        subtarget, *parser, *instructions, machine.Options.MCOptions));
    parser->setTargetParser(*target);
    parser->setAssemblerDialect(0); /* -masm=intel takes a symbol "al" for a register */
    if (parser->Run(true, true))
        pm_stop("LLVM's assembler does not take the late map; compile with "
                "'-fplugin-arg-perfmap-map=no'");
}

static MCSymbol *symbol_named(AsmPrinter *printer, StringRef name)
{
    return printer->OutContext.getOrCreateSymbol(name);
}

/* A number, or the distance from one symbol to another. False: something else. */
static bool emit_leb128(AsmPrinter *printer, StringRef value)
{
    uint64_t number;
    if (!value.getAsInteger(0, number)) {
        printer->OutStreamer->emitULEB128IntValue(number);
        return true;
    }
    auto distance = value.split('-');
    if (distance.second.empty() || !is_plain(distance.first) || !is_plain(distance.second))
        return false;
    MCContext &context = printer->OutContext;
    printer->OutStreamer->emitULEB128Value(MCBinaryExpr::createSub(
        MCSymbolRefExpr::create(symbol_named(printer, distance.first), context),
        MCSymbolRefExpr::create(symbol_named(printer, distance.second), context), context));
    return true;
}

static const char list_begin[] = "\t.uleb128 ";

/* What follows what was emitted. */
static StringRef emit_list(AsmPrinter *printer, StringRef list)
{
    while (!list.empty()) {
        auto parts = list.split(',');
        if (!emit_leb128(printer, parts.first))
            break;
        list = parts.second;
    }
    return list;
}

/* LLVM's parser is made anew for each piece of text, and takes ten times as long for a number: 2 %
 * of compiling C. So it gets only what is left of a line here. */
static std::string emit_line(AsmPrinter *printer, StringRef line)
{
    if (line.consume_front(list_begin)) {
        line = emit_list(printer, line);
        return line.empty() ? "" : (list_begin + line + "\n").str();
    }
    if (line == "\t.popsection") {
        printer->OutStreamer->pm_pop_section();
        return "";
    }
    StringRef label = line;
    if (!label.consume_back(":") || !is_plain(label))
        return (line + "\n").str();
    printer->OutStreamer->emitLabel(symbol_named(printer, label));
    return "";
}

static void assemble(AsmPrinter *printer, StringRef text)
{
    std::string pending; /* for the parser */
    while (!text.empty()) {
        auto lines = text.split('\n');
        text = lines.second;
        bool is_list = lines.first.take_front(sizeof list_begin - 1) == list_begin;
        if (is_list && !pending.empty())
            parse(printer, pending.data(), pending.size());
        if (is_list || pending.empty())
            pending = emit_line(printer, lines.first);
        else
            pending += (lines.first + "\n").str();
    }
    if (!pending.empty())
        parse(printer, pending.data(), pending.size());
}

static void write_text(AsmPrinter *printer, struct pm_buf *text)
{
    if (text->failed)
        pm_no_memory();
    StringRef all(text->data, text->len);
    if (!all.empty() && printer->OutStreamer->hasRawTextSupport())
        printer->OutStreamer->emitRawText(all);
    else
        assemble(printer, all);
    pm_buf_clear(text);
}

static thread_local struct pm_buf output = PM_BUF_INIT(INT_MAX);

/* --- sections --- */

/* By the section of code, or of a part behind a function's first, by a number of its own. */
static thread_local std::map<std::pair<const MCSection *, size_t>, struct pm_map_section *>
    sections;
static thread_local struct pm_map_encoder *encoder;

/* The global symbol from which addresses of the section are written: a function's, or a hidden
 * one made for it. A weak function that is in no group may be another object's. */
static std::string anchor_of(AsmPrinter *printer, const MachineFunction &machine, pm_id symbol,
                             const struct pm_code_part &part, unsigned number, const char *label)
{
    const Function &function = machine.getFunction();
    std::string name = printer->getSymbol(&function)->getName().str();
    if (number == 0 && (function.hasExternalLinkage() || function.hasComdat()) && is_plain(name))
        return name;
    char anchor[PM_MAP_ANCHOR_BYTES];
    std::string unit = pm_compilation.input + " " + pm_compilation.output;
    if (number > 0)
        unit += " " + std::to_string(number);
    pm_map_anchor_name(symbol, part.is_cold, pm_working_folder().c_str(), unit.c_str(), anchor);
    pm_map_anchor_write(anchor, label, &output);
    write_text(printer, &output);
    return anchor;
}

/* Blocks of code in one section share a section of blocks, and ids. number: of the function's
 * parts; those behind the first are in sections of their own. */
static struct pm_map_section *section_of(AsmPrinter *printer, const MachineFunction &machine,
                                         pm_id symbol, const struct pm_code_part &part,
                                         unsigned number)
{
    const Function &function = machine.getFunction();
    bool is_first = number == 0;
    struct pm_map_section *&found =
        sections[is_first ? std::make_pair((const MCSection *)machine.getSection(), (size_t)0)
                          : std::make_pair((const MCSection *)NULL, sections.size() + 1)];
    if (found)
        return found;
    std::string begin = (*labels)[(size_t)part.begin], end = (*labels)[(size_t)part.end];
    std::string anchor = anchor_of(printer, machine, symbol, part, number, begin.c_str());
    bool shares = is_first && !printer->TM.getFunctionSections() && !function.hasComdat() &&
                  !function.hasSection();
    found = pm_map_section_new((unsigned)sections.size(), end.c_str(), anchor.c_str(),
                               begin.c_str(), shares);
    if (!found)
        pm_no_memory();
    return found;
}

void pm_map_end(AsmPrinter *printer)
{
    for (const auto &entry : sections)
        pm_map_ids_write(entry.second, &output);
    write_text(printer, &output);
    for (const auto &entry : sections)
        pm_map_section_free(entry.second);
    sections.clear();
    pm_map_encoder_free(encoder);
    encoder = NULL;
}

/* --- the function --- */

void pm_map_write(AsmPrinter *printer, const MachineFunction &machine, pm_id symbol,
                  struct pm_code_lists *lists)
{
    if (!encoder)
        encoder = pm_map_encoder_new(pm_unit_facts(), add_label);
    if (!encoder)
        pm_no_memory();
    labels = &lists->labels;
    struct pm_map_function map = pm_map_sets_function(lists->sets, symbol);
    MCStreamer &out = *printer->OutStreamer;
    out.pm_push_section();
    out.pm_switch_section(machine.getSection()); /* of the function's group */
    for (size_t i = 0; i < lists->parts.size(); i++) {
        const struct pm_code_part &part = lists->parts[i];
        if (part.ranges.empty())
            continue;
        struct pm_map_part ranges = {part.is_cold, part.begin, part.end, part.ranges.data(),
                                     (uint32_t)part.ranges.size()};
        struct pm_map_section *section = section_of(printer, machine, symbol, part, (unsigned)i);
        pm_map_block_write(encoder, &map, &ranges, section, &output);
        write_text(printer, &output);
    }
    out.pm_pop_section();
    pm_map_sets_free(lists->sets);
    lists->sets = NULL;
}
