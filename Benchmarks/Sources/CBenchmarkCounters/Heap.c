// SPDX-License-Identifier: MIT
// Counts heap requests by interposing glibc's allocator. The `malloc` of the program replaces that of the C library, for shared
// libraries, too, and calls the allocator by its internal name, so that `free` need not be replaced. Each thread writes to a
// separate cache line, so that counting costs a few instructions and no shared line.
#include "CBenchmarkCounters.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#define LINES 1024

struct heap_line {
    _Alignas(64) _Atomic uint64_t requests;
    _Atomic uint64_t bytes;
};

static struct heap_line lines[LINES];
static _Atomic unsigned lines_taken;
static _Thread_local struct heap_line *own_line __attribute__((tls_model("initial-exec")));

/// Returns the line of the calling thread. All threads after the first LINES - 1 share the last line, which alone needs atomic
/// additions.
static struct heap_line *line_of_thread(void) {
    struct heap_line *line = own_line;
    if (__builtin_expect(line == NULL, 0)) {
        unsigned index = atomic_fetch_add_explicit(&lines_taken, 1, memory_order_relaxed);
        line = &lines[index < LINES - 1 ? index : LINES - 1];
        own_line = line;
    }
    return line;
}

static _Atomic bool is_counting = true;

void heap_set_counting(bool on) { atomic_store_explicit(&is_counting, on, memory_order_relaxed); }

static inline void add(_Atomic uint64_t *to, uint64_t amount, bool shared) {
    if (shared) {
        atomic_fetch_add_explicit(to, amount, memory_order_relaxed);
    } else {
        uint64_t old = atomic_load_explicit(to, memory_order_relaxed);
        atomic_store_explicit(to, old + amount, memory_order_relaxed);
    }
}

static inline void count(size_t bytes) {
    if (__builtin_expect(!atomic_load_explicit(&is_counting, memory_order_relaxed), 1)) return;
    struct heap_line *line = line_of_thread();
    bool shared = line == &lines[LINES - 1];
    add(&line->requests, 1, shared);
    add(&line->bytes, bytes, shared);
}

struct heap_totals heap_of_thread(void) {
    struct heap_line *line = line_of_thread();
    struct heap_totals totals = {
        atomic_load_explicit(&line->requests, memory_order_relaxed),
        atomic_load_explicit(&line->bytes, memory_order_relaxed),
    };
    return totals;
}

struct heap_totals heap_of_process(void) {
    struct heap_totals totals = {0, 0};
    for (int index = 0; index < LINES; index++) {
        totals.requests += atomic_load_explicit(&lines[index].requests, memory_order_relaxed);
        totals.bytes += atomic_load_explicit(&lines[index].bytes, memory_order_relaxed);
    }
    return totals;
}

#if defined(__GLIBC__)

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

bool heap_is_counted(void) { return true; }

uint64_t heap_in_use(void) {
    struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

void *malloc(size_t size) {
    count(size);
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count(number * size);
    return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
    count(size);
    return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size) {
    count(size);
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count(size);
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) return EINVAL;
    count(size);
    void *memory = __libc_memalign(alignment, size);
    if (memory == NULL) return ENOMEM;
    *result = memory;
    return 0;
}

#else

bool heap_is_counted(void) { return false; }

uint64_t heap_in_use(void) { return 0; }

#endif
