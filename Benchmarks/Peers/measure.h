// SPDX-License-Identifier: MIT
// How a peer's program measures itself and says what came of it.
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static uint64_t nanoseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/// KiB that a line of this program's status names.
static inline long status_line(const char *name) {
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    long amount = 0;
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0) amount = strtol(line + strlen(name), NULL, 10);
    }
    if (status != NULL) fclose(status);
    return amount;
}

/// Peak resident KiB of this program; getrusage would count what its parent held before exec.
static long resident(void) { return status_line("VmHWM:"); }

/// Resident KiB now.
static inline long resident_now(void) { return status_line("VmRSS:"); }

/// Bytes of the heap that are in use, those mapped for themselves included.
static inline uint64_t heap_in_use(void) {
    struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

static struct rusage used_before, used_after;
static int counts_use;

/// From here on it counts how often the program gives up its processor, and what it takes in user space...
static inline void count_use(void) { getrusage(RUSAGE_SELF, &used_before); }

/// ... up to here.
static inline void counted_use(void) { counts_use = getrusage(RUSAGE_SELF, &used_after) == 0; }

static inline uint64_t user_time(struct rusage use) {
    return (uint64_t)use.ru_utime.tv_sec * 1000000000u + (uint64_t)use.ru_utime.tv_usec * 1000u;
}

static inline void report_use(void) {
    if (!counts_use) return;
    printf(
        ", \"user\": %llu, \"switches\": %ld",
        (unsigned long long)(user_time(used_after) - user_time(used_before)), used_after.ru_nvcsw - used_before.ru_nvcsw);
}

/// Prints the JSON object that the benchmarks read, but for its closing brace. `connects` are those made while the
/// clock ran.
static inline void report_members(uint64_t requests, uint64_t bytes, uint64_t connects, uint64_t wall, uint64_t cpu) {
    printf(
        "{\"requests\": %llu, \"bytes\": %llu, \"connects\": %llu, \"wall\": %llu, \"cpu\": %llu, "
        "\"resident\": %ld",
        (unsigned long long)requests, (unsigned long long)bytes, (unsigned long long)connects,
        (unsigned long long)wall, (unsigned long long)cpu, resident());
    report_use();
}

/// What each of many connections holds: bytes of heap, and KiB in memory.
static inline void report_held(double heap, double resident) {
    printf(", \"heapPerConnection\": %.1f, \"residentPerConnection\": %.1f", heap, resident * 1024);
}

/// What the first request took, its connection included, in nanoseconds; 0 where several were first.
static inline void report_first(uint64_t first) {
    if (first > 0) printf(", \"first\": %llu", (unsigned long long)first);
}

/// The same for a program over TLS; `held` is what an idle connection holds of the heap, below zero where none lay
/// idle.
static inline void report_tls(
    uint64_t requests, uint64_t bytes, uint64_t connects, uint64_t wall, uint64_t cpu, uint64_t resumed, double held,
    uint64_t first) {
    report_members(requests, bytes, connects, wall, cpu);
    printf(", \"resumed\": %llu", (unsigned long long)resumed);
    if (held >= 0) printf(", \"heapPerConnection\": %.1f", held);
    report_first(first);
    puts("}");
}
