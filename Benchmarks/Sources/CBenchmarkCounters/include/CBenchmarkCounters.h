// SPDX-License-Identifier: MIT
// What the harness reads around a sample: heap allocations, clocks, and the processor's own counters.
#ifndef LUPINE_BENCHMARK_COUNTERS_H
#define LUPINE_BENCHMARK_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

/// Heap requests so far: malloc, calloc, realloc and the aligned forms, and the bytes they asked for.
struct heap_totals {
    uint64_t requests;
    uint64_t bytes;
};

/// False where the C library does not let its allocator be counted (other than glibc).
bool heap_is_counted(void);
/// Counts from now on, or counts no more: a program that is timed beside others which do not count should not either.
void heap_set_counting(bool on);
/// The calling thread's requests.
struct heap_totals heap_of_thread(void);
/// All threads' requests, those of finished threads included.
struct heap_totals heap_of_process(void);
/// Bytes of the heap that are in use, those mapped for themselves included; zero for a C library other than glibc.
uint64_t heap_in_use(void);

/// Nanoseconds on the monotonic clock.
uint64_t clock_wall(void);
/// Nanoseconds of processor time, user and system, of the calling thread and of the process.
uint64_t clock_thread_cpu(void);
uint64_t clock_process_cpu(void);
/// Of that, the process' time in user space.
uint64_t clock_process_user(void);
/// How often a thread of the process has given up its processor by itself.
uint64_t process_switches(void);

/// Instructions retired and cycles spent in user space by the calling thread.
struct processor_totals {
    uint64_t instructions;
    uint64_t cycles;
};

/// Starts the calling thread's counters once. False where the kernel or the machine offers none.
bool processor_counters_start(void);
/// Reads the counters that `processor_counters_start` opened on the calling thread; zeros when it did not.
struct processor_totals processor_counters_read(void);

/// What a program cost from its start to its end, in nanoseconds, and when the first byte of its output came.
struct program_cost {
    uint64_t first;
    uint64_t wall;
    uint64_t cpu;
    uint64_t bytes;
    int status;
};

/// Runs a program, arguments ending with NULL, and reads what it prints. False when it could not be run.
bool program_first_byte(char *const *arguments, struct program_cost *cost);

/// Connections that a server took and requests that it answered since it was started.
struct server_totals {
    uint64_t connections;
    uint64_t requests;
};

/// Asks nginx at an IPv4 address for its totals, on a connection of its own that they count too. False when it does not tell.
bool server_totals_read(const char *host, uint16_t port, struct server_totals *totals);

/// Takes a value so that the optimiser cannot drop the work that made it.
void keep_value(uint64_t value);

#endif
