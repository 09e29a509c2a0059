// SPDX-License-Identifier: MIT
// The peers with which the library is compared: llhttp where it is installed, nghttp2, and plain C loops. Each function runs its
// job `times` times and returns a checksum. Callers check it once before measuring, so that no peer wins by failing.
#ifndef LUPINE_BENCHMARK_PEERS_H
#define LUPINE_BENCHMARK_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// llhttp's version as "8.1.0", or NULL where its source is not installed.
const char *peer_llhttp_version(void);

enum peer_llhttp_way {
    /// One parser for all heads; names and values are recorded as spans of the input.
    PEER_LLHTTP_REUSED,
    /// llhttp_init before every head; names and values are recorded as spans of the input.
    PEER_LLHTTP_FRESH,
    /// One parser; names and values are copied into a block of the heap per head, to outlive the input.
    PEER_LLHTTP_OWNED,
};

/// Parses a response head: returns status + 1000 * number of fields, summed over all runs.
uint64_t peer_llhttp_heads(const uint8_t *bytes, size_t count, enum peer_llhttp_way way, uint64_t times);
/// Parses a whole response with a body: returns the body bytes seen.
uint64_t peer_llhttp_response(const uint8_t *bytes, size_t count, uint64_t times);

/// A name or a value, as a user of llhttp stores it.
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
/// Writes the same request with memcpy of known lengths: returns the bytes written.
uint64_t peer_copy_request(
    struct peer_span method, struct peer_span target, struct peer_span host, const struct peer_field *fields,
    size_t count, uint8_t *into, size_t capacity, uint64_t times);

/// nghttp2's version as "1.52.0".
const char *peer_nghttp2_version(void);
/// Writes the header block of a list: the first one of a connection, or the second one if `is_warm`. If bit n of `not_indexed` is
/// set, field n is not added to the table. Returns the bytes written, or 0 on any error.
size_t peer_nghttp2_block(
    const struct peer_field *fields, size_t count, uint64_t not_indexed, bool is_warm, uint8_t *into,
    size_t capacity);
/// Encodes the list once, and then `times` times: returns the bytes written by the latter.
uint64_t peer_nghttp2_encode(
    const struct peer_field *fields, size_t count, uint64_t not_indexed, uint8_t *into, size_t capacity,
    uint64_t times);
/// Decodes `first`, the first block of a connection, and then `block` `times` times: returns the bytes of the latter's names and
/// values, and 100,000 more for each field. Names and values are copied to `into`, unless it is NULL.
uint64_t peer_nghttp2_decode(
    const uint8_t *first, size_t first_count, const uint8_t *block, size_t count, uint8_t *into,
    size_t capacity, uint64_t times);

/// Compress a document, to create input for decoders: return the bytes written, or 0 if `capacity` is too small.
size_t peer_gzip(const uint8_t *bytes, size_t count, uint8_t *into, size_t capacity);
size_t peer_brotli(const uint8_t *bytes, size_t count, uint8_t *into, size_t capacity);

/// Decode into pieces of at most `capacity` bytes at `piece`: return the bytes written, or 0 on any error. With `reuse`, one
/// decoder is used for all runs, and reset between them; brotli has no reset.
uint64_t peer_inflate(
    const uint8_t *bytes, size_t count, uint8_t *piece, size_t capacity, bool reuse, uint64_t times);
uint64_t peer_brotli_decode(
    const uint8_t *bytes, size_t count, uint8_t *piece, size_t capacity, uint64_t times);

#endif
