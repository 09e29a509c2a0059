// SPDX-License-Identifier: MIT
// Reads the totals of connections and requests from nginx (stub_status), over a blocking socket.
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
    char response[4096];
    size_t received = 0;
    if (connect(server, (struct sockaddr *)&address, sizeof address) == 0 &&
        send(server, request, sizeof request - 1, MSG_NOSIGNAL) == sizeof request - 1) {
        ssize_t count;
        while (received < sizeof response - 1 &&
               (count = recv(server, response + received, sizeof response - 1 - received, 0)) > 0)
            received += (size_t)count;
    }
    close(server);
    response[received] = 0;
    const char *counts = strstr(response, "handled requests\n");
    unsigned long long accepted, handled, requests;
    if (counts == NULL || sscanf(counts + 17, "%llu %llu %llu", &accepted, &handled, &requests) != 3) return false;
    totals->connections = accepted;
    totals->requests = requests;
    return true;
}
