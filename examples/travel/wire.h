/* What client and server say to each other over a Unix socket, one connection for each request:
 *
 *     baggage: user=anna,perfmap=1.85d1e0f4c5b6a790.000000c4!Client:Executes:...      (what the client works on)
 *     get chapter-1                                                                 (what it wants)
 *     4711                                                                          (the answer: how many words)
 */
#ifndef WIRE_H
#define WIRE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static inline struct sockaddr_un wire_address(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    return address;
}

static inline void wire_fail(const char *what)
{
    perror(what);
    exit(1);
}

#endif
