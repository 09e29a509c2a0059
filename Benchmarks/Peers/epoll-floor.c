// SPDX-License-Identifier: MIT
// The floor under every client: keep-alive GETs over N connections with epoll, one write and one read per request, and
// no parsing beyond the length of the first response, which all others must have too.
//
//     epoll-floor [get|full] HOST PORT PATH CONNECTIONS REQUESTS
//
// HOST is an IPv4 address. With full every request has a connection of its own: a non-blocking connect, the request when the
// socket can be written to, and a close behind the response; the connections are then the clock's. Prints one JSON object: requests, bytes, connects (none: they are made before the clock
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
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

struct connection {
    int socket;
    uint64_t received;
};

static struct sockaddr_in address;
static int poller;
static int full;

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

static int dial(int flags) {
    int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    if (made < 0) stop("socket");
    int on = 1;
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(made, (const struct sockaddr *)&address, sizeof address) != 0 && errno != EINPROGRESS) stop("connect");
    return made;
}

static void watch(struct connection *connection, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = connection};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, connection->socket, &event) != 0) stop("epoll_ctl");
}

/// Starts one exchange: on the open connection, or on one of its own, which `advance` sends the request on.
static void start(struct connection *connection) {
    if (!full) {
        send_request(connection);
        return;
    }
    // Edges only: one registration serves the connection's whole life. The first one says that it stands.
    *connection = (struct connection){.socket = dial(SOCK_NONBLOCK), .received = UINT64_MAX};
    watch(connection, EPOLLIN | EPOLLOUT | EPOLLET);
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
    if (count != 6 && count != 7) {
        fprintf(stderr, "epoll-floor [get|full] HOST PORT PATH CONNECTIONS REQUESTS\n");
        return 2;
    }
    full = count == 7 && strcmp(arguments[1], "full") == 0;
    char **target = arguments + count - 5;
    address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(target[1]))};
    int connections = atoi(target[3]);
    uint64_t requests = strtoull(target[4], NULL, 10);
    if (inet_pton(AF_INET, target[0], &address.sin_addr) != 1 || connections < 1) errno = EINVAL, stop("argument");
    int length = snprintf(
        request, sizeof request, "GET %s HTTP/1.1\r\nHost: %s:%s\r\nUser-Agent: floor\r\nAccept: */*\r\n\r\n", target[2],
        target[0], target[1]);
    if (length < 0 || (size_t)length >= sizeof request) errno = EMSGSIZE, stop("path");
    request_length = (size_t)length;
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }

    poller = epoll_create1(EPOLL_CLOEXEC);
    struct connection *all = calloc((size_t)connections, sizeof *all);
    if (poller < 0 || all == NULL) stop("epoll");
    uint64_t first = nanoseconds(CLOCK_MONOTONIC);
    all[0].socket = dial(0);
    uint64_t expected = learn_length(&all[0]);
    first = nanoseconds(CLOCK_MONOTONIC) - first;
    if (full) close(all[0].socket);
    for (int index = 0; index < connections && !full; index++) {
        if (index > 0) all[index].socket = dial(0);
        watch(&all[index], EPOLLIN);
    }

    count_use();
    uint64_t wall = nanoseconds(CLOCK_MONOTONIC);
    uint64_t cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t sent = 0;
    uint64_t done = 0;
    for (int index = 0; index < connections && sent < requests; index++, sent++) start(&all[index]);
    struct epoll_event events[256];
    while (done < requests) {
        int ready = epoll_wait(poller, events, 256, 10000);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) stop("no response within ten seconds");
        for (int index = 0; index < ready; index++) {
            struct connection *connection = events[index].data.ptr;
            if (connection->received == UINT64_MAX) {
                send_request(connection);
                continue;
            }
            ssize_t got = recv(connection->socket, buffer, sizeof buffer, MSG_DONTWAIT);
            if (got < 0 && errno == EAGAIN) continue;
            if (got <= 0) stop("recv");
            connection->received += (uint64_t)got;
            // A long response fills the buffer again and again; an edge is told only once.
            while (full && connection->received < expected && got == sizeof buffer) {
                got = recv(connection->socket, buffer, sizeof buffer, MSG_DONTWAIT);
                if (got > 0) connection->received += (uint64_t)got;
            }
            if (connection->received < expected) continue;
            if (connection->received > expected) errno = 0, stop("a longer response than the first");
            done++;
            if (full) close(connection->socket);
            if (sent < requests) {
                sent++;
                start(connection);
            }
        }
    }
    cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    wall = nanoseconds(CLOCK_MONOTONIC) - wall;
    counted_use();
    report_members(done, done * expected, full ? done : 0, wall, cpu);
    if (connections == 1) report_first(first);
    puts("}");
    return 0;
}
