/* Sled records that lie, beside one that is good: each must be refused and counted, and its target
 * left alone. */
#include "../../runtime/sleds.h"

#include <stdio.h>
#include <string.h>

PM_TEST_FUNCTION(good, 0x1);
long good(long x);
long good_body(long x);
long good_body(long x)
{
    return x + 1;
}

char data[8] = {0x0f, 0x1f, 0x44, 0x00, 0x00}; /* the right bytes in the wrong segment */
__asm__(".text\n"
        "almost: .byte 0x0f, 0x1f, 0x44, 0x00, 0x01\n"                              //
        "other: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x0f, 0x1f, 0x44, 0x00, 0x00\n" //
        PM_TEST_RECORD("data", 1, 0x80, 0, 0x11)                                    // not code
        PM_TEST_RECORD("almost", 1, 0x80, 0, 0x12)                                  // not a sled
        PM_TEST_RECORD("other", 0, 0x80, 0, 0x13)                                   // no such kind
        PM_TEST_RECORD("other", 7, 0x80, 0, 0x13)                                   //
        PM_TEST_RECORD("other", 1, 0x80, 0, 0)                                      // no id
        PM_TEST_RECORD("other+1", 1, 0x80, 0, 0x14)                                 // within a sled
        PM_TEST_RECORD("good+0x10000000", 1, 0x80, 0, 0x15)                         // outside
        PM_TEST_RECORD("good-0x10000000", 1, 0x80, 0, 0x16)                         //
        PM_TEST_RECORD(".Lentry_good", 1, 0x80, 0xffff, 0x1)                        // twice
        PM_TEST_RECORD("other+5", 2, 0x80, 0, 0x17)); // an exit without entry: sound, never armed

int main(void)
{
    static const char expected[8] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
    printf("%ld %d\n", good(1), memcmp(data, expected, 8));
    return 0;
}
