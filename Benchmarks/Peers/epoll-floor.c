// SPDX-License-Identifier: MIT
// The floor under every client: keep-alive GETs over N connections with epoll, one write and one read per request, and
// no parsing beyond the length of the first response, which all others must have too.
//
//     epoll-floor HOST PORT PATH CONNECTIONS REQUESTS
//
// HOST is an IPv4 address. Prints one JSON object: requests, bytes, connects (none: they are made before the clock
// starts), wall and cpu in nanoseconds, and resident KiB.
#define _GNU_SOURCE
#include "measure.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct connection {
    int socket;
    uint64_t received;
};

static char request[2048];
static size_t request_length;
static char buffer[256 * 1024];

static void stop(const char *what) {
    fprintf(stderr, "epoll-floor: %s: %s\n", what, errno ? strerror(errno) : "unexpected");
    exit(1);
}

static void send_request(struct connection *connection) {
    connection->received = 0;
    if (send(connection->socket, request, request_length, MSG_NOSIGNAL) != (ssize_t)request_length) stop("send");
}

static int dial(const struct sockaddr_in *address) {
    int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0) stop("socket");
    if (connect(made, (const struct sockaddr *)address, sizeof *address) != 0) stop("connect");
    int on = 1;
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return made;
}

/// Reads one response on a blocking socket and tells its length: the head's, and what its Content-Length says.
static uint64_t learn_length(struct connection *connection) {
    size_t have = 0;
    send_request(connection);
    for (;;) {
        ssize_t got = recv(connection->socket, buffer + have, sizeof buffer - 1 - have, 0);
        if (got <= 0) stop("first response");
        have += (size_t)got;
        buffer[have] = 0;
        char *end = strstr(buffer, "\r\n\r\n");
        if (end == NULL) continue;
        if (strncmp(buffer, "HTTP/1.1 200 ", 13) != 0) errno = 0, stop("status other than 200");
        char *field = strcasestr(buffer, "\r\ncontent-length:");
        if (field == NULL || field > end) errno = 0, stop("response without a length");
        uint64_t total = (uint64_t)(end + 4 - buffer) + strtoull(field + 17, NULL, 10);
        while (have < total) {
            got = recv(connection->socket, buffer, sizeof buffer, 0);
            if (got <= 0) stop("first response's body");
            have += (size_t)got;
        }
        return total;
    }
}

int main(int count, char **arguments) {
    if (count != 6) {
        fprintf(stderr, "epoll-floor HOST PORT PATH CONNECTIONS REQUESTS\n");
        return 2;
    }
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(arguments[2]))};
    int connections = atoi(arguments[4]);
    uint64_t requests = strtoull(arguments[5], NULL, 10);
    if (inet_pton(AF_INET, arguments[1], &address.sin_addr) != 1 || connections < 1) errno = EINVAL, stop("argument");
    int length = snprintf(
        request, sizeof request, "GET %s HTTP/1.1\r\nHost: %s:%s\r\nUser-Agent: floor\r\nAccept: */*\r\n\r\n",
        arguments[3], arguments[1], arguments[2]);
    if (length < 0 || (size_t)length >= sizeof request) errno = EMSGSIZE, stop("path");
    request_length = (size_t)length;

    int poll = epoll_create1(EPOLL_CLOEXEC);
    struct connection *all = calloc((size_t)connections, sizeof *all);
    if (poll < 0 || all == NULL) stop("epoll");
    uint64_t expected = 0;
    for (int index = 0; index < connections; index++) {
        all[index].socket = dial(&address);
        if (index == 0) expected = learn_length(&all[0]);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[index]};
        if (epoll_ctl(poll, EPOLL_CTL_ADD, all[index].socket, &event) != 0) stop("epoll_ctl");
    }

    uint64_t wall = nanoseconds(CLOCK_MONOTONIC);
    uint64_t cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t sent = 0;
    uint64_t done = 0;
    for (int index = 0; index < connections && sent < requests; index++, sent++) send_request(&all[index]);
    struct epoll_event events[256];
    while (done < requests) {
        int ready = epoll_wait(poll, events, 256, 10000);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) stop("no response within ten seconds");
        for (int index = 0; index < ready; index++) {
            struct connection *connection = events[index].data.ptr;
            ssize_t got = recv(connection->socket, buffer, sizeof buffer, MSG_DONTWAIT);
            if (got < 0 && errno == EAGAIN) continue;
            if (got <= 0) stop("recv");
            connection->received += (uint64_t)got;
            if (connection->received < expected) continue;
            if (connection->received > expected) errno = 0, stop("a longer response than the first");
            done++;
            if (sent < requests) {
                sent++;
                send_request(connection);
            }
        }
    }
    cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    wall = nanoseconds(CLOCK_MONOTONIC) - wall;
    report(done, done * expected, 0, wall, cpu);
    return 0;
}
