/* The grammar of performance questions; docs/questions.md has it as railroads. */
%code requires {
#include "parse_internal.h"
}
%code {
#define YYLLOC_DEFAULT(all, parts, n)                                             \
    do {                                                                          \
        (all).from = (n) ? YYRHSLOC(parts, 1).from : YYRHSLOC(parts, 0).to;       \
        (all).to = (n) ? YYRHSLOC(parts, n).to : YYRHSLOC(parts, 0).to;           \
    } while (0)
static void question_error(const struct question_span *place, struct question_parser *parser, const char *text);
}
%define api.prefix {question_}
%define api.pure full
%define api.location.type {struct question_span}
%define parse.error custom
%define parse.lac full
%locations
%param {struct question_parser *parser}
%initial-action { @$ = (struct question_span){1, 1}; }

%union {
    struct pm_str text;
    uint32_t node;
    enum pm_question_where where;
}
%token END 0 "the end"
%token <text> WORD "a word"
%token OR "'or'" AND "'and'" COMMA "','" NOT "'not'" THEN "'then'" ON "'on'" DURING "'during'" OUTSIDE "'outside'"
%token THREAD "'thread'" PROCESS "'process'" RANK "'rank'" NODE "'node'"
%token OPEN "'('" CLOSE "')'" BEGIN_SENTENCE "'{'" END_SENTENCE "'}'"
%token BAD "something else"
%type <node> any all one ordered simple sentence
%type <where> where

%%
question: any limits
any:      all | any OR all              { $$ = question_node(parser, PM_QUESTION_OR, $1, $3); }
all:      one | all and one             { $$ = question_node(parser, PM_QUESTION_AND, $1, $3); }
and:      COMMA | AND
one:      ordered | NOT one             { $$ = question_node(parser, PM_QUESTION_NOT, $2, $2); }
ordered:  simple | ordered THEN simple  { $$ = question_then(parser, $1, $3, &@2); }
simple:   sentence | OPEN any CLOSE     { $$ = $2; }
sentence: BEGIN_SENTENCE words END_SENTENCE { $$ = question_sentence(parser, &@$); }
words:    word | words word | words COMMA word
word:     WORD                          { question_word(parser, $1, @1.from); }
limits:   %empty | limits ON where WORD { question_limit(parser, $3, $4, @4.from); }
        | limits DURING WORD            { question_phase(parser, $3, &@2, &@3, false); }
        | limits OUTSIDE WORD           { question_phase(parser, $3, &@2, &@3, true); }
where:    THREAD { $$ = PM_QUESTION_ON_THREAD; } | PROCESS { $$ = PM_QUESTION_ON_PROCESS; } | RANK { $$ = PM_QUESTION_ON_RANK; }
        | NODE { $$ = PM_QUESTION_ON_NODE; }
%%

static void question_error(const struct question_span *place, struct question_parser *parser, const char *text)
{
    if (parser->status == PM_OK)
        question_fail(parser, place->from, "%s", text); /* the parser's stack is at its end */
}

/* "expected 'or' or ',', not '}'": what could stand there, when it is not much. */
static int yyreport_syntax_error(const yypcontext_t *context, struct question_parser *parser)
{
    enum { MOST = 9 };
    yysymbol_kind_t expected[MOST], got = yypcontext_token(context);
    int n = yypcontext_expected_tokens(context, expected, MOST);
    const struct question_span *place = yypcontext_location(context);
    struct pm_buf text = PM_BUF_INIT(1024);
    for (int i = 0; i < n; i++) {
        pm_buf_add_str(&text, i == 0 ? "expected " : i == n - 1 ? " or " : ", ");
        pm_buf_add_str(&text, yysymbol_name(expected[i]));
    }
    if (got == YYSYMBOL_BAD && parser->text[place->from - 1] == '"') {
        pm_buf_clear(&text);
        pm_buf_add_str(&text, "this quote is not closed");
    } else if (got == YYSYMBOL_BAD || n <= 0)
        pm_buf_printf(&text, "%sthis cannot stand here", n > 0 ? "; " : "");
    else
        pm_buf_printf(&text, ", not %s", yysymbol_name(got));
    question_fail(parser, place->from, "%s", text.data ? text.data : "syntax error");
    pm_buf_release(&text);
    return 0;
}
