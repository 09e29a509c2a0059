// SPDX-License-Identifier: MIT
// The loop of the programs that measure libcurl's multi interface: a number of handles, each starting its next transfer
// as soon as it ends. Driven by curl_multi_poll: driven by epoll through its socket callbacks it cost more, because it
// takes a socket out of the set and puts it back for every request. Whoever includes this defines PROGRAM, its name.
#include "measure.h"

#include <curl/curl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t received;
static uint64_t connects;

static void stop(const char *what, const char *why) {
    fprintf(stderr, PROGRAM ": %s: %s\n", what, why);
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

/// Called with a handle before each of its transfers, and when the multi handle has worked; NULL where there is nothing to do.
static void (*prepare)(CURL *easy);
static void (*observe)(void);

/// Runs `requests` transfers over the handles, each handle starting its next one as soon as it ends.
static void run(CURLM *multi, CURL **handles, int connections, uint64_t requests) {
    uint64_t started = 0;
    uint64_t done = 0;
    for (int index = 0; index < connections && started < requests; index++, started++) {
        if (prepare != NULL) prepare(handles[index]);
        curl_multi_add_handle(multi, handles[index]);
    }
    while (done < requests) {
        int running;
        CURLMcode code = curl_multi_perform(multi, &running);
        if (code != CURLM_OK) stop("perform", curl_multi_strerror(code));
        if (observe != NULL) observe();
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
                if (prepare != NULL) prepare(easy);
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
