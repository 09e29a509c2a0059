// SPDX-License-Identifier: MIT
// libcurl's easy interface saving what it downloads to a temporary file, one transfer after the other.
//
//     curl-file HOST PORT PATH CONNECTIONS REQUESTS
//
// CONNECTIONS is always 1. Prints the JSON object that the benchmarks read, with the KiB that the program grew by.
#define _GNU_SOURCE
#include "measure.h"

#include <curl/curl.h>
#include <unistd.h>

static void stop(const char *what, const char *why) {
    fprintf(stderr, "curl-file: %s: %s\n", what, why);
    exit(1);
}

int main(int count, char **arguments) {
    if (count != 6) {
        fprintf(stderr, "curl-file HOST PORT PATH CONNECTIONS REQUESTS\n");
        return 2;
    }
    char url[2048];
    int length = snprintf(url, sizeof url, "http://%s:%s%s", arguments[1], arguments[2], arguments[3]);
    uint64_t requests = strtoull(arguments[5], NULL, 10);
    if (length < 0 || (size_t)length >= sizeof url) stop("argument", "not usable");
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURL *easy = curl_easy_init();
    if (easy == NULL) stop("easy", "cannot be made");
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");

    uint64_t bytes = 0;
    long before = resident();
    uint64_t wall = nanoseconds(CLOCK_MONOTONIC);
    uint64_t cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    for (uint64_t done = 0; done < requests; done++) {
        FILE *file = tmpfile();
        if (file == NULL) stop("file", "cannot be made");
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, file);
        CURLcode code = curl_easy_perform(easy);
        if (code != CURLE_OK) stop("transfer", curl_easy_strerror(code));
        if (fflush(file) != 0) stop("file", "cannot be written");
        bytes += (uint64_t)ftello(file);
        fclose(file);
    }
    cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    wall = nanoseconds(CLOCK_MONOTONIC) - wall;
    report_members(requests, bytes, requests, wall, cpu);
    printf(", \"grown\": %ld}\n", resident() - before);
    curl_easy_cleanup(easy);
    curl_global_cleanup();
    return 0;
}
