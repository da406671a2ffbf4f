/* What is under way: a request, and on whose behalf it was made. */
#include "mpi_words.h"

#include <string.h>

enum { TABLE_ENTRIES = 1 << 15, MAX_REQUESTS = TABLE_ENTRIES / 2 };

static struct mpi_request table[TABLE_ENTRIES];
static uint32_t n_requests;
static uint8_t busy; /* held for a few instructions */

static void take(void)
{
    while (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE))
        __asm__ volatile("");
}

static void give_back(void)
{
    __atomic_clear(&busy, __ATOMIC_RELEASE);
}

static uint32_t first_entry(mpi_word handle)
{
    return (uint32_t)(handle * 0x9e3779b97f4a7c15u >> 40) % TABLE_ENTRIES;
}

static struct mpi_request *look_up(mpi_word handle)
{
    uint32_t i = first_entry(handle);
    while (table[i].handle && table[i].handle != handle)
        i = (i + 1) % TABLE_ENTRIES;
    return &table[i];
}

/* What lies behind moves up, so that no gap hides it. */
static void remove_entry(struct mpi_request *entry)
{
    uint32_t hole = (uint32_t)(entry - table);
    n_requests--;
    for (uint32_t i = (hole + 1) % TABLE_ENTRIES; table[i].handle; i = (i + 1) % TABLE_ENTRIES) {
        uint32_t home = first_entry(table[i].handle);
        bool stays = hole < i ? home > hole && home <= i : home > hole || home <= i;
        if (stays)
            continue;
        table[hole] = table[i];
        hole = i;
    }
    table[hole].handle = 0;
}

void mpi_request_made(const struct mpi_request *request)
{
    take();
    struct mpi_request *entry = look_up(request->handle);
    bool has_room = entry->handle || n_requests < MAX_REQUESTS;
    n_requests += has_room && !entry->handle;
    if (has_room)
        *entry = *request;
    give_back();
    if (!has_room)
        mpi_say_limit("requests");
}

bool mpi_request_find(mpi_word handle, struct mpi_request *ret_request)
{
    if (!handle || !__atomic_load_n(&n_requests, __ATOMIC_RELAXED))
        return false;
    take();
    *ret_request = *look_up(handle);
    give_back();
    return ret_request->handle != 0;
}

void mpi_request_started(mpi_word handle, struct pm_cause cause, uint32_t order, uint64_t asked_ns)
{
    take();
    struct mpi_request *entry = look_up(handle);
    if (entry->handle) {
        entry->cause = cause;
        entry->order = order;
        entry->asked_ns = asked_ns;
        entry->is_active = true;
    }
    give_back();
}

void mpi_request_completed(mpi_word handle)
{
    take();
    struct mpi_request *entry = look_up(handle);
    entry->is_active = false;
    if (entry->handle && !entry->is_persistent)
        remove_entry(entry);
    give_back();
}

void mpi_request_freed(mpi_word handle)
{
    take();
    struct mpi_request *entry = look_up(handle);
    if (entry->handle)
        remove_entry(entry);
    give_back();
}
