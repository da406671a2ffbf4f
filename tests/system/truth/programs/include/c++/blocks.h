/* What a library of templates has in /usr/include. The path tells that it is of the system. */
#ifndef BLOCKS_H
#define BLOCKS_H

enum { BLOCK = 12000 };

template <typename T> NOINLINE void add_block(T *to, const T *block, int n, T factor)
{
    for (int i = 0; i < n; i++)
        to[i] += block[i] * factor;
}

/* Its arrays lie on the stack: 96 KB for double. What add_block's caller called is further away. */
template <typename T> NOINLINE void add_scaled(T *to, const T *from, int n, T factor)
{
    T block[BLOCK];
    for (int i = 0; i < n; i++)
        block[i] = from[i];
    for (int k = 0; k < 20; k++)
        add_block(to, block, n, factor);
}

#endif
