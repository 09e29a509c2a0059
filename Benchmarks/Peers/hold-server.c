// SPDX-License-Identifier: MIT
// A server that keeps requests in flight: `GET /N` is answered, with two bytes, when N such requests have come and a fifth of a
// second has passed, so that a client can see what N unanswered requests hold.
//
//     hold-server
//
// Listens on a free port of 127.0.0.1 and prints it. A request is what ends with an empty line; nothing else is looked at.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST = 65536 };

static const char response[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
static int waiting[MOST];
static size_t waiters;
static char buffer[65536];

static void stop(const char *what) {
    fprintf(stderr, "hold-server: %s: %s\n", what, strerror(errno));
    exit(1);
}

/// Reads a request, and answers all that wait when it is the last of them.
static void take(int socket) {
    ssize_t got = recv(socket, buffer, sizeof buffer - 1, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
        close(socket);
        return;
    }
    buffer[got] = 0;
    if (strncmp(buffer, "GET /", 5) != 0 || strstr(buffer, "\r\n\r\n") == NULL || waiters == MOST) {
        close(socket);
        return;
    }
    size_t wanted = strtoul(buffer + 5, NULL, 10);
    waiting[waiters++] = socket;
    if (waiters < wanted) return;
    if (wanted > 1) usleep(200000);
    while (waiters > 0) {
        if (send(waiting[--waiters], response, sizeof response - 1, MSG_NOSIGNAL) < 0) close(waiting[waiters]);
    }
}

int main(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int poller = epoll_create1(EPOLL_CLOEXEC);
    if (listener < 0 || poller < 0) stop("socket");
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 4096) != 0) stop("listen");
    if (getsockname(listener, (struct sockaddr *)&address, &length) != 0) stop("getsockname");
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event) != 0) stop("epoll_ctl");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    struct epoll_event events[256];
    for (;;) {
        int ready = epoll_wait(poller, events, 256, -1);
        for (int index = 0; index < ready; index++) {
            if (events[index].data.fd != listener) {
                take(events[index].data.fd);
                continue;
            }
            for (int made; (made = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) {
                struct epoll_event more = {.events = EPOLLIN, .data.fd = made};
                if (epoll_ctl(poller, EPOLL_CTL_ADD, made, &more) != 0) stop("epoll_ctl");
            }
        }
    }
}
