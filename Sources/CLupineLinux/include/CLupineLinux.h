// SPDX-License-Identifier: MIT
//
// What the Glibc module leaves out of Linux, and nothing else: the epoll, eventfd and
// rtnetlink headers, and one-line shims where Swift cannot call a C form (variadics, macros).
#ifndef C_LUPINE_LINUX_H
#define C_LUPINE_LINUX_H

#ifndef __linux__
#error "Lupine is a Linux library"
#endif

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/un.h>

#endif
