// SPDX-License-Identifier: MIT
// A server that reads what it is sent, 64 KiB at a time, counts it and keeps none of it: for uploads whose receiver is not what is
// measured.
//
//     sink-server
//
// Listens on a free port of 127.0.0.1 and prints it. A request needs a `Content-Length`; it is answered with 204 when all of its
// content has come, and the connection ends with it. One connection at a time.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
static const char done[] = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
static char buffer[65536 + 1];

static void stop(const char *what) {
    fprintf(stderr, "sink-server: %s: %s\n", what, strerror(errno));
    exit(1);
}

/// Takes one request; what is none ends the connection.
static void take(int socket) {
    size_t length = 0;
    char *end = NULL;
    while (end == NULL) {
        ssize_t got = recv(socket, buffer + length, sizeof buffer - 1 - length, 0);
        if (got <= 0) return;
        length += (size_t)got;
        buffer[length] = 0;
        end = strstr(buffer, "\r\n\r\n");
    }
    *end = 0;
    const char *field = strcasestr(buffer, "\r\ncontent-length:");
    if (field == NULL) return;
    long long left = strtoll(field + 17, NULL, 10) - (long long)(buffer + length - (end + 4));
    if (strcasestr(buffer, "\r\nexpect: 100-continue") != NULL && left > 0) {
        if (send(socket, go_on, sizeof go_on - 1, MSG_NOSIGNAL) < 0) return;
    }
    while (left > 0) {
        ssize_t got = recv(socket, buffer, sizeof buffer - 1, 0);
        if (got <= 0) return;
        left -= got;
    }
    if (left == 0) send(socket, done, sizeof done - 1, MSG_NOSIGNAL);
}

int main(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, 16) < 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) < 0) {
        stop("cannot listen");
    }
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    for (;;) {
        int socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (socket < 0) stop("cannot accept");
        take(socket);
        close(socket);
    }
}
