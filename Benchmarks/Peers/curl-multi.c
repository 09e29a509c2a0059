// SPDX-License-Identifier: MIT
// libcurl's multi interface doing keep-alive GETs, N at a time: what a C program gets from the usual library.
//
//     curl-multi HOST PORT PATH CONNECTIONS REQUESTS
//
// Prints one JSON object: requests, bytes, connects, wall and cpu in nanoseconds, and resident KiB. The connections are
// made by a round of requests before the clock starts; connects counts those that had to be made later.
#define _GNU_SOURCE
#define PROGRAM "curl-multi"
#include "curl-loop.h"

int main(int count, char **arguments) {
    if (count != 6) {
        fprintf(stderr, "curl-multi HOST PORT PATH CONNECTIONS REQUESTS\n");
        return 2;
    }
    char url[2048];
    int length = snprintf(url, sizeof url, "http://%s:%s%s", arguments[1], arguments[2], arguments[3]);
    int connections = atoi(arguments[4]);
    uint64_t requests = strtoull(arguments[5], NULL, 10);
    if (length < 0 || (size_t)length >= sizeof url || connections < 1) stop("argument", "not usable");
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURLM *multi = curl_multi_init();
    CURL **handles = calloc((size_t)connections, sizeof *handles);
    if (multi == NULL || handles == NULL) stop("multi", "cannot be made");
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)connections);
    for (int index = 0; index < connections; index++) handles[index] = make(url);
    run(multi, handles, connections, (uint64_t)connections);

    received = 0;
    connects = 0;
    uint64_t wall = nanoseconds(CLOCK_MONOTONIC);
    uint64_t cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    run(multi, handles, connections, requests);
    cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    wall = nanoseconds(CLOCK_MONOTONIC) - wall;
    report(requests, received, connects, wall, cpu);
    for (int index = 0; index < connections; index++) curl_easy_cleanup(handles[index]);
    free(handles);
    curl_multi_cleanup(multi);
    curl_global_cleanup();
    return 0;
}
