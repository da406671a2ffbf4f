#include "trace_messages.h"

#include "../base/arena.h"
#include "../base/map.h"

#include <stdlib.h>

/* A sentence of a message. */
struct end {
    enum pm_trace_message_end kind;
    uint32_t communicator, tag;
    int64_t peer_rank;
};

/* A rank of a communicator that has a trace. */
struct member {
    uint32_t communicator;
    int64_t rank;
    int64_t process_row;
    size_t thread; /* its first */
};

struct pm_trace_messages {
    struct pm_trace *trace;
    struct end *ends; /* by sentence: 1 + position in by_sentence */
    uint32_t n_ends, cap_ends;
    struct pm_map by_sentence;
    struct member *members;
    uint32_t n_members, cap_members;
    struct pm_map by_process, by_rank; /* communicator and process, or rank: 1 + member */
    struct pm_map counts;              /* by channel and end: messages so far */
    struct pm_trace_communicator *communicators;
    uint32_t n_communicators, cap_communicators;
    struct pm_arena arena;
    const char *left_out;
};

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory for messages");
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdu;
    return h ^ h >> 32;
}

static uint64_t key_of(uint32_t communicator, int64_t number)
{
    return mix(communicator, (uint64_t)number);
}

/* "rank 3", "tag 7"; false: "any rank", "nobody". */
static bool number_of(const char *text, const char *word, int64_t *ret_number)
{
    size_t len = strlen(word);
    uint64_t number;
    if (strncmp(text, word, len) != 0 || !pm_str_to_u64(pm_str_of(text + len), INT32_MAX, &number))
        return false;
    *ret_number = (int64_t)number;
    return true;
}

/* --- what the archive knows --- */

static enum pm_status add_member(struct pm_trace_messages *m, sqlite3_stmt *row,
                                 struct pm_error *err)
{
    struct member member = {.communicator = (uint32_t)sqlite3_column_int64(row, 1),
                            .rank = sqlite3_column_int64(row, 2),
                            .process_row = sqlite3_column_int64(row, 0),
                            .thread = SIZE_MAX};
    for (size_t t = pm_trace_n_threads(m->trace); t-- > 0;)
        if (pm_trace_thread(m->trace, t)->process_row == member.process_row)
            member.thread = t;
    struct member *members =
        pm_grow_array(m->members, m->n_members, &m->cap_members, 64, sizeof *members);
    if (!members)
        return no_memory(err);
    m->members = members;
    m->members[m->n_members++] = member;
    bool kept =
        pm_map_put(&m->by_process, key_of(member.communicator, member.process_row), m->n_members) &&
        pm_map_put(&m->by_rank, key_of(member.communicator, member.rank), m->n_members);
    return kept ? PM_OK : no_memory(err);
}

/* What a noun adds to a sentence. */
static void take_noun(struct end *end, const char *kind, const char *name, uint32_t noun)
{
    int64_t number;
    if (!strcmp(kind, "communicator"))
        end->communicator = noun;
    else if (!strcmp(kind, "peer") && number_of(name, "rank ", &number))
        end->peer_rank = number;
    else if (!strcmp(kind, "tag") && number_of(name, "tag ", &number))
        end->tag = (uint32_t)number;
}

static enum pm_status add_end(struct pm_trace_messages *m, uint32_t sentence, const struct end *end,
                              struct pm_error *err)
{
    if (!end->communicator || end->peer_rank < 0 || end->tag == UINT32_MAX || !end->kind)
        return PM_OK;
    struct end *ends = pm_grow_array(m->ends, m->n_ends, &m->cap_ends, 64, sizeof *ends);
    if (ends)
        m->ends = ends;
    if (!ends || !pm_map_put(&m->by_sentence, sentence, m->n_ends + 1))
        return no_memory(err);
    m->ends[m->n_ends++] = *end;
    return PM_OK;
}

static const char message_sql[] =
    "SELECT s.id, v.name, n.kind, n.name, n.id FROM sentences s JOIN verbs v ON v.id = s.verb JOIN "
    "levels l ON l.id = v.level JOIN (SELECT id AS sentence, noun, -1 AS position FROM sentences "
    "UNION ALL SELECT sentence, noun, position FROM sentence_nouns) k ON k.sentence = s.id JOIN "
    "temp.nouns_in_full n ON n.id = k.noun WHERE l.name = 'MPI' AND v.name IN ('Send', 'Receive', "
    "'Arrive') ORDER BY s.id, k.position";

/* Rows of one sentence follow each other. */
struct reading {
    struct pm_trace_messages *messages;
    struct end end;
    uint32_t sentence;
};

static const struct end no_end = {.peer_rank = -1, .tag = UINT32_MAX};

static enum pm_status read_end(struct reading *r, sqlite3_stmt *row, struct pm_error *err)
{
    uint32_t id = (uint32_t)sqlite3_column_int64(row, 0);
    if (id != r->sentence) {
        enum pm_status status = add_end(r->messages, r->sentence, &r->end, err);
        if (status != PM_OK)
            return status;
        r->end = no_end;
        r->end.kind =
            strcmp(pm_archive_text(row, 1), "Send") == 0 ? PM_TRACE_SEND : PM_TRACE_RECEIVE;
        r->sentence = id;
    }
    take_noun(&r->end, pm_archive_text(row, 2), pm_archive_text(row, 3),
              (uint32_t)sqlite3_column_int64(row, 4));
    return PM_OK;
}

/* All rows of a query; take: of one of them. */
static enum pm_status each_row(struct pm_archive *archive, const char *sql,
                               enum pm_status (*take)(void *context, sqlite3_stmt *row,
                                                      struct pm_error *err),
                               void *context, struct pm_error *err)
{
    sqlite3_stmt *rows;
    bool has_row;
    enum pm_status status = pm_archive_prepare(archive, sql, err, &rows);
    if (status != PM_OK)
        return status;
    for (;;) {
        status = pm_archive_step(archive, rows, err, &has_row);
        if (status != PM_OK || !has_row)
            break;
        status = take(context, rows, err);
        if (status != PM_OK)
            break;
    }
    sqlite3_finalize(rows);
    return status;
}

static enum pm_status take_member(void *context, sqlite3_stmt *row, struct pm_error *err)
{
    return add_member(context, row, err);
}

static enum pm_status take_end(void *context, sqlite3_stmt *row, struct pm_error *err)
{
    return read_end(context, row, err);
}

static enum pm_status take_number(void *context, sqlite3_stmt *row, struct pm_error *err)
{
    (void)err;
    *(int64_t *)context = sqlite3_column_int64(row, 0);
    return PM_OK;
}

static enum pm_status read_ends(struct pm_trace_messages *m, struct pm_archive *archive,
                                struct pm_error *err)
{
    struct reading r = {.messages = m, .end = no_end};
    enum pm_status status = each_row(archive, message_sql, take_end, &r, err);
    return status != PM_OK ? status : add_end(m, r.sentence, &r.end, err);
}

/* What would break the order: queries that count it. */
static const struct reason {
    const char *sql, *text;
} reasons[] = {
    {"SELECT count(*) FROM contexts c JOIN sentences s ON s.id = c.sentence JOIN verbs v ON v.id = "
     "s.verb JOIN levels l ON l.id = v.level WHERE l.name = 'MPI' AND v.name IN ('Start', "
     "'Cancel')",
     "messages are not matched: the program has persistent requests, or cancels some"},
    /* Which of two threads was first only the clock would tell. */
    {"SELECT count(*) FROM (SELECT t.process FROM costs k JOIN threads t ON t.id = k.thread JOIN "
     "contexts c ON c.id = k.context JOIN sentences s ON s.id = c.sentence JOIN verbs v ON v.id = "
     "s.verb JOIN levels l ON l.id = v.level WHERE l.name = 'MPI' AND v.name IN ('Send', "
     "'Receive', 'Arrive') GROUP BY t.process HAVING count(DISTINCT k.thread) > 1)",
     "messages are not matched: several threads of a process send or receive"},
    /* A receive of any rank or tag says what came by an Arrive within it, or later. Mixed with
     * receives that name the sender, on one channel, the order is not known. */
    {"SELECT count(*) FROM sentences a JOIN verbs v ON v.id = a.verb JOIN sentences r ON r.noun = "
     "a.noun JOIN verbs w ON w.id = r.verb JOIN levels l ON l.id = v.level AND l.id = w.level "
     "WHERE l.name = 'MPI' AND v.name = 'Arrive' AND w.name = 'Receive' AND (SELECT "
     "group_concat(noun) FROM (SELECT noun FROM sentence_nouns WHERE sentence = a.id ORDER BY "
     "position)) IS (SELECT group_concat(noun) FROM (SELECT noun FROM sentence_nouns WHERE "
     "sentence = r.id ORDER BY position))",
     "messages are not matched: receives from any rank and from a named one share a tag"},
};

static enum pm_status find_reasons(struct pm_trace_messages *m, struct pm_archive *archive,
                                   struct pm_error *err)
{
    for (size_t t = 0; t < pm_trace_n_threads(m->trace); t++)
        if (pm_trace_thread(m->trace, t)->n_dropped_calls)
            m->left_out =
                "messages are not matched: some calls are not in the trace (--trace-limit)";
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        int64_t n = 0;
        enum pm_status status = each_row(archive, reasons[i].sql, take_number, &n, err);
        if (status != PM_OK)
            return status;
        if (n)
            m->left_out = reasons[i].text;
    }
    return PM_OK;
}

/* Ranks of a communicator follow each other; of one that has many more than there are processes
 * (the archive is damaged) none is known. */
static enum pm_status add_communicator(void *context, sqlite3_stmt *row, struct pm_error *err)
{
    enum { MOST_RANKS = 1 << 24 };
    struct pm_trace_messages *m = context;
    struct pm_trace_communicator *grown = pm_grow_array(m->communicators, m->n_communicators,
                                                        &m->cap_communicators, 8, sizeof *grown);
    if (!grown)
        return no_memory(err);
    m->communicators = grown;
    const char *name = pm_archive_text(row, 1);
    int64_t n = sqlite3_column_int64(row, 2);
    n = n > 0 && n <= MOST_RANKS ? n : 0;
    size_t *threads = pm_arena_alloc(&m->arena, ((size_t)n + 1) * sizeof *threads);
    const char *kept = pm_arena_strndup(&m->arena, name, strlen(name));
    if (!threads || !kept)
        return no_memory(err);
    uint32_t communicator = (uint32_t)sqlite3_column_int64(row, 0);
    for (int64_t r = 0; r < n; r++) {
        uint32_t at = pm_map_get(&m->by_rank, key_of(communicator, r));
        threads[r] = at ? m->members[at - 1].thread : SIZE_MAX;
    }
    m->communicators[m->n_communicators++] =
        (struct pm_trace_communicator){communicator, kept, threads, (uint32_t)n};
    return PM_OK;
}

static const char communicators_sql[] =
    "SELECT m.communicator, n.name, max(m.rank) + 1 FROM members m JOIN temp.nouns_in_full n ON "
    "n.id "
    "= m.communicator WHERE m.rank >= 0 GROUP BY m.communicator ORDER BY m.communicator";

static enum pm_status read_all(struct pm_trace_messages *m, struct pm_archive *archive,
                               struct pm_error *err)
{
    enum pm_status status = read_ends(m, archive, err);
    if (status != PM_OK || !m->n_ends)
        return status;
    status =
        each_row(archive, "SELECT process, communicator, rank FROM members", take_member, m, err);
    if (status != PM_OK)
        return status;
    status = each_row(archive, communicators_sql, add_communicator, m, err);
    return status != PM_OK ? status : find_reasons(m, archive, err);
}

enum pm_status pm_trace_messages_open(struct pm_trace *trace, struct pm_archive *archive,
                                      struct pm_error *err, struct pm_trace_messages **ret_messages)
{
    struct pm_trace_messages *m = pm_alloc(sizeof *m);
    if (!m)
        return no_memory(err);
    m->trace = trace;
    enum pm_status status = read_all(m, archive, err);
    if (status != PM_OK)
        pm_trace_messages_free(m);
    else
        *ret_messages = m;
    return status;
}

void pm_trace_messages_free(struct pm_trace_messages *messages)
{
    if (!messages)
        return;
    free(messages->ends);
    free(messages->members);
    free(messages->communicators);
    pm_arena_release(&messages->arena);
    pm_map_release(&messages->by_sentence);
    pm_map_release(&messages->by_process);
    pm_map_release(&messages->by_rank);
    pm_map_release(&messages->counts);
    free(messages);
}

enum pm_trace_message_end pm_trace_message_end(const struct pm_trace_messages *messages,
                                               uint32_t sentence)
{
    uint32_t at = pm_map_get(&messages->by_sentence, sentence);
    return at ? messages->ends[at - 1].kind : PM_TRACE_NO_MESSAGE;
}

bool pm_trace_messages_any(const struct pm_trace_messages *messages)
{
    return messages->n_ends > 0;
}

bool pm_trace_message_peer(const struct pm_trace_messages *messages, size_t thread,
                           uint32_t sentence, struct pm_trace_message *ret_message)
{
    uint32_t at = pm_map_get(&messages->by_sentence, sentence);
    if (!at)
        return false;
    const struct end *end = &messages->ends[at - 1];
    uint32_t own = pm_map_get(
        &messages->by_process,
        key_of(end->communicator, pm_trace_thread(messages->trace, thread)->process_row));
    uint32_t peer = pm_map_get(&messages->by_rank, key_of(end->communicator, end->peer_rank));
    if (!own || !peer)
        return false;
    *ret_message = (struct pm_trace_message){.is_send = end->kind == PM_TRACE_SEND,
                                             .peer_rank = end->peer_rank,
                                             .own_rank = messages->members[own - 1].rank,
                                             .communicator = end->communicator,
                                             .tag = end->tag,
                                             .peer_thread = messages->members[peer - 1].thread};
    return true;
}

bool pm_trace_message(struct pm_trace_messages *messages, size_t thread, uint32_t sentence,
                      struct pm_trace_message *ret_message)
{
    struct pm_trace_message m;
    if (messages->left_out || !pm_trace_message_peer(messages, thread, sentence, &m))
        return false;
    uint64_t ranks = m.is_send ? mix((uint64_t)m.own_rank, (uint64_t)m.peer_rank)
                               : mix((uint64_t)m.peer_rank, (uint64_t)m.own_rank);
    uint64_t channel = mix(ranks, mix(m.communicator, m.tag));
    uint32_t *count = pm_map_at(&messages->counts, mix(channel, m.is_send));
    if (!count)
        return false;
    m.id = mix(channel, 0x100000000u + *count);
    ++*count;
    *ret_message = m;
    return true;
}

size_t pm_trace_n_communicators(const struct pm_trace_messages *messages)
{
    return messages->n_communicators;
}

const struct pm_trace_communicator *pm_trace_communicator(const struct pm_trace_messages *messages,
                                                          size_t index)
{
    PM_ASSERT(index < messages->n_communicators);
    return &messages->communicators[index];
}

const char *pm_trace_messages_left_out(const struct pm_trace_messages *messages)
{
    return messages->left_out;
}
