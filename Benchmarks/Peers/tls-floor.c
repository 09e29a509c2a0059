// SPDX-License-Identifier: MIT
// The floor under every client that uses OpenSSL: GETs over TLS on non-blocking sockets with epoll, OpenSSL on the
// socket itself, chain and host verified, and no parsing beyond the length of the first response, which all others must
// have too. The settings are OpenSSL's own but for the ALPN name, so that handshakes are what any client's are.
//
//     tls-floor MODE VERSION CAFILE HOST PORT PATH CONNECTIONS REQUESTS
//     tls-floor --version
//
// MODE is one of
//   full     every request on a connection of its own, with a full handshake, closed properly after the response
//   resumed  the same, but each handshake offers a session that an earlier one left; a ticket of TLS 1.3 is used once
//   get      keep-alive: the handshakes are over before the clock starts
//   idle     one request on each connection, all of which stay open with their buffers released; REQUESTS is not used
// VERSION is 1.2 or 1.3. HOST is a name or an IPv4 address, checked against the certificate either way. So many
// CONNECTIONS are busy at a time. Prints one JSON object: requests, bytes, connects (of the clock's time), wall and cpu
// in nanoseconds, resident KiB, resumed (how many of the connects), and for idle heapPerConnection, the bytes of heap
// that each holds.
#define _GNU_SOURCE
#include "measure.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum mode { FULL, RESUMED, GET, IDLE };

struct connection {
    int socket;
    SSL *ssl;  // NULL while closed
    bool ready;  // the handshake is over
    uint64_t received;
};

static const char *const mode_names[] = {"full", "resumed", "get", "idle"};
static enum mode mode;
static const char *host;
static bool host_is_name;
static struct sockaddr_in address;
static SSL_CTX *context;
static int poller;
static char request[2048];
static size_t request_length;
static char buffer[256 * 1024];
static uint64_t expected;  // bytes of a response; 0 until the first has come
static uint64_t connects;
static uint64_t resumptions;

// What the servers' tickets left, the newest last.
static SSL_SESSION *sessions[1024];
static size_t session_count;

static void stop(const char *what) {
    unsigned long error = ERR_peek_last_error();
    const char *why = error ? ERR_reason_error_string(error) : errno ? strerror(errno) : NULL;
    fprintf(stderr, "tls-floor: %s: %s\n", what, why ? why : "unexpected");
    exit(1);
}

/// Keeps a session that a server gave; returns 1, because it then owns the reference.
static int keep_session(SSL *ssl, SSL_SESSION *session) {
    (void)ssl;
    if (session_count == sizeof sessions / sizeof sessions[0]) return 0;
    sessions[session_count++] = session;
    return 1;
}

static void offer_session(SSL *ssl) {
    if (session_count == 0) return;
    SSL_SESSION *session = sessions[session_count - 1];
    if (SSL_set_session(ssl, session) != 1) stop("SSL_set_session");
    if (SSL_SESSION_get_protocol_version(session) < TLS1_3_VERSION) return;
    session_count--;
    SSL_SESSION_free(session);
}

static void dial(struct connection *connection) {
    int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0) stop("socket");
    int on = 1;
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(made, (const struct sockaddr *)&address, sizeof address) != 0 && errno != EINPROGRESS) stop("connect");
    // Edges only: one registration serves the connection's whole life.
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = connection};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, made, &event) != 0) stop("epoll_ctl");
    SSL *ssl = SSL_new(context);
    if (ssl == NULL || SSL_set_fd(ssl, made) != 1 || SSL_set1_host(ssl, host) != 1) stop("SSL_new");
    if (host_is_name && SSL_set_tlsext_host_name(ssl, host) != 1) stop("server name");
    if (mode == RESUMED) offer_session(ssl);
    SSL_set_connect_state(ssl);
    *connection = (struct connection){.socket = made, .ssl = ssl};
}

static void hang_up(struct connection *connection) {
    if (SSL_shutdown(connection->ssl) < 0) stop("SSL_shutdown");
    SSL_free(connection->ssl);
    close(connection->socket);
    *connection = (struct connection){.socket = -1};
}

static void send_request(struct connection *connection) {
    connection->received = 0;
    if (SSL_write(connection->ssl, request, (int)request_length) != (int)request_length) stop("SSL_write");
}

/// Starts one exchange: on the open connection, or on a new one.
static void start(struct connection *connection) {
    if (connection->ssl == NULL) {
        dial(connection);
    } else {
        send_request(connection);
    }
}

/// Tells a response's length from the start of the first: the head's, and what its Content-Length says; 0 when the head
/// is not all there.
static uint64_t response_length(uint64_t have) {
    buffer[have] = 0;
    char *end = strstr(buffer, "\r\n\r\n");
    if (end == NULL) return 0;
    errno = 0;
    if (strncmp(buffer, "HTTP/1.1 200 ", 13) != 0) stop("status other than 200");
    char *field = strcasestr(buffer, "\r\ncontent-length:");
    if (field == NULL || field > end) stop("response without a length");
    return (uint64_t)(end + 4 - buffer) + strtoull(field + 17, NULL, 10);
}

/// False when OpenSSL waits for the socket; anything else that went wrong ends the program.
static bool went_on(struct connection *connection, int result, const char *what) {
    if (result > 0) return true;
    int error = SSL_get_error(connection->ssl, result);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return false;
    stop(what);
    return false;
}

/// Takes a connection as far as its socket allows; true when its response is complete.
static bool advance(struct connection *connection) {
    if (connection->ssl == NULL) return false;
    if (!connection->ready) {
        if (!went_on(connection, SSL_do_handshake(connection->ssl), "handshake")) return false;
        if (SSL_get_verify_result(connection->ssl) != X509_V_OK) stop("verification");
        connection->ready = true;
        connects++;
        resumptions += (uint64_t)SSL_session_reused(connection->ssl);
        send_request(connection);
        return false;
    }
    for (;;) {
        char *place = expected == 0 ? buffer + connection->received : buffer;
        int got = SSL_read(connection->ssl, place, (int)(buffer + sizeof buffer - 1 - place));
        if (!went_on(connection, got, "SSL_read")) return false;
        connection->received += (uint64_t)got;
        if (expected == 0) expected = response_length(connection->received);
        if (expected == 0 || connection->received < expected) continue;
        if (connection->received > expected) errno = 0, stop("a longer response than the first");
        return true;
    }
}

/// Does so many requests over the connections; each starts its next when it ends.
static void run(struct connection *all, uint64_t connections, uint64_t requests) {
    uint64_t started = 0;
    uint64_t done = 0;
    for (uint64_t index = 0; index < connections && started < requests; index++, started++) start(&all[index]);
    struct epoll_event events[256];
    while (done < requests) {
        int ready = epoll_wait(poller, events, 256, 10000);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) stop("no response within ten seconds");
        for (int index = 0; index < ready; index++) {
            struct connection *connection = events[index].data.ptr;
            if (!advance(connection)) continue;
            done++;
            if (mode == FULL || mode == RESUMED) hang_up(connection);
            // A ticket of TLS 1.3 brings both buffers back, and the one for writing stays until the next write.
            if (mode == IDLE && SSL_free_buffers(connection->ssl) != 1) stop("SSL_free_buffers");
            if (started < requests) {
                started++;
                start(connection);
            }
        }
    }
}

static void make_context(const char *version, const char *authorities) {
    static const unsigned char protocol[] = "\x08http/1.1";
    int only = strcmp(version, "1.2") == 0 ? TLS1_2_VERSION : strcmp(version, "1.3") == 0 ? TLS1_3_VERSION : 0;
    if (only == 0) errno = EINVAL, stop("VERSION");
    context = SSL_CTX_new(TLS_client_method());
    if (context == NULL) stop("SSL_CTX_new");
    SSL_CTX_set_min_proto_version(context, only);
    SSL_CTX_set_max_proto_version(context, only);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    if (SSL_CTX_load_verify_file(context, authorities) != 1) stop(authorities);
    if (SSL_CTX_set_alpn_protos(context, protocol, sizeof protocol - 1) != 0) stop("ALPN");
    if (mode == RESUMED) {
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
        SSL_CTX_sess_set_new_cb(context, keep_session);
    } else {
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    }
    if (mode == IDLE) SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

static void find_host(const char *port) {
    address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    if (inet_pton(AF_INET, host, &address.sin_addr) == 1) return;
    host_is_name = true;
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    if (getaddrinfo(host, port, &hints, &found) != 0) errno = 0, stop("HOST");
    memcpy(&address, found->ai_addr, sizeof address);
    freeaddrinfo(found);
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "--version") == 0) return puts(OpenSSL_version(OPENSSL_VERSION)) < 0;
    if (count != 9) {
        fprintf(stderr, "tls-floor full|resumed|get|idle 1.2|1.3 CAFILE HOST PORT PATH CONNECTIONS REQUESTS\n");
        return 2;
    }
    int wanted = 0;
    while (wanted < 4 && strcmp(arguments[1], mode_names[wanted]) != 0) wanted++;
    int connections = atoi(arguments[7]);
    uint64_t requests = strtoull(arguments[8], NULL, 10);
    if (wanted == 4 || connections < 1) errno = EINVAL, stop("argument");
    mode = (enum mode)wanted;
    host = arguments[4];
    make_context(arguments[2], arguments[3]);
    find_host(arguments[5]);
    int length = snprintf(
        request, sizeof request, "GET %s HTTP/1.1\r\nHost: %s:%s\r\nUser-Agent: floor\r\nAccept: */*\r\n\r\n",
        arguments[6], host, arguments[5]);
    if (length < 0 || (size_t)length >= sizeof request) errno = EMSGSIZE, stop("PATH");
    request_length = (size_t)length;

    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    poller = epoll_create1(EPOLL_CLOEXEC);
    struct connection *all = calloc((size_t)connections, sizeof *all);
    if (poller < 0 || all == NULL) stop("epoll");

    // The first learns a response's length, and what OpenSSL sets up once; the others fill the lanes.
    uint64_t first = nanoseconds(CLOCK_MONOTONIC);
    run(all, 1, 1);
    first = nanoseconds(CLOCK_MONOTONIC) - first;
    uint64_t lanes = (uint64_t)connections;
    if (mode == IDLE) {
        hang_up(&all[0]);
        requests = lanes;
    } else {
        run(all, lanes, lanes);
    }
    connects = 0;
    resumptions = 0;
    uint64_t heap = heap_in_use();
    uint64_t wall = nanoseconds(CLOCK_MONOTONIC);
    uint64_t cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    run(all, lanes, requests);
    cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    wall = nanoseconds(CLOCK_MONOTONIC) - wall;
    uint64_t grown = heap_in_use() - heap;

    double held = mode == IDLE ? (double)grown / connections : -1;
    report_tls(requests, requests * expected, connects, wall, cpu, resumptions, held, lanes == 1 && mode != IDLE ? first : 0);
    return 0;
}
