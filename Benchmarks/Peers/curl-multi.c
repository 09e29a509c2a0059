// SPDX-License-Identifier: MIT
// libcurl's multi interface doing keep-alive GETs, N at a time: what a C program gets from the usual library. Driven by
// curl_multi_poll: driven by epoll through its socket callbacks it cost more, because it takes a socket out of the set
// and puts it back for every request.
//
//     curl-multi HOST PORT PATH CONNECTIONS REQUESTS
//
// Prints one JSON object: requests, bytes, connects, wall and cpu in nanoseconds, and resident KiB. The connections are
// made by a round of requests before the clock starts; connects counts them too.
#define _GNU_SOURCE
#include "measure.h"

#include <curl/curl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t received;
static uint64_t connects;

static void stop(const char *what, const char *why) {
    fprintf(stderr, "curl-multi: %s: %s\n", what, why);
    exit(1);
}

static size_t take(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes, (void)context;
    received += size * count;
    return size * count;
}

static CURL *make(const char *url) {
    CURL *easy = curl_easy_init();
    if (easy == NULL) stop("easy", "cannot be made");
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    return easy;
}

/// Runs `requests` transfers over the handles, each handle starting its next one as soon as it ends.
static void run(CURLM *multi, CURL **handles, int connections, uint64_t requests) {
    uint64_t started = 0;
    uint64_t done = 0;
    for (int index = 0; index < connections && started < requests; index++, started++)
        curl_multi_add_handle(multi, handles[index]);
    while (done < requests) {
        int running;
        CURLMcode code = curl_multi_perform(multi, &running);
        if (code != CURLM_OK) stop("perform", curl_multi_strerror(code));
        CURLMsg *message;
        int left;
        int again = 0;
        while ((message = curl_multi_info_read(multi, &left)) != NULL) {
            if (message->msg != CURLMSG_DONE) continue;
            if (message->data.result != CURLE_OK) stop("transfer", curl_easy_strerror(message->data.result));
            CURL *easy = message->easy_handle;
            long made = 0;
            curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &made);
            connects += (uint64_t)made;
            curl_multi_remove_handle(multi, easy);
            done++;
            if (started < requests) {
                started++;
                curl_multi_add_handle(multi, easy);
                again = 1;
            }
        }
        if (!again && done < requests) {
            code = curl_multi_poll(multi, NULL, 0, 10000, NULL);
            if (code != CURLM_OK) stop("poll", curl_multi_strerror(code));
        }
    }
}

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
