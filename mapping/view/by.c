/* What rows can be, in words. */
#include "view.h"

static const struct {
    const char *word, *prose;
} bys[] = {
#define BY(id, word, prose) {word, prose},
#include "by.def"
#undef BY
};

const char pm_view_by_words[] =
#define BY(id, word, prose) "|" word
#include "by.def"
#undef BY
    ;

const char *pm_view_by_word(enum pm_view_by by)
{
    return bys[by].word;
}

const char *pm_view_by_prose(enum pm_view_by by)
{
    return bys[by].prose;
}
