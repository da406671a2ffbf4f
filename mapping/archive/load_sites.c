/* Attributes `inlined at` and `called at` of machine code: where in the source it is called. */
#include "load_internal.h"

static bool next_number(const char **text, int64_t *ret_number)
{
    int64_t n = 0;
    while (**text == ' ')
        ++*text;
    if (**text < '0' || **text > '9')
        return false;
    for (; **text >= '0' && **text <= '9'; ++*text)
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, **text - '0', &n))
            return false;
    *ret_number = n;
    return true;
}

/* One line: the caller, if it is a call, and sentences. */
static enum pm_status read_site(struct loader *load, const struct load_sites_text *from,
                                const char **text)
{
    struct pm_archive_data *data = load->data;
    struct pm_call_site site = {from->noun, PM_NONE, data->n_call_places, 0};
    enum pm_status status = PM_OK;
    int64_t id;
    if (from->are_calls && !next_number(text, &id))
        return load_damaged(load, "'called at' of '%s' names no caller",
                            data->graph->nouns[from->noun].name);
    if (from->are_calls)
        status = load_need_noun(load, id, &site.caller);
    while (status == PM_OK && next_number(text, &id)) {
        if (!load_room(&data->call_places, data->n_call_places, sizeof *data->call_places))
            return load_no_memory(load);
        status = load_need_sentence(load, id, &data->call_places[data->n_call_places]);
        data->n_call_places++;
        site.n++;
    }
    if (status != PM_OK)
        return status;
    if (!load_room(&data->call_sites, data->n_call_sites, sizeof *data->call_sites))
        return load_no_memory(load);
    data->call_sites[data->n_call_sites++] = site;
    return **text == '\n' || !**text
               ? PM_OK
               : load_damaged(load, "where '%s' is called is not told in numbers",
                              data->graph->nouns[from->noun].name);
}

static int compare_sites(const void *a, const void *b)
{
    const struct pm_call_site *x = a, *y = b;
    if (x->noun != y->noun)
        return x->noun < y->noun ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

enum pm_status load_call_sites(struct loader *load)
{
    struct pm_archive_data *data = load->data;
    enum pm_status status = PM_OK;
    for (uint32_t i = 0; i < load->n_sites && status == PM_OK; i++) {
        const struct load_sites_text from = load->sites[i]; /* more may come */
        const char *text = from.text;
        do
            status = read_site(load, &from, &text);
        while (status == PM_OK && *text++ == '\n');
    }
    if (data->n_call_sites)
        qsort(data->call_sites, data->n_call_sites, sizeof *data->call_sites, compare_sites);
    return status;
}

static bool is_of_noun_before(const void *site, const void *noun)
{
    return ((const struct pm_call_site *)site)->noun < *(const pm_index *)noun;
}

const struct pm_call_site *pm_archive_call_sites(const struct pm_archive_data *data, pm_index noun,
                                                 uint32_t *ret_n)
{
    uint32_t low = (uint32_t)pm_lower_bound(data->call_sites, data->n_call_sites,
                                            sizeof *data->call_sites, &noun, is_of_noun_before);
    for (*ret_n = 0;
         low + *ret_n < data->n_call_sites && data->call_sites[low + *ret_n].noun == noun;)
        ++*ret_n;
    return data->call_sites + low;
}
