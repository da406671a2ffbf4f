/* Tokens of performance questions, by re2c. The text ends with a zero byte; other control bytes are refused by parse.c before. */
#include "parse_internal.h"

#include "grammar.h"

/*!re2c
    re2c:define:YYCTYPE = "unsigned char";
    re2c:yyfill:enable = 0;
    blank = [ \t\n\r];
    quoted = "\"" ([^"\\\x00] | "\\" [^\x00])* "\"";
    plain = [^ \t\n\r,{}"\x00];
    inner = (quoted | plain)+;
    outer = (quoted | [^ \t\n\r,{}()"\x00])+;
*/

static int token(int kind, const unsigned char *from, const unsigned char *to, struct question_span *place, struct question_parser *parser)
{
    place->from = (uint32_t)((const char *)from - parser->text) + 1;
    place->to = (uint32_t)((const char *)to - parser->text) + 1;
    parser->at = (const char *)to;
    return kind;
}

static int word(const unsigned char *from, const unsigned char *to, union QUESTION_STYPE *value, struct question_span *place,
                struct question_parser *parser)
{
    value->text = (struct pm_str){(const char *)from, (size_t)(to - from)};
    return token(WORD, from, to, place, parser);
}

/* Within braces every word is a name: a noun may be called "or". */
static int lex_sentence(union QUESTION_STYPE *value, struct question_span *place, struct question_parser *parser)
{
    const unsigned char *YYCURSOR = (const unsigned char *)parser->at, *YYMARKER, *from;
    for (;;) {
        from = YYCURSOR;
        /*!re2c
            blank+ { continue; }
            "\x00" { return token(END, from, from, place, parser); }
            ","    { return token(COMMA, from, YYCURSOR, place, parser); }
            "}"    { parser->in_sentence = false; return token(END_SENTENCE, from, YYCURSOR, place, parser); }
            inner  { return word(from, YYCURSOR, value, place, parser); }
            *      { return token(BAD, from, YYCURSOR, place, parser); }
        */
    }
}

static int lex_between(union QUESTION_STYPE *value, struct question_span *place, struct question_parser *parser)
{
    const unsigned char *YYCURSOR = (const unsigned char *)parser->at, *YYMARKER, *from;
    for (;;) {
        from = YYCURSOR;
        /*!re2c
            blank+     { continue; }
            "\x00"     { return token(END, from, from, place, parser); }
            ","        { return token(COMMA, from, YYCURSOR, place, parser); }
            "("        { return token(OPEN, from, YYCURSOR, place, parser); }
            ")"        { return token(CLOSE, from, YYCURSOR, place, parser); }
            "{"        { parser->in_sentence = true; return token(BEGIN_SENTENCE, from, YYCURSOR, place, parser); }
            'or'       { return token(OR, from, YYCURSOR, place, parser); }
            'and'      { return token(AND, from, YYCURSOR, place, parser); }
            'not'      { return token(NOT, from, YYCURSOR, place, parser); }
            'then'     { return token(THEN, from, YYCURSOR, place, parser); }
            'on'       { return token(ON, from, YYCURSOR, place, parser); }
            'during'   { return token(DURING, from, YYCURSOR, place, parser); }
            'outside'  { return token(OUTSIDE, from, YYCURSOR, place, parser); }
            'thread'   { return token(THREAD, from, YYCURSOR, place, parser); }
            'process'  { return token(PROCESS, from, YYCURSOR, place, parser); }
            'rank'     { return token(RANK, from, YYCURSOR, place, parser); }
            'node'     { return token(NODE, from, YYCURSOR, place, parser); }
            outer      { return word(from, YYCURSOR, value, place, parser); }
            *          { return token(BAD, from, YYCURSOR, place, parser); }
        */
    }
}

int question_lex(union QUESTION_STYPE *value, struct question_span *place, struct question_parser *parser)
{
    return parser->status != PM_OK ? token(END, (const unsigned char *)parser->at, (const unsigned char *)parser->at, place, parser)
           : parser->in_sentence   ? lex_sentence(value, place, parser)
                                   : lex_between(value, place, parser);
}
