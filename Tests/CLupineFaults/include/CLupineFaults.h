// SPDX-License-Identifier: MIT
//
// What a machine does at bad moments, for the tests' probe only: a wall clock that is set, a resolver that hangs, a host
// program that forks. And Dispatch is spared the moment without a descriptor at which it would end the process. The functions
// of the C library are taken over by defining them in the executable, where the libraries that it is linked with find them
// first.
#ifndef C_LUPINE_FAULTS_H
#define C_LUPINE_FAULTS_H

// Sets the wall clock so many seconds ahead of the machine's, or behind it. The monotonic clock is left alone.
void lupine_set_clock(long seconds);

// Look-ups of names under `hang.test` return when this is called with 0, and then find loopback; so do names under
// `late.test`, after 700 milliseconds, and `quick.test`. Others are the system's.
void lupine_hold_lookups(int hold);

// How many look-ups are held now.
int lupine_held_lookups(void);

// Forks as a host program may that knows nothing of threads. The child ends with 7 at once, or becomes the program at
// `path` with one argument behind `-c`. Returns what `waitpid` says.
int lupine_fork(const char *path, const char *argument);

#endif
