/* mapping/import/otf2_records.c: what a child that reads a bad trace may write */
#include "tests/import/otf2_reader.h"

#define FORMAT "otf2"
#define FUZZ_READ read_otf2_records
#include "import_fuzz.h"
