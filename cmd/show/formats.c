/* The table of formats. */
#include "formats.h"

const struct show_format *const show_formats[SHOW_N_FORMATS] = {
#define FORMAT(word, help) &show_format_##word,
#include "formats.def"
#undef FORMAT
};
