/* make_archive SCRIPT.sql ARCHIVE: for the tests of commands. */
#include "archives.h"

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: make_archive SCRIPT.sql ARCHIVE\n", stderr);
        return 2;
    }
    return !make_archive(argv[1], "", argv[2]);
}
