// SPDX-License-Identifier: MIT
// What the library is measured against: llhttp where it is installed, nghttp2, and plain C loops. Each function runs its job
// `times` times and returns a checksum, which callers compare once before measuring, so that no peer wins by failing.
#ifndef LUPINE_BENCHMARK_PEERS_H
#define LUPINE_BENCHMARK_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// llhttp's version as "8.1.0", or NULL where its source is not installed.
const char *peer_llhttp_version(void);

enum peer_llhttp_way {
    /// One parser for all heads; names and values are noted as spans of the input.
    PEER_LLHTTP_REUSED,
    /// llhttp_init before every head; spans.
    PEER_LLHTTP_FRESH,
    /// One parser; names and values are copied into a block of the heap per head, to outlive the input.
    PEER_LLHTTP_OWNED,
};

/// Parses a response head: returns status + 1000 * number of fields, summed over all runs.
uint64_t peer_llhttp_heads(const uint8_t *bytes, size_t count, enum peer_llhttp_way way, uint64_t times);
/// Parses a whole response with a body: returns the body bytes seen.
uint64_t peer_llhttp_response(const uint8_t *bytes, size_t count, uint64_t times);

/// Names and values as llhttp's user would hold them: `name` and `value` of `count` fields.
struct peer_span {
    const uint8_t *start;
    size_t count;
};
struct peer_field {
    struct peer_span name;
    struct peer_span value;
};
/// Walks the list with strncasecmp for each wanted name: returns the sum of the lengths of the values found.
uint64_t peer_find_fields(
    const struct peer_field *fields, size_t count, const struct peer_span *wanted, size_t wanted_count,
    uint64_t times);

/// Writes a GET request from a method, a target, a host and fields: returns the bytes written.
uint64_t peer_format_request(
    const char *method, const char *target, const char *host, const struct peer_field *fields, size_t count,
    uint8_t *into, size_t capacity, uint64_t times);
/// The same with memcpy of known lengths.
uint64_t peer_copy_request(
    struct peer_span method, struct peer_span target, struct peer_span host, const struct peer_field *fields,
    size_t count, uint8_t *into, size_t capacity, uint64_t times);

/// nghttp2's version as "1.52.0".
const char *peer_nghttp2_version(void);
/// The header block of a list, as the first one of a connection or as the second one. Bit n of `not_indexed`: field n enters no
/// table. Returns the bytes written, or 0 when that failed.
size_t peer_nghttp2_block(
    const struct peer_field *fields, size_t count, uint64_t not_indexed, bool is_warm, uint8_t *into,
    size_t capacity);
/// Encodes the list again and again behind a first time: returns the bytes written.
uint64_t peer_nghttp2_encode(
    const struct peer_field *fields, size_t count, uint64_t not_indexed, uint8_t *into, size_t capacity,
    uint64_t times);
/// Decodes a block again and again behind the first one of its connection: returns the bytes of names and values, and 100,000
/// more for each field. They are copied to `into`, unless that is NULL.
uint64_t peer_nghttp2_decode(
    const uint8_t *first, size_t first_count, const uint8_t *block, size_t count, uint8_t *into,
    size_t capacity, uint64_t times);

/// Compresses for fixtures: returns the bytes written, or 0 when `capacity` is too small.
size_t peer_gzip(const uint8_t *bytes, size_t count, uint8_t *into, size_t capacity);
size_t peer_brotli(const uint8_t *bytes, size_t count, uint8_t *into, size_t capacity);

/// Decodes into pieces of at most `capacity` bytes at `piece`: returns the bytes written, or 0 on any error.
/// `reuse`: one decoder for all runs, reset in between (brotli has no reset, and ignores it).
uint64_t peer_inflate(
    const uint8_t *bytes, size_t count, uint8_t *piece, size_t capacity, bool reuse, uint64_t times);
uint64_t peer_brotli_decode(
    const uint8_t *bytes, size_t count, uint8_t *piece, size_t capacity, uint64_t times);

#endif
