// SPDX-License-Identifier: MIT
//
// What the Glibc module leaves out of Linux, and nothing else: the epoll, eventfd and
// rtnetlink headers, and one-line shims where Swift cannot call a C form (variadics, macros,
// declarations behind _GNU_SOURCE, which the Glibc module is built without).
#ifndef C_LUPINE_LINUX_H
#define C_LUPINE_LINUX_H

#ifndef __linux__
#error "Lupine is a Linux library"
#endif

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/un.h>

int lupine_accept4(int listener, struct sockaddr *address, socklen_t *length, int flags);
int lupine_pipe2(int ends[2], int flags);
long lupine_splice(int from, int to, size_t count, unsigned int flags);
int lupine_set_pipe_size(int pipe, int bytes);
int lupine_open(const char *path, int flags, unsigned int mode);
int lupine_duplicate(int descriptor);
// The same for a descriptor that is somebody else's: EINVAL where it is not open for writing at a position.
int lupine_share_for_writing(int descriptor);
// How many octets the peer of a TCP socket has acknowledged; -1 where the kernel does not say.
long long lupine_octets_acknowledged(int socket);

// Threads.
int lupine_name_thread(const char *name);
int lupine_usable_cores(void);
// A mark that each thread has for itself: the event loop that it runs, where it may wait for nothing; null for none.
void lupine_mark_loop_thread(void *loop);
void *lupine_loop_of_thread(void);
// How many locks the thread holds, for builds that look (LUPINE_HELD_LOCKS).
void lupine_note_lock(int change);
int lupine_held_locks(void);
int lupine_enter_network_namespace(int descriptor);

// Static strings, or null for a number the C library does not know.
const char *lupine_errno_name(int number);
const char *lupine_errno_text(int number);

// Values of macros that Swift does not import.
extern const unsigned int lupine_splice_move;
extern const unsigned int lupine_splice_nonblock;
extern const unsigned int lupine_epoll_edge;
extern const int lupine_eai_nodata;
extern const int lupine_eai_addrfamily;
extern const int lupine_ip_bind_address_no_port;

#endif
