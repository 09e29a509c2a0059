// SPDX-License-Identifier: MIT
// Looks up fields and writes requests as a C program does.
#include "CBenchmarkPeers.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

uint64_t peer_find_fields(
    const struct peer_field *fields, size_t count, const struct peer_span *wanted, size_t wanted_count,
    uint64_t times) {
    uint64_t sum = 0;
    for (uint64_t run = 0; run < times; run++) {
        for (size_t name = 0; name < wanted_count; name++) {
            for (size_t index = 0; index < count; index++) {
                if (fields[index].name.count == wanted[name].count
                    && strncasecmp(
                           (const char *)fields[index].name.start, (const char *)wanted[name].start,
                           wanted[name].count)
                        == 0) {
                    sum += fields[index].value.count;
                    break;
                }
            }
        }
        __asm__ volatile("" : "+r"(fields) : : "memory");
    }
    return sum;
}

uint64_t peer_format_request(
    const char *method, const char *target, const char *host, const struct peer_field *fields, size_t count,
    uint8_t *into, size_t capacity, uint64_t times) {
    uint64_t sum = 0;
    for (uint64_t run = 0; run < times; run++) {
        char *next = (char *)into;
        char *end = next + capacity;
        next += snprintf(next, (size_t)(end - next), "%s %s HTTP/1.1\r\nHost: %s\r\n", method, target, host);
        for (size_t index = 0; index < count && next < end; index++) {
            next += snprintf(
                next, (size_t)(end - next), "%.*s: %.*s\r\n", (int)fields[index].name.count,
                (const char *)fields[index].name.start, (int)fields[index].value.count,
                (const char *)fields[index].value.start);
        }
        if (end - next < 3) return 0;
        next += snprintf(next, (size_t)(end - next), "\r\n");
        sum += (uint64_t)(next - (char *)into);
        __asm__ volatile("" : : "r"(into) : "memory");
    }
    return sum;
}

static inline uint8_t *put(uint8_t *next, struct peer_span span) {
    memcpy(next, span.start, span.count);
    return next + span.count;
}

uint64_t peer_copy_request(
    struct peer_span method, struct peer_span target, struct peer_span host, const struct peer_field *fields,
    size_t count, uint8_t *into, size_t capacity, uint64_t times) {
    uint64_t sum = 0;
    for (uint64_t run = 0; run < times; run++) {
        size_t needed = method.count + target.count + host.count + 22;
        for (size_t index = 0; index < count; index++)
            needed += fields[index].name.count + fields[index].value.count + 4;
        if (needed > capacity) return 0;
        uint8_t *next = put(into, method);
        *next++ = ' ';
        next = put(next, target);
        memcpy(next, " HTTP/1.1\r\nHost: ", 17);
        next = put(next + 17, host);
        memcpy(next, "\r\n", 2);
        next += 2;
        for (size_t index = 0; index < count; index++) {
            next = put(next, fields[index].name);
            memcpy(next, ": ", 2);
            next = put(next + 2, fields[index].value);
            memcpy(next, "\r\n", 2);
            next += 2;
        }
        memcpy(next, "\r\n", 2);
        sum += (uint64_t)(next + 2 - into);
        __asm__ volatile("" : : "r"(into) : "memory");
    }
    return sum;
}
