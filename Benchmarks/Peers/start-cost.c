// SPDX-License-Identifier: MIT
// start-cost ROUNDS FILE: starts the commands of a file in turn, so many rounds, and prints for each its name, the median and the
// quartiles of its time from fork to exit in microseconds, and the medians of its processor time, in microseconds, and of its largest
// resident memory in KiB.
//
// A line of the file is NAME, a tab, and words separated by spaces: assignments NAME=VALUE first, then the command. The measuring process
// is small: a child's memory counts from what its parent had at the fork. A command that fails ends the run.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { most_commands = 64, most_words = 64, most_rounds = 1000 };

struct command {
    char *name;
    char *words[most_words + 1];
    long wall[most_rounds];
    long processor[most_rounds];
    long memory[most_rounds];
};

static struct command commands[most_commands];

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000L + time.tv_nsec / 1000;
}

static int ascending(const void *left, const void *right) {
    long a = *(const long *)left, b = *(const long *)right;
    return (a > b) - (a < b);
}

static long microseconds(struct timeval time) { return time.tv_sec * 1000000L + time.tv_usec; }

static int run(struct command *command, long *wall, long *processor, long *memory) {
    long begin = now();
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_RDWR);
        dup2(nowhere, 0);
        dup2(nowhere, 1);
        dup2(nowhere, 2);
        char **word = command->words;
        for (; *word != NULL && strchr(*word, '=') != NULL; word++) putenv(*word);
        execvp(*word, word);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child) return -1;
    *wall = now() - begin;
    *processor = microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
    *memory = usage.ru_maxrss;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int count, char **arguments) {
    int rounds = count == 3 ? atoi(arguments[1]) : 0;
    FILE *file = rounds > 0 && rounds <= most_rounds ? fopen(arguments[2], "r") : NULL;
    if (file == NULL) {
        fprintf(stderr, "start-cost ROUNDS FILE\n");
        return 2;
    }
    char *line = NULL;
    size_t size = 0;
    int known = 0;
    while (known < most_commands && getline(&line, &size, file) > 0) {
        struct command *command = &commands[known];
        char *rest = strdup(line);
        command->name = strsep(&rest, "\t\n");
        int words = 0;
        for (char *word; words < most_words && (word = strsep(&rest, " \n")) != NULL;) {
            if (*word != '\0') command->words[words++] = word;
        }
        if (words > 0) known++;
    }
    // The first round, which fills the caches, does not count.
    for (int round = -1; round < rounds; round++) {
        for (int index = 0; index < known; index++) {
            struct command *command = &commands[index];
            long wall, processor, memory;
            int status = run(command, &wall, &processor, &memory);
            if (status != 0) {
                fprintf(stderr, "start-cost: %s has ended with %d\n", command->name, status);
                return 1;
            }
            if (round < 0) continue;
            command->wall[round] = wall;
            command->processor[round] = processor;
            command->memory[round] = memory;
        }
    }
    for (int index = 0; index < known; index++) {
        struct command *command = &commands[index];
        qsort(command->wall, rounds, sizeof(long), ascending);
        qsort(command->processor, rounds, sizeof(long), ascending);
        qsort(command->memory, rounds, sizeof(long), ascending);
        printf("%s\t%ld\t%ld\t%ld\t%ld\t%ld\n", command->name, command->wall[rounds / 2], command->wall[rounds / 4],
               command->wall[rounds * 3 / 4], command->processor[rounds / 2], command->memory[rounds / 2]);
    }
    return 0;
}
