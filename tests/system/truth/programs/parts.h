/* Parts of known CPU time. */
#ifndef PARTS_H
#define PARTS_H
#include "truth.h"
static volatile double sink;
static struct { const char *name; double ms; } parts_[32];
static int n_parts_;
#define PART(name_, wanted, ...)                                                                   \
    do {                                                                                           \
        double part_begin_ = THREAD_MS(), part_last_ = part_begin_, part_end_ = part_begin_;       \
        for (long part_turns_ = 1; part_end_ - part_begin_ < wanted;) {                            \
            for (long part_turn_ = 0; part_turn_ < part_turns_; part_turn_++) {                    \
                AGAIN();                                                                           \
                __VA_ARGS__;                                                                       \
            }                                                                                      \
            part_end_ = THREAD_MS();                                                               \
            if (part_end_ - part_last_ < 1)                                                        \
                part_turns_ *= 2;                                                                  \
            part_last_ = part_end_;                                                                \
        }                                                                                          \
        parts_[n_parts_].name = name_;                                                             \
        parts_[n_parts_++].ms = part_end_ - part_begin_;                                           \
    } while (0)
__attribute__((unused)) static void print_parts(void)
{
    double all = 0;
    for (int i = 0; i < n_parts_; i++)
        all += parts_[i].ms;
    for (int i = 0; i < n_parts_; i++)
        truth(parts_[i].name, 100 * parts_[i].ms / all);
}
#endif
