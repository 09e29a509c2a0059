// SPDX-License-Identifier: MIT
//
// The parts of Linux that Swift's Glibc module does not offer: the epoll, eventfd and rtnetlink
// headers, and short functions for what Swift cannot call (variadic functions, macros, and
// declarations that need _GNU_SOURCE, which the Glibc module does not define).
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
// Duplicates a descriptor of Lupine, with close-on-exec.
int lupine_duplicate(int descriptor);
// Duplicates a descriptor of the program, with close-on-exec. Fails with EINVAL unless it is open for writing at any
// position: not read-only, not in append mode, and no pipe, socket or terminal.
int lupine_share_for_writing(int descriptor);
// The number of octets that the peer of a TCP socket has acknowledged; -1 if the kernel does not report it.
long long lupine_octets_acknowledged(int socket);

// Threads.
int lupine_name_thread(const char *name);
int lupine_usable_cores(void);
// Sets and returns the event loop that the calling thread runs; null for a thread without one. A loop's thread must not block.
void lupine_mark_loop_thread(void *loop);
void *lupine_loop_of_thread(void);
// Counts the locks that the calling thread holds, by adding 1 or -1; used only in builds with LUPINE_HELD_LOCKS.
void lupine_note_lock(int change);
int lupine_held_locks(void);
// Moves the calling thread to the network namespace of the descriptor.
int lupine_enter_network_namespace(int descriptor);

// Static strings; null for a number that the C library does not know.
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
