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

/// Prints the JSON object that the benchmarks read. `more` is further members, each after its comma, or nothing.
static void report(
    uint64_t requests, uint64_t bytes, uint64_t connects, uint64_t wall, uint64_t cpu, const char *more) {
    printf(
        "{\"requests\": %llu, \"bytes\": %llu, \"connects\": %llu, \"wall\": %llu, \"cpu\": %llu, \"resident\": "
        "%ld%s}\n",
        (unsigned long long)requests, (unsigned long long)bytes, (unsigned long long)connects, (unsigned long long)wall,
        (unsigned long long)cpu, resident(), more);
}
