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

/// Instructions retired and cycles spent in user space by the calling thread.
struct processor_totals {
    uint64_t instructions;
    uint64_t cycles;
};

/// Starts the calling thread's counters once. False where the kernel or the machine offers none.
bool processor_counters_start(void);
/// Reads the counters that `processor_counters_start` opened on the calling thread; zeros when it did not.
struct processor_totals processor_counters_read(void);

/// Takes a value so that the optimiser cannot drop the work that made it.
void keep_value(uint64_t value);

#endif
