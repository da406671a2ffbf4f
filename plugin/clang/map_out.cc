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
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"

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

static void write_text(AsmPrinter *printer, struct pm_buf *text)
{
    if (text->failed)
        pm_no_memory();
    if (text->len != 0 && printer->OutStreamer->hasRawTextSupport())
        printer->OutStreamer->emitRawText(StringRef(text->data, text->len));
    else if (text->len != 0)
        parse(printer, text->data, text->len);
    pm_buf_clear(text);
}

static thread_local struct pm_buf output = PM_BUF_INIT(INT_MAX);

/* --- sections --- */

/* By the section of code, or of a part behind a function's first, by a number of its own. */
static thread_local std::map<std::pair<const MCSection *, size_t>, struct pm_map_section *>
    sections;
static thread_local struct pm_map_encoder *encoder;

/* Symbols that any assembler takes without quotes. */
static bool is_plain(const std::string &name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$";
    return name.find_first_not_of(plain) == std::string::npos;
}

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
