// SPDX-License-Identifier: MIT
// Runs a program and measures the time to the first byte of its output, and its cost. It uses posix_spawn directly, because the
// programs run for a few milliseconds only.
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
    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) return false;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    // The standard input is empty, for commands that read a request's content from it.
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 1);
    pid_t child;
    uint64_t start = clock_wall();
    int failure = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pipe_ends[1]);
    if (failure != 0) {
        close(pipe_ends[0]);
        return false;
    }
    char buffer[65536];
    ssize_t count = read(pipe_ends[0], buffer, sizeof buffer);
    cost->first = clock_wall() - start;
    cost->bytes = count > 0 ? (uint64_t)count : 0;
    while (count > 0) {
        count = read(pipe_ends[0], buffer, sizeof buffer);
        if (count > 0) cost->bytes += (uint64_t)count;
    }
    close(pipe_ends[0]);
    int status;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) != child) return false;
    cost->wall = clock_wall() - start;
    cost->cpu = (microseconds(usage.ru_utime) + microseconds(usage.ru_stime)) * 1000;
    cost->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}
