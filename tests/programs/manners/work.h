/* What most of these programs do: work(n) calls leaf n times. Both are in NAMES. */
#ifndef WORK_H
#define WORK_H

SEPARATE static long leaf(long n)
{
    COUNT(leaf);
    return n + 1;
}

SEPARATE static long work(long n)
{
    COUNT(work);
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += leaf(i);
    return sum;
}

#endif
