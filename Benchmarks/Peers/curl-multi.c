// SPDX-License-Identifier: MIT
// libcurl's multi interface doing GETs, N at a time: what a C program gets from the usual library.
//
//     curl-multi [MODE] HOST[xHOSTS] PORT PATH CONNECTIONS REQUESTS
//
// MODE is one of
//   get   keep-alive, which is the default
//   full  every request on a connection of its own
//   idle  one request on each connection, all of which stay open: says what one holds
//   hold  one request on each connection, which the server answers when all have come: says what one in flight holds
// HOSTx100 stands for a hundred hosts from the IPv4 address HOST on, asked in turn; a PATH that ends with ? gets a number at each request.
// Prints one JSON object: requests, bytes,
// connects, wall and cpu in nanoseconds, and resident KiB; for idle and hold heapPerConnection and residentPerConnection. The
// connections are made by a round of requests before the clock starts; connects counts those that had to be made later.
#define _GNU_SOURCE
#define PROGRAM "curl-multi"
#include "curl-loop.h"

#include <arpa/inet.h>
#include <sys/resource.h>

static struct in_addr first_host;
static unsigned hosts = 1;
static unsigned next_host;
static const char *port;
static const char *path;
static uint64_t most_heap;

static void name_host(CURL *easy) {
    struct in_addr host = {.s_addr = htonl(ntohl(first_host.s_addr) + next_host++ % hosts)};
    char url[2048], name[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &host, name, sizeof name);
    snprintf(url, sizeof url, "http://%s:%s%s", name, port, path);
    if (path[strlen(path) - 1] == '?') snprintf(url + strlen(url), sizeof url - strlen(url), "%u", next_host);
    curl_easy_setopt(easy, CURLOPT_URL, url);
}

static void watch_heap(void) {
    uint64_t now = heap_in_use();
    if (now > most_heap) most_heap = now;
}

int main(int count, char **arguments) {
    if (count != 6 && count != 7) {
        fprintf(stderr, "curl-multi [get|full|idle|hold] HOST[xHOSTS] PORT PATH CONNECTIONS REQUESTS\n");
        return 2;
    }
    const char *mode = count == 7 ? arguments[1] : "get";
    int full = strcmp(mode, "full") == 0, idle = strcmp(mode, "idle") == 0, hold = strcmp(mode, "hold") == 0;
    if (!full && !idle && !hold && strcmp(mode, "get") != 0) stop("argument", mode);
    char **target = arguments + count - 5;
    char *many = strchr(target[0], 'x');
    if (many != NULL) {
        *many = 0;
        hosts = (unsigned)atoi(many + 1);
    }
    port = target[1];
    path = target[2];
    int connections = atoi(target[3]);
    uint64_t requests = strtoull(target[4], NULL, 10);
    if (inet_pton(AF_INET, target[0], &first_host) != 1 || hosts < 1 || connections < 1 || strlen(path) > 1024 || path[0] == 0)
        stop("argument", "not usable");
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURLM *multi = curl_multi_init();
    CURL **handles = calloc((size_t)connections, sizeof *handles);
    if (multi == NULL || handles == NULL) stop("multi", "cannot be made");
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)connections * (long)hosts);
    prepare = name_host;

    // What the library sets up once is not what a connection holds.
    if (idle || hold) {
        char once[] = "/1";
        const char *wanted = path;
        if (path[1] >= '0' && path[1] <= '9') path = once;  // a server that holds requests does not hold that one
        CURL *first = make("");
        curl_easy_setopt(first, CURLOPT_FORBID_REUSE, 1L);
        run(multi, &first, 1, 1);
        curl_easy_cleanup(first);
        path = wanted;
        requests = (uint64_t)connections;
    }
    uint64_t heap = heap_in_use();
    long before = resident_now();
    for (int index = 0; index < connections; index++) {
        handles[index] = make("");
        if (full) {
            curl_easy_setopt(handles[index], CURLOPT_FRESH_CONNECT, 1L);
            curl_easy_setopt(handles[index], CURLOPT_FORBID_REUSE, 1L);
        }
    }
    uint64_t first = nanoseconds(CLOCK_MONOTONIC);
    uint64_t round = connections > (int)hosts ? (uint64_t)connections : hosts;
    if (!idle && !hold) run(multi, handles, connections, round);
    first = nanoseconds(CLOCK_MONOTONIC) - first;

    received = 0;
    connects = 0;
    if (hold) observe = watch_heap;
    count_use();
    uint64_t wall = nanoseconds(CLOCK_MONOTONIC);
    uint64_t cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    run(multi, handles, connections, requests);
    cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    wall = nanoseconds(CLOCK_MONOTONIC) - wall;
    counted_use();
    for (int index = 0; index < connections; index++) curl_easy_cleanup(handles[index]);
    if (!hold) most_heap = heap_in_use();

    report_members(requests, received, connects, wall, cpu);
    if (idle || hold) report_held((double)(most_heap - heap) / connections, (resident_now() - before) / (double)connections);
    if (connections == 1 && !idle && !hold) report_first(first);
    puts("}");
    free(handles);
    curl_multi_cleanup(multi);
    curl_global_cleanup();
    return 0;
}
