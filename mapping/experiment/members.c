/* Members with their attributes, and whether their archives are as they were. */
#define XXH_INLINE_ALL
#include "experiment_internal.h"

#include "mapping/base/path.h"
#include "mapping/base/text.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { MOST_MEMBERS = 1000000 };

struct loading {
    struct pm_experiment *experiment;
    struct pm_error *err;
    uint32_t cap, at;                       /* at: the member that attributes are read of */
    struct pm_member_attribute *attributes; /* of that */
    uint32_t cap_attributes;
};

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* --- names --- */

char *experiment_name_of(const struct pm_experiment *experiment, const char *path)
{
    const char *folder = experiment->own->folder;
    size_t len = strlen(folder);
    struct pm_buf whole = PM_BUF_INIT(4 * PATH_MAX);
    char *cwd = getcwd(NULL, 0);
    pm_path_add_absolute(&whole, cwd ? cwd : "/", path);
    free(cwd);
    if (whole.failed) {
        pm_buf_release(&whole);
        return NULL;
    }
    bool is_inside = !strncmp(whole.data, folder, len) && whole.data[len] == '/';
    char *name = is_inside ? pm_strndup(whole.data + len + 1, whole.len - len - 1) : NULL;
    if (is_inside)
        pm_buf_release(&whole);
    return is_inside ? name : pm_buf_take(&whole);
}

static const char *path_of(struct loading *load, const char *name)
{
    struct pm_experiment_private *own = load->experiment->own;
    struct pm_buf path = PM_BUF_INIT(4 * PATH_MAX);
    if (*name != '/')
        pm_buf_add_str(&path, own->prefix);
    pm_buf_add_str(&path, name);
    const char *kept = path.failed ? NULL : pm_arena_strndup(&own->arena, path.data, path.len);
    pm_buf_release(&path);
    return kept;
}

/* --- are they as they were? --- */

enum pm_status experiment_sum(const char *path, struct pm_error *err, int64_t *ret_sum)
{
    enum { AT_ONCE = 1 << 20 };
    int fd;
    uint64_t size_bytes;
    enum pm_status status = pm_file_open(path, INT64_MAX, err, &fd, &size_bytes);
    if (status != PM_OK)
        return status;
    XXH3_state_t *state = XXH3_createState();
    char *block = pm_alloc(AT_ONCE);
    ssize_t n = state && block ? 1 : 0;
    status = n ? PM_OK : no_memory(err);
    if (n)
        XXH3_64bits_reset(state);
    while (n > 0 && (n = read(fd, block, AT_ONCE)) > 0)
        XXH3_64bits_update(state, block, (size_t)n);
    if (n < 0)
        status = pm_error_system(err, errno, "cannot read '%s'", path);
    else if (!status)
        *ret_sum = (int64_t)XXH3_64bits_digest(state);
    free(block);
    XXH3_freeState(state);
    close(fd);
    return status;
}

/* Who has its size and time is taken for what it was, as make does. */
static enum pm_member_state state_of(const char *path, sqlite3_stmt *row)
{
    struct stat st;
    struct pm_error unused = PM_ERROR_INIT;
    int64_t sum = 0;
    if (stat(path, &st) != 0)
        return PM_MEMBER_MISSING;
    int64_t mtime_ns = st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    if (st.st_size != sqlite3_column_int64(row, 2))
        return PM_MEMBER_CHANGED;
    if (mtime_ns == sqlite3_column_int64(row, 3))
        return PM_MEMBER_OK;
    bool is_same =
        experiment_sum(path, &unused, &sum) == PM_OK && sum == sqlite3_column_int64(row, 4);
    pm_error_release(&unused);
    return is_same ? PM_MEMBER_OK : PM_MEMBER_CHANGED;
}

enum pm_status pm_experiment_check(const struct pm_experiment_member *member, struct pm_error *err,
                                   enum pm_member_state *ret_state)
{
    int64_t sum = 0;
    *ret_state = PM_MEMBER_MISSING;
    if (access(member->path, F_OK) != 0)
        return PM_OK;
    enum pm_status status = experiment_sum(member->path, err, &sum);
    *ret_state = sum == member->sum ? PM_MEMBER_OK : PM_MEMBER_CHANGED;
    return status;
}

/* --- reading --- */

static const char *keep_text(struct loading *load, sqlite3_stmt *row, int column)
{
    struct pm_arena *arena = &load->experiment->own->arena;
    const char *text = pm_database_text(row, column);
    const char *kept = pm_arena_strndup(arena, text, strlen(text));
    return kept ? pm_text_printable(arena, kept) : NULL;
}

static enum pm_status read_member(void *context, sqlite3_stmt *row)
{
    struct loading *load = context;
    struct pm_experiment *experiment = load->experiment;
    if (experiment->n_members == MOST_MEMBERS)
        return pm_error_set(load->err, PM_ERR_LIMIT, "experiment '%s' has more than %d members",
                            experiment->path, MOST_MEMBERS);
    struct pm_experiment_member *members =
        pm_grow_array(experiment->members, experiment->n_members, &load->cap, 64, sizeof *members);
    if (!members)
        return no_memory(load->err);
    experiment->members = members;
    struct pm_experiment_member *member = &members[experiment->n_members++];
    bool is_poor = sqlite3_column_type(row, 6) != SQLITE_NULL;
    *member = (struct pm_experiment_member){.id = sqlite3_column_int64(row, 0),
                                            .path = path_of(load, pm_database_text(row, 1)),
                                            .name = keep_text(load, row, 1),
                                            .build = (uint32_t)sqlite3_column_int64(row, 5),
                                            .sum = sqlite3_column_int64(row, 4),
                                            .poor = is_poor ? keep_text(load, row, 6) : NULL};
    if (!member->path || !member->name || (is_poor && !member->poor))
        return no_memory(load->err);
    member->state = state_of(member->path, row);
    return PM_OK;
}

static enum pm_attribute_origin origin_of(const char *word)
{
    if (!strcmp(word, "user"))
        return PM_BY_USER;
    return strcmp(word, "binary") ? PM_BY_RUN : PM_BY_BINARY;
}

/* Attributes come by member; those of a member that is not there are passed over. */
static enum pm_status read_attribute(void *context, sqlite3_stmt *row)
{
    struct loading *load = context;
    struct pm_experiment *experiment = load->experiment;
    int64_t id = sqlite3_column_int64(row, 0);
    while (load->at < experiment->n_members && experiment->members[load->at].id < id)
        load->at++;
    if (load->at == experiment->n_members || experiment->members[load->at].id != id)
        return PM_OK;
    struct pm_experiment_member *member = &experiment->members[load->at];
    struct pm_member_attribute *attributes = (void *)member->attributes;
    uint32_t n = member->n_attributes;
    if ((n & (n - 1)) == 0) { /* doubles */
        attributes = pm_arena_alloc(&experiment->own->arena, 2 * (n + 1) * sizeof *attributes);
        if (!attributes)
            return no_memory(load->err);
        if (n)
            memcpy(attributes, member->attributes, n * sizeof *attributes);
        member->attributes = attributes;
    }
    attributes[member->n_attributes++] = (struct pm_member_attribute){
        keep_text(load, row, 1), keep_text(load, row, 2), origin_of(pm_database_text(row, 3))};
    return attributes[n].key && attributes[n].value ? PM_OK : no_memory(load->err);
}

enum pm_status experiment_load(struct pm_experiment *experiment, struct pm_error *err)
{
    struct loading load = {.experiment = experiment, .err = err};
    enum pm_status status = pm_database_each(
        experiment->own->database,
        "SELECT id, path, size_bytes, mtime_ns, sum, build, poor FROM members ORDER BY id", 0,
        read_member, &load, err);
    if (status != PM_OK)
        return status;
    return pm_database_each(
        experiment->own->database,
        "SELECT member, key, value, origin FROM attributes ORDER BY member, key", 0, read_attribute,
        &load, err);
}

const char *pm_member_value(const struct pm_experiment_member *member, const char *key)
{
    for (uint32_t i = 0; i < member->n_attributes; i++)
        if (!strcmp(member->attributes[i].key, key))
            return member->attributes[i].value;
    return NULL;
}

bool pm_experiment_has(const struct pm_experiment *experiment, const char *path)
{
    char *name = experiment_name_of(experiment, path);
    bool has = false;
    for (uint32_t i = 0; name && i < experiment->n_members; i++) {
        const struct pm_experiment_member *member = &experiment->members[i];
        has |= !strcmp(member->name, name) && member->state == PM_MEMBER_OK;
    }
    free(name);
    return has;
}
