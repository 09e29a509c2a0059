// SPDX-License-Identifier: MIT
// libcurl's multi interface over TLS, where libcurl stands on OpenSSL: what tls-floor does, done by the usual library,
// with the same modes and arguments.
//
//     curl-tls [--http2] full|resumed|get|idle 1.2|1.3 CAFILE HOST PORT PATH CONNECTIONS REQUESTS
//     curl-tls --version
//
// With --http2 it is one HTTP/2 connection, and CONNECTIONS are streams. A PATH that ends with ? gets a number at each request.
// Prints one JSON object: requests, bytes, connects (of the clock's time), wall and cpu in nanoseconds, resident KiB,
// resumed (how many of the connects), and for idle heapPerConnection: what a connection in libcurl's pool holds when
// the handles are gone. --version fails where libcurl has another TLS library.
#define _GNU_SOURCE
#define PROGRAM "curl-tls"
#include "curl-loop.h"

#include <openssl/ssl.h>
#include <string.h>
#include <sys/resource.h>

static uint64_t resumptions;
/// Whether all transfers share one HTTP/2 connection.
static int shares;
static char base[2048];
static unsigned number;

static void number_address(CURL *easy) {
    char url[sizeof base + 16];
    snprintf(url, sizeof url, "%s%u", base, number++);
    curl_easy_setopt(easy, CURLOPT_URL, url);
}

/// Asks OpenSSL how the transfer's connection came about, while the transfer has one: at its content's start.
static size_t take_fresh(char *bytes, size_t size, size_t count, void *easy) {
    struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || session == NULL)
        stop("session", "is not told");
    resumptions += (uint64_t)SSL_session_reused(session->internals);
    return take(bytes, size, count, NULL);
}

static int stands_on_openssl(void) {
    const char *library = curl_version_info(CURLVERSION_NOW)->ssl_version;
    return library != NULL && strncmp(library, "OpenSSL/", 8) == 0;
}

static CURL *make_tls(const char *url, const char *mode, const char *version, const char *authorities) {
    CURL *easy = make(url);
    int fresh = strcmp(mode, "full") == 0 || strcmp(mode, "resumed") == 0;
    long only = strcmp(version, "1.2") == 0 ? CURL_SSLVERSION_TLSv1_2 | CURL_SSLVERSION_MAX_TLSv1_2
                                            : CURL_SSLVERSION_TLSv1_3 | CURL_SSLVERSION_MAX_TLSv1_3;
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, only);
    curl_easy_setopt(easy, CURLOPT_CAINFO, authorities);
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, shares ? (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, shares ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_IPRESOLVE, (long)CURL_IPRESOLVE_V4);
    curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, strcmp(mode, "resumed") == 0 ? 1L : 0L);
    if (fresh) {
        curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
        curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_fresh);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, easy);
    }
    return easy;
}

static CURLM *make_multi(long transfers) {
    CURLM *multi = curl_multi_init();
    if (multi == NULL) stop("multi", "cannot be made");
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, transfers);
    if (shares) {
        curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
        curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, 1L);
        curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, transfers);
    }
    return multi;
}

static void check_version(CURL *easy) {
    long version = 0;
    curl_easy_getinfo(easy, CURLINFO_HTTP_VERSION, &version);
    if (shares && version != CURL_HTTP_VERSION_2) stop("version", "is not HTTP/2");
}

int main(int count, char **arguments) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    if (count == 2 && strcmp(arguments[1], "--version") == 0) return puts(curl_version()) < 0 || !stands_on_openssl();
    if (count > 1 && strcmp(arguments[1], "--http2") == 0) {
        shares = 1;
        count--;
        arguments++;
    }
    const char *mode = count > 1 ? arguments[1] : "";
    int idle = strcmp(mode, "idle") == 0;
    int known = idle || strcmp(mode, "full") == 0 || strcmp(mode, "resumed") == 0 || strcmp(mode, "get") == 0;
    if (count != 9 || !known || (strcmp(arguments[2], "1.2") != 0 && strcmp(arguments[2], "1.3") != 0)) {
        fprintf(stderr, "curl-tls [--http2] full|resumed|get|idle 1.2|1.3 CAFILE HOST PORT PATH CONNECTIONS REQUESTS\n");
        return 2;
    }
    if (!stands_on_openssl()) stop("libcurl", "stands on another library than OpenSSL");
    const char *url = base;
    int length = snprintf(base, sizeof base, "https://%s:%s%s", arguments[4], arguments[5], arguments[6]);
    int connections = atoi(arguments[7]);
    uint64_t requests = strtoull(arguments[8], NULL, 10);
    if (length < 0 || (size_t)length >= sizeof base || connections < 1) stop("argument", "not usable");
    if (url[length - 1] == '?') prepare = number_address;
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    CURLM *multi = make_multi(connections);
    CURL **handles = calloc((size_t)connections, sizeof *handles);
    if (handles == NULL) stop("handles", "cannot be made");

    // What libraries set up once, the authorities among it, is not what a connection holds.
    if (idle) {
        CURL *first = make_tls(url, "full", arguments[2], arguments[3]);
        run(multi, &first, 1, 1);
        curl_easy_cleanup(first);
        requests = (uint64_t)connections;
    }
    uint64_t heap = heap_in_use();
    for (int index = 0; index < connections; index++)
        handles[index] = make_tls(url, mode, arguments[2], arguments[3]);
    uint64_t first = nanoseconds(CLOCK_MONOTONIC);
    if (!idle) run(multi, handles, connections, (uint64_t)connections);
    first = nanoseconds(CLOCK_MONOTONIC) - first;
    if (!idle) check_version(handles[0]);

    received = 0;
    connects = 0;
    resumptions = 0;
    uint64_t wall = nanoseconds(CLOCK_MONOTONIC);
    uint64_t cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    run(multi, handles, connections, requests);
    cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    wall = nanoseconds(CLOCK_MONOTONIC) - wall;
    for (int index = 0; index < connections; index++) curl_easy_cleanup(handles[index]);
    uint64_t grown = heap_in_use() - heap;

    report_tls(requests, received, connects, wall, cpu, resumptions, idle ? (double)grown / connections : -1,
        connections == 1 && !idle ? first : 0);
    free(handles);
    curl_multi_cleanup(multi);
    curl_global_cleanup();
    return 0;
}
