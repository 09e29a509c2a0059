// SPDX-License-Identifier: MIT
//
// Valgrind up to 3.19 writes into the mask that sigsuspend is given. libdispatch's is a constant, in memory that cannot be
// written to, and Valgrind ends with an error of its own. Loaded ahead of the C library by Scripts/valgrind, this gives it a copy.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int sigsuspend(const sigset_t *mask) {
    sigset_t copy = *mask;
    return (int)syscall(SYS_rt_sigsuspend, &copy, _NSIG / 8);
}
