/* Prints a run file as it is, for tests: header fields, objects, each thread's tree (nouns by id in
 * hex), counters, messages. Trusts its input more than the reader in mapping/run does. Calls and
 * sums are exact. */
#include "../../format/pm_run.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static const char *base;
static uint64_t end;

struct object {
    const struct pm_run_object *o;
} objects[4096];
static unsigned n_objects;

static uint64_t id_of(uint32_t noun)
{
    for (unsigned i = 0; i < n_objects; i++) {
        const struct pm_run_object *o = objects[i].o;
        if (noun >= o->first_noun && noun - o->first_noun < o->chunk.n_items)
            return ((const struct pm_run_noun *)((const char *)o +
                                                 o->nouns_offset))[noun - o->first_noun]
                .id;
    }
    return 0;
}

static void print_nodes(const struct pm_run_chunk *chunk, uint64_t nodes_at)
{
    const struct pm_run_node *node = (const struct pm_run_node *)((const char *)chunk + nodes_at);
    for (uint64_t i = 0; i < chunk->n_items; i++, node++) {
        if (node->kind == 0 && node->noun != PM_RUN_NOUN_ROOT)
            continue;
        printf("node %u depth %u", (unsigned)i, node->depth);
        if (node->noun == PM_RUN_NOUN_ROOT)
            printf(" root");
        const struct pm_run_node *n = node;
        for (; n->noun != PM_RUN_NOUN_ROOT;
             n = (const struct pm_run_node *)(base + (uint64_t)n->parent * 64))
            if (n->depth <= 12 || n == node)
                printf("%s%llx", n == node ? " " : "<", (unsigned long long)id_of(n->noun));
        if (n != node && n->flags & PM_RUN_NODE_FOREIGN_STACK)
            printf("<foreign");
        printf(" calls %llu incl %llu%s%s%s\n", (unsigned long long)node->n_calls,
               (unsigned long long)node->inclusive_tsc, node->sp != 0 ? " open" : "",
               node->flags & PM_RUN_NODE_FOLDED ? " folded" : "",
               node->flags & PM_RUN_NODE_FOREIGN_STACK ? " foreign" : "");
    }
}

static void print_chunk(const struct pm_run_chunk *c, uint64_t offset)
{
    switch (c->kind) {
    case PM_RUN_CHUNK_OBJECT: {
        const struct pm_run_object *o = (const struct pm_run_object *)c;
        printf("object %u sleds %u bad %u nouns %llu %s %.*s\n", o->index, o->n_sleds,
               o->n_bad_sleds, (unsigned long long)c->n_items,
               o->unloaded_tsc ? "unloaded" : "loaded", (int)o->path_bytes,
               (const char *)o + o->strings_offset);
        break;
    }
    case PM_RUN_CHUNK_THREAD: {
        const struct pm_run_thread *t = (const struct pm_run_thread *)c;
        printf("thread %u shared_by %u %s cpu %s folded %llu nodes %llu\n", t->tid, t->n_threads,
               t->end_tsc ? "ended" : "running", t->cpu_ns ? "known" : "unknown",
               (unsigned long long)t->n_events_folded, (unsigned long long)c->n_items);
        print_nodes(c, PM_RUN_THREAD_NODES);
        break;
    }
    case PM_RUN_CHUNK_NODES:
        print_nodes(c, PM_RUN_NODES_DATA);
        break;
    case PM_RUN_CHUNK_COUNTS: {
        const struct pm_run_counts *counts = (const struct pm_run_counts *)c;
        const uint64_t *k = (const uint64_t *)((const char *)c + PM_RUN_COUNTS_DATA);
        for (uint64_t i = 0; i < c->n_items; i++)
            for (unsigned o = 0; o < n_objects; o++)
                if (objects[o].o->index == counts->object && k[i] != 0)
                    printf("count %llx %llu\n",
                           (unsigned long long)id_of(objects[o].o->first_noun + (uint32_t)i),
                           (unsigned long long)k[i]);
        break;
    }
    case PM_RUN_CHUNK_MESSAGE: {
        const struct pm_run_message *m = (const struct pm_run_message *)c;
        printf("message %u %.*s\n", m->code, (int)m->text_bytes, m->text);
        break;
    }
    default:
        printf("chunk %u at %llu\n", c->kind, (unsigned long long)offset);
    }
}

static const struct pm_run_chunk *chunk_at(uint64_t offset)
{
    const struct pm_run_chunk *c = (const struct pm_run_chunk *)(base + offset);
    if (offset + PM_RUN_PAGE > end || c->magic != PM_RUN_CHUNK_MAGIC ||
        c->size_bytes > end - offset)
        return NULL;
    return c;
}

int main(int argc, char **argv)
{
    struct stat info;
    int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
    if (fd < 0 || fstat(fd, &info) != 0 || info.st_size < PM_RUN_PAGE) {
        fprintf(stderr, "dump_run: no run file\n");
        return 1;
    }
    end = (uint64_t)info.st_size;
    base = mmap(NULL, end, PROT_READ, MAP_PRIVATE, fd, 0);
    const struct pm_run_header *h = (const struct pm_run_header *)base;
    if (base == MAP_FAILED || memcmp(h->magic, PM_RUN_MAGIC, 8) != 0)
        return 1;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) {
            printf("run mode %u flags%s%s%s%s%s sleds %llu armed %llu\n", h->mode,
                   h->flags & PM_RUN_FLAG_ENDED ? " ended" : "",
                   h->flags & PM_RUN_FLAG_EXEC ? " exec" : "",
                   h->flags & PM_RUN_FLAG_FORKED ? " forked" : "",
                   h->flags & PM_RUN_FLAG_NO_SLEDS ? " no_sleds" : "",
                   h->flags & PM_RUN_FLAG_PORTABLE ? " portable" : "",
                   (unsigned long long)h->n_sleds, (unsigned long long)h->n_armed);
            printf("lost %llu unmatched %llu healed %llu foreign %llu\n",
                   (unsigned long long)h->n_lost_contexts, (unsigned long long)h->n_unmatched,
                   (unsigned long long)h->n_healed, (unsigned long long)h->n_foreign_stack);
            printf("pair_ps %llu event_ps %llu\n", (unsigned long long)h->exact_pair_ps,
                   (unsigned long long)h->count_event_ps);
        }
        for (uint64_t offset = PM_RUN_PAGE; offset + PM_RUN_PAGE <= end;) {
            const struct pm_run_chunk *c = chunk_at(offset);
            if (c == NULL) {
                offset += PM_RUN_PAGE;
                continue;
            }
            if (pass == 0 && c->kind == PM_RUN_CHUNK_OBJECT && n_objects < 4096)
                objects[n_objects++].o = (const struct pm_run_object *)c;
            else if (pass == 1)
                print_chunk(c, offset);
            offset += c->size_bytes;
        }
    }
    return 0;
}
