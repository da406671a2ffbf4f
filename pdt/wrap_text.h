/* C that every wrapper of `perfmap wrap` has: wrapper/head.c, and where they are needed
 * wrapper/stub.c and wrapper/roles.c. */
#ifndef PDT_WRAP_TEXT_H
#define PDT_WRAP_TEXT_H

extern const char pdt_wrap_head[], pdt_wrap_stub[], pdt_wrap_role[];

#endif
