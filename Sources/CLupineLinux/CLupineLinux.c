// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "CLupineLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int lupine_accept4(int listener, struct sockaddr *address, socklen_t *length, int flags) {
    return accept4(listener, address, length, flags);
}

int lupine_pipe2(int ends[2], int flags) { return pipe2(ends, flags); }

long lupine_splice(int from, int to, size_t count, unsigned int flags) {
    return splice(from, NULL, to, NULL, count, flags);
}

int lupine_set_pipe_size(int pipe, int bytes) { return fcntl(pipe, F_SETPIPE_SZ, bytes); }

int lupine_share_for_writing(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    struct stat status;
    // The descriptor is the program's, so an unsuitable one is an error and not a bug of Lupine. Writing to a pipe or a terminal
    // could block the writing thread.
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || (flags & O_APPEND) || fstat(descriptor, &status) != 0 ||
        S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || isatty(descriptor)) {
        errno = EINVAL;
        return -1;
    }
    return fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}

long long lupine_octets_acknowledged(int socket) {
    struct tcp_info info;
    socklen_t length = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return -1;
    if (length < offsetof(struct tcp_info, tcpi_bytes_acked) + sizeof info.tcpi_bytes_acked) return -1;
    return (long long)info.tcpi_bytes_acked;
}

int lupine_duplicate(int descriptor) {
    return fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}

int lupine_open(const char *path, int flags, unsigned int mode) {
    return open(path, flags, (mode_t)mode);
}

int lupine_name_thread(const char *name) { return pthread_setname_np(pthread_self(), name); }

static _Thread_local void *own_loop;

void lupine_mark_loop_thread(void *loop) { own_loop = loop; }

void *lupine_loop_of_thread(void) { return own_loop; }

static _Thread_local int held_locks;

void lupine_note_lock(int change) { held_locks += change; }

int lupine_held_locks(void) { return held_locks; }

int lupine_usable_cores(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

int lupine_enter_network_namespace(int descriptor) { return setns(descriptor, CLONE_NEWNET); }

const char *lupine_errno_name(int number) { return strerrorname_np(number); }
const char *lupine_errno_text(int number) { return strerrordesc_np(number); }

const unsigned int lupine_splice_move = SPLICE_F_MOVE;
const unsigned int lupine_splice_nonblock = SPLICE_F_NONBLOCK;
const unsigned int lupine_epoll_edge = (unsigned int)EPOLLET;
const int lupine_eai_nodata = EAI_NODATA;
const int lupine_eai_addrfamily = EAI_ADDRFAMILY;
const int lupine_ip_bind_address_no_port = IP_BIND_ADDRESS_NO_PORT;
