/* C that every wrapper of `perfmap wrap` has: wrapper/head.c, and where it is needed
 * wrapper/stub.c. */
#ifndef PDT_WRAP_TEXT_H
#define PDT_WRAP_TEXT_H

extern const char pdt_wrap_head[], pdt_wrap_stub[];

#endif
