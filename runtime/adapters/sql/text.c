/* A statement's text as a name: by SQLite's own rules of what is a string, a name, a number, a
 * comment. */
#include "sql.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Bytes of the quoted text here, its quotes included; one that is doubled is a part of it. */
static size_t quoted_bytes(const char *sql)
{
    char close = *sql == '[' ? ']' : *sql;
    size_t n = 1;
    while (sql[n] && (sql[n] != close || (close != ']' && sql[n + 1] == close)))
        n += sql[n] == close ? 2 : 1;
    return n + (sql[n] != 0);
}

/* Of blanks and comments. */
static size_t blank_bytes(const char *sql)
{
    size_t n = 0;
    for (size_t before = 1; n != before;) {
        before = n;
        n += strspn(sql + n, " \t\n\r\f\v");
        if (sql[n] == '-' && sql[n + 1] == '-') {
            n += strcspn(sql + n, "\n");
        } else if (sql[n] == '/' && sql[n + 1] == '*') {
            const char *end = strstr(sql + n + 2, "*/");
            n = end ? (size_t)(end + 2 - sql) : strlen(sql);
        }
    }
    return n;
}

static bool is_in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static size_t word_bytes(const char *sql)
{
    size_t n = 0;
    while (is_in_name(sql[n]))
        n++;
    return n;
}

/* 12, 0x1F, 1.5e-3 */
static size_t number_bytes(const char *sql)
{
    size_t n = 0;
    bool is_hex = sql[0] == '0' && (sql[1] == 'x' || sql[1] == 'X');
    while (is_in_name(sql[n]) || sql[n] == '.' ||
           (n > 0 && !is_hex && (sql[n] == '+' || sql[n] == '-') &&
            (sql[n - 1] == 'e' || sql[n - 1] == 'E')))
        n++;
    return n;
}

/* Of what stands here: a quoted text, blanks, a word, a number, else one character. */
static size_t token_bytes(const char *sql)
{
    size_t n = blank_bytes(sql);
    if (n == 0 && (*sql == '\'' || *sql == '"' || *sql == '`' || *sql == '['))
        n = quoted_bytes(sql);
    if (n == 0 && (isdigit((unsigned char)*sql) || (*sql == '.' && isdigit((unsigned char)sql[1]))))
        n = number_bytes(sql);
    if (n == 0)
        n = word_bytes(sql);
    return n > 0 ? n : 1;
}

void sql_normalise(const char *sql, char text[TEXT_BYTES])
{
    size_t n = 0;
    for (size_t bytes; *sql && n < TEXT_BYTES - 1; sql += bytes) {
        bytes = token_bytes(sql);
        const char *put = sql;
        size_t put_bytes = bytes;
        if (blank_bytes(sql) > 0) {
            put = " ";
            put_bytes = 1;
        } else if (*sql == '\'' || isdigit((unsigned char)*sql) || (*sql == '.' && bytes > 1)) {
            put = "?";
            put_bytes = n == 0 || text[n - 1] != '?'; /* ?1 is one */
        }
        if (put_bytes > TEXT_BYTES - 1 - n) {
            if (n > 0)
                break;
            put_bytes = TEXT_BYTES - 1;
        }
        memcpy(text + n, put, put_bytes);
        n += put_bytes;
    }
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == ';'))
        n--;
    text[n] = 0;
    memmove(text, text + strspn(text, " ;"), n + 1 - strspn(text, " ;"));
}

static bool is_word(const char *sql, const char *word)
{
    return word_bytes(sql) == strlen(word) && !strncasecmp(sql, word, strlen(word));
}

/* The next word's place, behind this one and blanks. */
static const char *next_word(const char *sql)
{
    sql += word_bytes(sql);
    return sql + blank_bytes(sql);
}

bool sql_is_about_rows(const char *sql)
{
    static const char *const words[] = {"SELECT", "INSERT", "REPLACE", "DELETE", "VALUES", "WITH"};
    sql += blank_bytes(sql);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(sql, words[i]))
            return true;
    return false;
}

static bool is_trigger(const char *sql)
{
    sql += blank_bytes(sql);
    if (is_word(sql, "EXPLAIN")) { /* [QUERY PLAN] */
        sql = next_word(sql);
        if (is_word(sql, "QUERY"))
            sql = next_word(next_word(sql));
    }
    if (!is_word(sql, "CREATE"))
        return false;
    sql = next_word(sql);
    if (is_word(sql, "TEMP") || is_word(sql, "TEMPORARY"))
        sql = next_word(sql);
    return is_word(sql, "TRIGGER");
}

/* A trigger ends with `; END;`. */
size_t sql_first_statement(const char *sql)
{
    size_t at = 0;
    bool in_trigger = is_trigger(sql), ends = false, after_semicolon = false;
    while (sql[at] && (sql[at] != ';' || (in_trigger && !ends))) {
        if (sql[at] == ';') {
            after_semicolon = true;
        } else if (blank_bytes(sql + at) == 0) {
            ends = after_semicolon && is_word(sql + at, "END");
            after_semicolon = false;
        }
        at += token_bytes(sql + at);
    }
    return at;
}

void sql_from_utf16(const void *sql, int bytes, char *text, size_t room)
{
    size_t n = 0;
    uint16_t unit[2];
    for (size_t at = 0; bytes < 0 || at + 1 < (size_t)bytes; at += 2) {
        memcpy(unit, (const char *)sql + at, 2);
        uint32_t c = unit[0];
        if (c == 0 || n + 5 > room)
            break;
        if (c >= 0xd800 && c < 0xdc00 && (bytes < 0 || at + 3 < (size_t)bytes)) {
            memcpy(unit, (const char *)sql + at + 2, 2);
            if (unit[0] >= 0xdc00 && unit[0] < 0xe000) {
                c = 0x10000 + ((c - 0xd800) << 10) + (unit[0] - 0xdc00u);
                at += 2;
            }
        }
        if (c < 0x80) {
            text[n++] = (char)c;
            continue;
        }
        unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
        text[n++] = (char)(first[more] | c >> (6 * more));
        while (more-- > 0)
            text[n++] = (char)(0x80 | (c >> (6 * more) & 0x3f));
    }
    text[n] = 0;
}
