// SPDX-License-Identifier: MIT
// Reads nginx's own count of connections and requests (stub_status), over a blocking socket.
#define _GNU_SOURCE
#include "CBenchmarkCounters.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

bool server_totals_read(const char *host, uint16_t port, struct server_totals *totals) {
    static const char request[] = "GET /status HTTP/1.1\r\nHost: status\r\nConnection: close\r\n\r\n";
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1) return false;
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server < 0) return false;
    char answer[4096];
    size_t have = 0;
    if (connect(server, (struct sockaddr *)&address, sizeof address) == 0 &&
        send(server, request, sizeof request - 1, MSG_NOSIGNAL) == sizeof request - 1) {
        ssize_t got;
        while (have < sizeof answer - 1 && (got = recv(server, answer + have, sizeof answer - 1 - have, 0)) > 0)
            have += (size_t)got;
    }
    close(server);
    answer[have] = 0;
    const char *counts = strstr(answer, "handled requests\n");
    unsigned long long accepted, handled, requests;
    if (counts == NULL || sscanf(counts + 17, "%llu %llu %llu", &accepted, &handled, &requests) != 3) return false;
    totals->connections = accepted;
    totals->requests = requests;
    return true;
}
