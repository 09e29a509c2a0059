// SPDX-License-Identifier: MIT
// nghttp2's HPACK as its sessions use it: one encoder, one decoder, and the same list of fields each time.
#include "CBenchmarkPeers.h"

#if __has_include(<nghttp2/nghttp2.h>)
#include <nghttp2/nghttp2.h>
#include <string.h>

#define MAXIMUM_FIELDS 64

const char *peer_nghttp2_version(void) { return nghttp2_version(0)->version_str; }

static size_t make_list(
    const struct peer_field *fields, size_t count, uint64_t not_indexed, nghttp2_nv list[MAXIMUM_FIELDS]) {
    if (count > MAXIMUM_FIELDS) return 0;
    for (size_t index = 0; index < count; index++) {
        list[index].name = (uint8_t *)fields[index].name.start;
        list[index].namelen = fields[index].name.count;
        list[index].value = (uint8_t *)fields[index].value.start;
        list[index].valuelen = fields[index].value.count;
        list[index].flags = not_indexed >> index & 1 ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE;
    }
    return count;
}

size_t peer_nghttp2_block(
    const struct peer_field *fields, size_t count, uint64_t not_indexed, bool is_warm, uint8_t *into,
    size_t capacity) {
    nghttp2_nv list[MAXIMUM_FIELDS];
    nghttp2_hd_deflater *deflater;
    count = make_list(fields, count, not_indexed, list);
    if (nghttp2_hd_deflate_new(&deflater, 4096) != 0) return 0;
    ssize_t written = nghttp2_hd_deflate_hd(deflater, into, capacity, list, count);
    if (is_warm) written = nghttp2_hd_deflate_hd(deflater, into, capacity, list, count);
    nghttp2_hd_deflate_del(deflater);
    return written < 0 ? 0 : (size_t)written;
}

uint64_t peer_nghttp2_encode(
    const struct peer_field *fields, size_t count, uint64_t not_indexed, uint8_t *into, size_t capacity,
    uint64_t times) {
    nghttp2_nv list[MAXIMUM_FIELDS];
    nghttp2_hd_deflater *deflater;
    uint64_t sum = 0;
    count = make_list(fields, count, not_indexed, list);
    if (nghttp2_hd_deflate_new(&deflater, 4096) != 0) return 0;
    // The first block fills the table.
    nghttp2_hd_deflate_hd(deflater, into, capacity, list, count);
    for (uint64_t run = 0; run < times; run++) {
        ssize_t written = nghttp2_hd_deflate_hd(deflater, into, capacity, list, count);
        if (written < 0) break;
        sum += (uint64_t)written;
    }
    nghttp2_hd_deflate_del(deflater);
    return sum;
}

// Decodes a block. Copies the fields to `into`, one after another, as far as there is space.
static uint64_t inflate(
    nghttp2_hd_inflater *inflater, const uint8_t *block, size_t count, uint8_t *into, size_t capacity) {
    uint64_t sum = 0;
    size_t place = 0;
    for (;;) {
        nghttp2_nv field;
        int flags = 0;
        ssize_t taken = nghttp2_hd_inflate_hd2(inflater, &field, &flags, block, count, 1);
        if (taken < 0) return 0;
        block += taken;
        count -= (size_t)taken;
        if (flags & NGHTTP2_HD_INFLATE_EMIT) {
            size_t length = field.namelen + field.valuelen;
            sum += length + 100000;
            if (into != NULL && capacity - place >= length) {
                memcpy(into + place, field.name, field.namelen);
                memcpy(into + place + field.namelen, field.value, field.valuelen);
                place += length;
            }
        }
        if (flags & NGHTTP2_HD_INFLATE_FINAL) break;
    }
    nghttp2_hd_inflate_end_headers(inflater);
    return sum;
}

uint64_t peer_nghttp2_decode(
    const uint8_t *first, size_t first_count, const uint8_t *block, size_t count, uint8_t *into,
    size_t capacity, uint64_t times) {
    nghttp2_hd_inflater *inflater;
    uint64_t sum = 0;
    if (nghttp2_hd_inflate_new(&inflater) != 0) return 0;
    inflate(inflater, first, first_count, NULL, 0);
    for (uint64_t run = 0; run < times; run++) sum += inflate(inflater, block, count, into, capacity);
    nghttp2_hd_inflate_del(inflater);
    return sum;
}

#endif
