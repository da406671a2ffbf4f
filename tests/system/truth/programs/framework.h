/* What a test framework's header has in /usr/include. */
#ifndef FRAMEWORK_H
#define FRAMEWORK_H
#pragma GCC system_header

/* Of the function only the head is the macro's, and the first token of its name is of this header. */
#define TEST(name)                                                                                 \
    NOINLINE static void test_##name(int times);                                                   \
    NOINLINE static void test_##name(int times)
#define TRY(...)                                                                                   \
    do {                                                                                           \
        if (!(__VA_ARGS__))                                                                        \
            n_failed++;                                                                            \
    } while (0)

#endif
