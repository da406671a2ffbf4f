/* Lists that are tied when they are declared: a head that holds its own address, as kernels and
 * interpreters have them, a ring of variables, and a ring within one table. */
#include "truth.h"

#include <stddef.h>

enum { N = 400 };

struct link {
    struct link *next, *previous;
};

struct item {
    struct link link;
    int weight, price;
};

static struct link queue = {&queue, &queue};

struct stop {
    struct stop *next;
    int wait;
};

static struct stop east;
static struct stop west = {&east, 3};
static struct stop east = {&west, 4};

static struct item items[N];

static void add(struct item *item)
{
    item->link.previous = queue.previous;
    item->link.next = &queue;
    queue.previous->next = &item->link;
    queue.previous = &item->link;
}

NOINLINE static int weigh(const struct link *head)
{
    int sum = 0;
    for (const struct link *link = head->next; link != head; link = link->next) /* @walk */
        sum += ((const struct item *)link)->weight;                             /* @weigh */
    return sum;
}

NOINLINE static void mark_up(struct link *head)
{
    for (struct link *link = head->next; link != head; link = link->next)
        ((struct item *)link)->price += 7;
}

NOINLINE static int travel(const struct stop *stop, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++, stop = stop->next)
        sum += stop->wait;
    return sum;
}

int main(void)
{
    double ms[3] = {0}, whole = THREAD_MS(), n_weigh = 0;
    int sum = 0;
    for (int i = 0; i < N; i++) {
        items[i].weight = i % 5;
        add(&items[i]);
    }
    while (THREAD_MS() - whole < 400) {
        double start = THREAD_MS(), end;
        for (int k = 0; k < 1000; k++) {
            AGAIN();
            sum += weigh(&queue);
        }
        n_weigh += 1000;
        ms[0] += (end = THREAD_MS()) - start;
        start = end;
        for (int k = 0; k < 500; k++) {
            AGAIN();
            mark_up(&queue);
        }
        ms[1] += (end = THREAD_MS()) - start;
        start = end;
        for (int k = 0; k < 500; k++) {
            AGAIN();
            sum += travel(&west, N);
        }
        ms[2] += (end = THREAD_MS()) - start;
    }
    whole = THREAD_MS() - whole;
    truth("weigh", 100 * ms[0] / whole);
    truth("mark_up", 100 * ms[1] / whole);
    truth("travel", 100 * ms[2] / whole);
    truth("n_weigh", n_weigh);
    return sum == 0;
}
