/* The files of a folder of facts. */
#include "facts.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { NAME_BYTES = 1 << 16 };

static int is_facts_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && pm_str_ends_with(entry->d_name, ".pif");
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory for the facts");
}

static struct pm_pif *add_pif(struct pdt_facts *facts)
{
    void *grown = pm_grow_array(facts->items, facts->n, &facts->cap, 64, sizeof *facts->items);
    if (!grown)
        return NULL;
    facts->items = grown;
    struct pm_pif *pif = pm_pif_new();
    if (pif)
        facts->items[facts->n++] = pif;
    return pif;
}

/* --- files of objects that are no longer built --- */

/* "heat-0123456789abcdef.pif" is of heat.o or heat.c.o: is it of this source? */
static bool is_source_of(const char *source, const char *facts)
{
    const char *name = strrchr(source, '/'), *stem = strrchr(facts, '/');
    const char *dash = stem ? strrchr(stem, '-') : NULL;
    if (!name || !dash)
        return false;
    size_t len = (size_t)(dash - stem);
    return !strncmp(name, stem, len) &&
           (!name[len] || (name[len] == '.' && !strchr(name + len + 1, '.')));
}

static const char *source_of(const struct pm_pif *pif, const char *facts)
{
    struct pm_pif_noun noun;
    for (size_t i = 0; i < pm_pif_n_nouns(pif); i++) {
        pm_pif_get_noun(pif, i, &noun);
        const char *path = noun.kind && !strcmp(noun.kind, "file")
                               ? pm_pif_get_attribute(pif, noun.id, "path")
                               : NULL;
        if (path && *path == '/' && is_source_of(path, facts))
            return path;
    }
    return NULL;
}

/* True: its source is gone. */
static bool is_stale(struct pdt_facts *facts, const struct pm_pif *pif, const char *path)
{
    struct stat source, written;
    const char *name = source_of(pif, path);
    if (!name || stat(path, &written) != 0)
        return false;
    if (stat(name, &source) != 0)
        return errno == ENOENT;
    bool is_newer = source.st_mtim.tv_sec > written.st_mtim.tv_sec ||
                    (source.st_mtim.tv_sec == written.st_mtim.tv_sec &&
                     source.st_mtim.tv_nsec > written.st_mtim.tv_nsec);
    facts->n_old += is_newer;
    return false;
}

static void drop_last(struct pdt_facts *facts)
{
    pm_pif_free(facts->items[--facts->n]);
    facts->n_stale++;
}

static void tell_stale(const struct pdt_facts *facts, const char *dir,
                       void (*note)(void *context, const char *text), void *context)
{
    struct pm_buf text = PM_BUF_INIT(8192);
    if (facts->n_stale)
        pm_buf_printf(&text, "'%s': left out %u of sources that are gone", dir, facts->n_stale);
    if (facts->n_old)
        pm_buf_printf(&text, "%s%u older than the source: compile again",
                      facts->n_stale ? "; " : "facts: ", facts->n_old);
    if (note && text.len)
        note(context, text.data);
    pm_buf_release(&text);
}

/* A damaged file is told of, and does not end the build. */
static enum pm_status read_file(struct pdt_facts *facts, const char *path,
                                void (*note)(void *context, const char *text), void *context,
                                struct pm_error *err)
{
    struct pm_error problem = PM_ERROR_INIT;
    struct pm_pif *pif = add_pif(facts);
    if (!pif)
        return no_memory(err);
    enum pm_status status = pm_pif_read_file(pif, path, &problem);
    if (status == PM_ERR_MEMORY || pm_pif_failed(pif)) {
        pm_error_release(&problem);
        return no_memory(err);
    }
    facts->n_damaged += status != PM_OK;
    if (status != PM_OK && note) {
        struct pm_buf text = PM_BUF_INIT(8192);
        pm_buf_printf(&text, "%s; what stands before is kept", pm_error_text(&problem));
        note(context, text.data ? text.data : "a file of facts is damaged");
        pm_buf_release(&text);
    }
    pm_error_release(&problem);
    if (!pm_pif_n_nouns(pif))
        return PM_OK;
    if (is_stale(facts, pif, path))
        drop_last(facts);
    return PM_OK;
}

static enum pm_status check_read(const char *dir, const struct pdt_facts *facts,
                                 struct pm_error *err)
{
    if (facts->n && facts->n_damaged < facts->n)
        return PM_OK;
    if (facts->n)
        return pm_error_set(err, PM_ERR_FORMAT, "none of %u files of facts in '%s' could be read",
                            facts->n, dir);
    if (facts->n_stale)
        return pm_error_set(err, PM_ERR_NOT_FOUND, "all facts in '%s' are of sources that are gone",
                            dir);
    pm_error_set(err, PM_ERR_NOT_FOUND, "there are no facts (*.pif) in '%s'", dir);
    return pm_error_add(err, "compile the program with -fplugin=$(perfmap plugin-path) "
                             "-fplugin-arg-perfmap-pdb=DIR");
}

enum pm_status pdt_facts_read(const char *dir, void (*note)(void *context, const char *text),
                              void *context, struct pm_error *err, struct pdt_facts *ret_facts)
{
    struct dirent **names;
    int n = scandir(dir, &names, is_facts_file, by_name);
    enum pm_status status = PM_OK;
    if (n < 0)
        return pm_error_system(err, errno, "cannot read the folder of facts '%s'", dir);
    for (int i = 0; i < n; i++) {
        struct pm_buf path = PM_BUF_INIT(NAME_BYTES);
        pm_buf_printf(&path, "%s/%s", dir, names[i]->d_name);
        status = read_file(ret_facts, path.data ? path.data : "", note, context, err);
        pm_buf_release(&path);
        if (status != PM_OK)
            break;
    }
    for (int i = 0; i < n; i++)
        free(names[i]);
    free(names);
    if (status != PM_OK)
        return status;
    tell_stale(ret_facts, dir, note, context);
    return check_read(dir, ret_facts, err);
}

void pdt_facts_release(struct pdt_facts *facts)
{
    for (uint32_t i = 0; i < facts->n; i++)
        pm_pif_free(facts->items[i]);
    free(facts->items);
    pm_arena_release(&facts->arena);
    *facts = (struct pdt_facts){0};
}
