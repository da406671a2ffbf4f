/* Where the facts go: the section .perfmap.pif of the object, and NAME.pif beside it. */
#include "backend.h"

#include "llvm/Config/llvm-config.h"

extern "C" {
#include "../emit/facts_text.h"
}

static thread_local struct pm_facts *facts;

struct pm_facts *pm_unit_facts(void)
{
    if (facts == NULL) {
        std::string producer =
            "perfmap-clang" + std::to_string(LLVM_VERSION_MAJOR) + " " PERFMAP_VERSION;
        facts = pm_facts_new(producer.c_str());
    }
    if (facts == NULL || pm_facts_failed(facts))
        pm_no_memory();
    return facts;
}

void pm_unit_facts_forget(void)
{
    pm_facts_free(facts);
    facts = NULL;
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

void pm_facts_write_pif(void)
{
    struct pm_buf warning = PM_BUF_INIT((size_t)1 << 20);
    if (!pm_facts_keep(pm_unit_facts(), &pm_compilation.options, pm_compilation.input.c_str(),
                       pm_compilation.output.c_str(), &warning))
        fprintf(stderr, "%s\n", warning.data);
    pm_buf_release(&warning);
}
