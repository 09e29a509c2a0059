// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "CLupineFaults.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// The clock

static _Atomic long ahead;

void lupine_set_clock(long seconds) { atomic_store(&ahead, seconds); }

int clock_gettime(clockid_t clock, struct timespec *result) {
    int code = (int)syscall(SYS_clock_gettime, clock, result);
    if (code == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) result->tv_sec += atomic_load(&ahead);
    return code;
}

int gettimeofday(struct timeval *restrict result, void *restrict zone) {
    struct timespec now;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    result->tv_sec = now.tv_sec;
    result->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

// The resolver

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int holds = 1;
static int held;

void lupine_hold_lookups(int hold) {
    pthread_mutex_lock(&lock);
    holds = hold;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

int lupine_held_lookups(void) {
    pthread_mutex_lock(&lock);
    int count = held;
    pthread_mutex_unlock(&lock);
    return count;
}

static int ends_with(const char *name, const char *end) {
    size_t length = strlen(name), wanted = strlen(end);
    return length >= wanted && strcmp(name + length - wanted, end) == 0;
}

int getaddrinfo(const char *restrict name, const char *restrict service, const struct addrinfo *restrict hints,
                struct addrinfo **restrict result) {
    int (*system)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
        (int (*)(const char *, const char *, const struct addrinfo *, struct addrinfo **))dlsym(RTLD_NEXT, "getaddrinfo");
    if (name && ends_with(name, "hang.test")) {
        pthread_mutex_lock(&lock);
        held++;
        while (holds) pthread_cond_wait(&changed, &lock);
        held--;
        pthread_mutex_unlock(&lock);
    } else if (name && ends_with(name, "late.test")) {
        struct timespec lateness = {0, 700000000};
        nanosleep(&lateness, NULL);
    } else if (!name || !ends_with(name, "quick.test")) {
        return system(name, service, hints, result);
    }
    return system("127.0.0.1", service, hints, result);
}

// The fork

int lupine_fork(const char *path, const char *argument) {
    pid_t child = fork();
    if (child == 0) {
        if (path) execl(path, path, "-c", argument, (char *)NULL);
        _exit(7);
    }
    int status = -1;
    if (child > 0) {
        while (waitpid(child, &status, 0) < 0) {}
    }
    return status;
}

// What Dispatch looks at once a second while its queues are busy: how its threads stand. It ends the process when there is no
// descriptor for that. Then it is told that they wait, by a descriptor that nobody else has.

static const int waiting = INT_MAX;
static const char state[] = "1 (thread) S\n";

int open(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (descriptor < 0 && errno == EMFILE && strncmp(path, "/proc/", 6) == 0 && ends_with(path, "/stat")) return waiting;
    return descriptor;
}

ssize_t read(int descriptor, void *buffer, size_t count) {
    if (descriptor != waiting) return (ssize_t)syscall(SYS_read, descriptor, buffer, count);
    size_t length = count < sizeof state - 1 ? count : sizeof state - 1;
    memcpy(buffer, state, length);
    return (ssize_t)length;
}

int close(int descriptor) { return descriptor == waiting ? 0 : (int)syscall(SYS_close, descriptor); }
