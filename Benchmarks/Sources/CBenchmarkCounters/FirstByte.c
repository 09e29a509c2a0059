// SPDX-License-Identifier: MIT
// Runs a program and looks at its output from outside: when the first byte came, what it took. By posix_spawn and without
// anything in between, because the programs live for a few milliseconds.
#define _GNU_SOURCE
#include "CBenchmarkCounters.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static uint64_t microseconds(struct timeval time) { return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec; }

bool program_first_byte(char *const *arguments, struct program_cost *cost) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    // A command that takes a request's content from its input finds none.
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    pid_t child;
    uint64_t start = clock_wall();
    int failure = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (failure != 0) {
        close(ends[0]);
        return false;
    }
    char buffer[65536];
    ssize_t got = read(ends[0], buffer, sizeof buffer);
    cost->first = clock_wall() - start;
    cost->bytes = got > 0 ? (uint64_t)got : 0;
    while (got > 0) {
        got = read(ends[0], buffer, sizeof buffer);
        if (got > 0) cost->bytes += (uint64_t)got;
    }
    close(ends[0]);
    int status;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) != child) return false;
    cost->wall = clock_wall() - start;
    cost->cpu = (microseconds(usage.ru_utime) + microseconds(usage.ru_stime)) * 1000;
    cost->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}
