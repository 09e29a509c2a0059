// SPDX-License-Identifier: MIT
// Loaded before programs that valgrind counts: valgrind 3.19 writes to the mask that sigsuspend is given, and ends when that is
// constant, as Dispatch's is. This one gives it a copy.
#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int sigsuspend(const sigset_t *mask) {
    sigset_t copy = *mask;
    return (int)syscall(SYS_rt_sigsuspend, &copy, 8);
}
