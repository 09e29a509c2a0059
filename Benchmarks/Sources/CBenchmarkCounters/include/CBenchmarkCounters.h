// SPDX-License-Identifier: MIT
// The counters that the harness reads before and after a sample: heap requests, clocks, and the processor's counters.
#ifndef LUPINE_BENCHMARK_COUNTERS_H
#define LUPINE_BENCHMARK_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

/// The total number of heap requests (malloc, calloc, realloc and the aligned forms), and of the requested bytes.
struct heap_totals {
    uint64_t requests;
    uint64_t bytes;
};

/// Returns whether heap requests can be counted, which needs glibc.
bool heap_is_counted(void);
/// Turns counting on or off. A program whose time is compared with that of programs that do not count turns it off.
void heap_set_counting(bool on);
/// Returns the requests of the calling thread.
struct heap_totals heap_of_thread(void);
/// Returns the requests of all threads, including finished ones.
struct heap_totals heap_of_process(void);
/// Returns the bytes of the heap that are in use, including directly mapped blocks; zero for a C library other than glibc.
uint64_t heap_in_use(void);

/// Returns the nanoseconds of the monotonic clock.
uint64_t clock_wall(void);
/// Return the nanoseconds of processor time, user and system, of the calling thread and of the process.
uint64_t clock_thread_cpu(void);
uint64_t clock_process_cpu(void);
/// Returns the nanoseconds of processor time of the process in user space.
uint64_t clock_process_user(void);
/// Returns the number of voluntary context switches of the process.
uint64_t process_switches(void);

/// Instructions retired and cycles spent in user space by the calling thread.
struct processor_totals {
    uint64_t instructions;
    uint64_t cycles;
};

/// Starts the counters of the calling thread, unless they are started. Returns false if the kernel or machine has none.
bool processor_counters_start(void);
/// Returns the counters that `processor_counters_start` has opened on the calling thread; zeros if it failed.
struct processor_totals processor_counters_read(void);

/// The cost of a program from its start to its end; times are in nanoseconds.
struct program_cost {
    /// The time from the start to the first byte of output.
    uint64_t first;
    uint64_t wall;
    uint64_t cpu;
    uint64_t bytes;
    int status;
};

/// Runs a program and reads its output; `arguments` end with NULL. Returns false if the program could not be run.
bool program_first_byte(char *const *arguments, struct program_cost *cost);

/// The connections that a server has accepted and the requests that it has answered since its start.
struct server_totals {
    uint64_t connections;
    uint64_t requests;
};

/// Requests the totals of nginx at an IPv4 address. The totals include the connection of this request. Returns false on errors.
bool server_totals_read(const char *host, uint16_t port, struct server_totals *totals);

/// Stores a value, so that the optimiser does not remove the work that produced it.
void keep_value(uint64_t value);

#endif
