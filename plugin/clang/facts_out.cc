/* Where the facts go: the section .perfmap.pif of the object, and NAME.pif beside it. */
#include "backend.h"

#include "llvm/Config/llvm-config.h"

#include <cerrno>

extern "C" {
#include "../emit/facts_text.h"
}

struct pm_facts *pm_unit_facts(void)
{
    static struct pm_facts *facts;
    if (facts == NULL) {
        std::string producer =
            "perfmap-clang" + std::to_string(LLVM_VERSION_MAJOR) + " " PERFMAP_VERSION;
        facts = pm_facts_new(producer.c_str());
    }
    if (facts == NULL || pm_facts_failed(facts))
        pm_no_memory();
    return facts;
}

void pm_facts_chunk(struct pm_buf *ret_chunk)
{
    struct pm_facts *facts = pm_unit_facts();
    if (pm_pif_n_nouns(facts->pif) == 0)
        return;
    pm_pif_write_compressed(facts->pif, ret_chunk);
    if (ret_chunk->failed)
        pm_no_memory();
}

/* False: there is to be no such file. */
static bool pif_name(struct pm_buf *ret_name)
{
    const struct pm_options *options = &pm_compilation.options;
    if (options->pif_none || (options->pif_dir == NULL && pm_compilation.output.empty()))
        return false;
    const std::string &output =
        !pm_compilation.output.empty() ? pm_compilation.output : pm_compilation.input;
    if (output == "/dev/null")
        return false;
    pm_facts_file_name(output.c_str(), options->pif_dir, ret_name);
    if (ret_name->failed)
        pm_no_memory();
    return true;
}

void pm_facts_write_pif(void)
{
    struct pm_facts *facts = pm_unit_facts();
    struct pm_buf name = PM_BUF_INIT((size_t)1 << 20);
    if (pm_pif_n_nouns(facts->pif) != 0 && pif_name(&name) &&
        !pm_facts_write_file(facts, name.data))
        fprintf(stderr,
                "perfmap: warning: cannot write '%s': %s; the facts are in the object all the same "
                "(pif=none: no such files)\n",
                name.data, strerror(errno));
    pm_buf_release(&name);
}
