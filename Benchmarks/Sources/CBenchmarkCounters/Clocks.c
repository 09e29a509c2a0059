// SPDX-License-Identifier: MIT
// Clocks, the processor's counters (perf_event_open), and the function that uses results.
#define _GNU_SOURCE
#include "CBenchmarkCounters.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t nanoseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t clock_wall(void) { return nanoseconds(CLOCK_MONOTONIC); }
uint64_t clock_thread_cpu(void) { return nanoseconds(CLOCK_THREAD_CPUTIME_ID); }
uint64_t clock_process_cpu(void) { return nanoseconds(CLOCK_PROCESS_CPUTIME_ID); }

uint64_t clock_process_user(void) {
    struct rusage use;
    if (getrusage(RUSAGE_SELF, &use) != 0) return 0;
    return (uint64_t)use.ru_utime.tv_sec * 1000000000u + (uint64_t)use.ru_utime.tv_usec * 1000u;
}

uint64_t process_switches(void) {
    struct rusage use;
    return getrusage(RUSAGE_SELF, &use) == 0 ? (uint64_t)use.ru_nvcsw : 0;
}

/// The descriptor of the group of counters, which is never closed; 0 before the first attempt, -1 if there are no counters.
static _Thread_local int leader;

static int open_counter(uint64_t event, int group) {
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.size = sizeof attributes;
    attributes.config = event;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    attributes.read_format = PERF_FORMAT_GROUP;
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

bool processor_counters_start(void) {
    if (leader == 0) {
        leader = open_counter(PERF_COUNT_HW_INSTRUCTIONS, -1);
        if (leader > 0 && open_counter(PERF_COUNT_HW_CPU_CYCLES, leader) < 0) {
            close(leader);
            leader = -1;
        }
    }
    return leader > 0;
}

struct processor_totals processor_counters_read(void) {
    struct processor_totals totals = {0, 0};
    uint64_t group[3];
    if (leader > 0 && read(leader, group, sizeof group) == sizeof group) {
        totals.instructions = group[1];
        totals.cycles = group[2];
    }
    return totals;
}

static volatile uint64_t kept;

void keep_value(uint64_t value) { kept = value; }
