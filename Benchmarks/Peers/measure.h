// SPDX-License-Identifier: MIT
// How a peer's program measures itself and says what came of it.
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t nanoseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/// Peak resident KiB of this program; getrusage would count what its parent held before exec.
static long resident(void) {
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    long amount = 0;
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0) amount = strtol(line + 6, NULL, 10);
    }
    if (status != NULL) fclose(status);
    return amount;
}

/// Bytes of the heap that are in use, those mapped for themselves included.
static inline uint64_t heap_in_use(void) {
    struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

/// Prints the JSON object that the benchmarks read, but for its closing brace. `connects` are those made while the
/// clock ran.
static inline void report_members(uint64_t requests, uint64_t bytes, uint64_t connects, uint64_t wall, uint64_t cpu) {
    printf(
        "{\"requests\": %llu, \"bytes\": %llu, \"connects\": %llu, \"wall\": %llu, \"cpu\": %llu, "
        "\"resident\": %ld",
        (unsigned long long)requests, (unsigned long long)bytes, (unsigned long long)connects,
        (unsigned long long)wall, (unsigned long long)cpu, resident());
}

static inline void report(uint64_t requests, uint64_t bytes, uint64_t connects, uint64_t wall, uint64_t cpu) {
    report_members(requests, bytes, connects, wall, cpu);
    puts("}");
}

/// The same for a program over TLS; `held` is what an idle connection holds of the heap, below zero where none lay
/// idle.
static inline void report_tls(
    uint64_t requests, uint64_t bytes, uint64_t connects, uint64_t wall, uint64_t cpu, uint64_t resumed, double held) {
    report_members(requests, bytes, connects, wall, cpu);
    printf(", \"resumed\": %llu", (unsigned long long)resumed);
    if (held >= 0) printf(", \"heapPerConnection\": %.1f", held);
    puts("}");
}
