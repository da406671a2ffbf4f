#include "perf_text.h"

#include "reader.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits at p; how many. */
static size_t digits(struct pm_str text, size_t at)
{
    size_t n = 0;
    while (at + n < text.len && is_digit(text.p[at + n]))
        n++;
    return n;
}

static size_t blanks(struct pm_str text, size_t at)
{
    size_t n = 0;
    while (at + n < text.len && (text.p[at + n] == ' ' || text.p[at + n] == '\t'))
        n++;
    return n;
}

/* --- heads --- */

/* "12.000345:" and a blank: *ret_end is behind the colon. */
static bool read_time(struct pm_str text, size_t at, uint64_t *ret_ns, size_t *ret_end)
{
    size_t n = digits(text, at), m;
    uint64_t seconds, fraction;
    if (n == 0 || n > 10 || at + n >= text.len || text.p[at + n] != '.')
        return false;
    m = digits(text, at + n + 1);
    size_t end = at + n + 1 + m;
    if (m == 0 || m > 9 || end >= text.len || text.p[end] != ':')
        return false;
    if (!import_number((struct pm_str){text.p + at, n}, &seconds) ||
        !import_number((struct pm_str){text.p + at + n + 1, m}, &fraction))
        return false;
    for (; m < 9; m++)
        fraction *= 10;
    *ret_ns = seconds * 1000000000 + fraction;
    *ret_end = end + 1;
    return true;
}

/* A number of a process or thread; -1 stands for none. */
static bool read_id(struct pm_str text, size_t *at, uint32_t *ret_id)
{
    uint64_t number;
    bool is_none = *at < text.len && text.p[*at] == '-';
    *at += is_none;
    size_t n = digits(text, *at);
    if (n == 0 || n > 10 || !pm_str_to_u64((struct pm_str){text.p + *at, n}, UINT32_MAX, &number))
        return false;
    *at += n;
    *ret_id = is_none ? 0 : (uint32_t)number;
    return true;
}

/* "PID/TID [CPU] TIME:" at `at`; of samples taken without time not that. */
static bool read_ids(struct pm_str line, size_t at, bool has_time, struct perf_head *head,
                     size_t *ret_end)
{
    if (!read_id(line, &at, &head->tid))
        return false;
    head->pid = head->tid;
    head->has_pid = at < line.len && line.p[at] == '/';
    if (head->has_pid) {
        at++;
        if (!read_id(line, &at, &head->tid))
            return false;
    }
    size_t n = blanks(line, at);
    if (n == 0)
        return false;
    at += n;
    if (at < line.len && line.p[at] == '[') {
        size_t cpu = digits(line, at + 1);
        if (cpu == 0 || at + 1 + cpu >= line.len || line.p[at + 1 + cpu] != ']')
            return false;
        at += cpu + 2;
        at += blanks(line, at);
    }
    *ret_end = at;
    return !has_time || read_time(line, at, &head->time_ns, ret_end);
}

/* "PERIOD EVENT: ..." */
static bool read_event(struct pm_str rest, struct perf_head *head)
{
    struct pm_str word = import_word(&rest);
    head->has_period =
        word.len && digits(word, 0) == word.len && import_number(word, &head->period);
    if (head->has_period)
        word = import_word(&rest);
    if (word.len > 1 && word.p[word.len - 1] == ':')
        word.len--;
    else if (!import_begins(word, "PERF_RECORD_"))
        return false;
    head->event = word;
    head->rest = import_trimmed(rest);
    return true;
}

/* The command may have blanks and numbers in it: what follows it is the first that looks like
 * numbers and a time. */
static bool find_head(struct pm_str line, bool has_time, struct perf_head *ret_head)
{
    for (size_t at = 0; at < line.len; at++) {
        bool is_start = is_digit(line.p[at]) || line.p[at] == '-';
        if (!is_start || (at && line.p[at - 1] != ' ' && line.p[at - 1] != '\t'))
            continue;
        struct perf_head head = {.comm = import_trimmed((struct pm_str){line.p, at})};
        size_t end;
        if (read_ids(line, at, has_time, &head, &end) &&
            read_event((struct pm_str){line.p + end, line.len - end}, &head)) {
            *ret_head = head;
            return true;
        }
    }
    return false;
}

bool perf_read_head(struct pm_str line, struct perf_head *ret_head)
{
    return find_head(line, true, ret_head) || find_head(line, false, ret_head);
}

/* --- frames --- */

/* The "(...)" that the text ends in; parentheses inside are in pairs. */
static bool split_dso(struct pm_str text, struct pm_str *ret_before, struct pm_str *ret_dso)
{
    size_t depth = 0;
    if (text.len == 0 || text.p[text.len - 1] != ')')
        return false;
    for (size_t at = text.len; at-- > 0;) {
        depth += text.p[at] == ')';
        if (text.p[at] != '(' || --depth)
            continue;
        *ret_before = import_trimmed((struct pm_str){text.p, at});
        *ret_dso = (struct pm_str){text.p + at + 1, text.len - at - 2};
        return true;
    }
    return false;
}

static void split_offset(struct perf_frame *frame)
{
    struct pm_str text = frame->symbol;
    for (size_t at = text.len; at-- > 0;) {
        if (text.p[at] != '+')
            continue;
        struct pm_str number = {text.p + at + 1, text.len - at - 1};
        frame->has_offset = import_begins(number, "0x") && import_hex(number, &frame->offset);
        if (frame->has_offset)
            frame->symbol.len = at;
        return;
    }
}

bool perf_read_frame(struct pm_str line, struct perf_frame *ret_frame)
{
    struct perf_frame frame = {0};
    struct pm_str rest = line, ip = import_word(&rest);
    if (!import_hex(ip, &frame.ip))
        return false;
    rest = import_trimmed(rest);
    frame.symbol = rest;
    if (split_dso(rest, &frame.symbol, &frame.dso) && pm_str_is(frame.dso, "inlined")) {
        frame.is_inlined = true;
        frame.dso.len = 0;
    }
    if (pm_str_is(frame.dso, "[unknown]"))
        frame.dso.len = 0;
    if (pm_str_is(frame.symbol, "[unknown]"))
        frame.symbol.len = 0;
    split_offset(&frame);
    *ret_frame = frame;
    return true;
}

/* --- mappings --- */

static bool skip(struct pm_str *text, const char *what)
{
    size_t len = strlen(what);
    if (!import_begins(*text, what))
        return false;
    *text = (struct pm_str){text->p + len, text->len - len};
    return true;
}

/* Up to the character, which is passed. */
static bool until(struct pm_str *text, char end, struct pm_str *ret_part)
{
    const char *found = memchr(text->p, end, text->len);
    if (!found)
        return false;
    *ret_part = (struct pm_str){text->p, (size_t)(found - text->p)};
    *text = (struct pm_str){found + 1, text->len - ret_part->len - 1};
    return true;
}

bool perf_read_mapping(struct pm_str record, struct perf_mapping *ret_mapping)
{
    struct perf_mapping m = {0};
    struct pm_str part, word;
    size_t at = 0;
    if (!read_id(record, &at, &m.pid) || !until(&record, '[', &part))
        return false;
    if (!until(&record, '(', &part) || !import_hex(part, &m.start))
        return false;
    if (!until(&record, ')', &part) || !import_hex(part, &m.len) || !skip(&record, " @ "))
        return false;
    if (!until(&record, ']', &part))
        return false;
    word = import_word(&part);
    if (!import_hex(word, &m.offset))
        return false;
    word = import_word(&part);
    if (word.len > 2 && word.p[0] == '<')
        m.build_id = (struct pm_str){word.p + 1, word.len - 2};
    if (!skip(&record, ": "))
        return false;
    word = import_word(&record);
    m.is_code = memchr(word.p, 'x', word.len) != NULL;
    m.path = import_trimmed(record);
    *ret_mapping = m;
    return true;
}
