// SPDX-License-Identifier: MIT
// Without nghttp2 there is nothing here: a build without tests does not need it.
#if __has_include(<nghttp2/nghttp2.h>)

#include <stdlib.h>

#include "CNGHTTP2Peer.h"
#include "Octets.h"

const char *nghttp2_peer_version(void) { return nghttp2_version(0)->version_str; }

struct nghttp2_peer_deflater {
    nghttp2_hd_deflater *deflater;
    octets_buffer block;
};

struct nghttp2_peer_inflater {
    nghttp2_hd_inflater *inflater;
    octets_buffer fields;
};

static nghttp2_peer_octets lent(const octets_buffer *buffer) {
    return (nghttp2_peer_octets){buffer->start, buffer->count};
}

nghttp2_peer_deflater *nghttp2_peer_deflater_create(size_t largest) {
    nghttp2_peer_deflater *made = calloc(1, sizeof *made);
    if (made == NULL || nghttp2_hd_deflate_new(&made->deflater, largest) != 0) abort();
    return made;
}

void nghttp2_peer_deflater_destroy(nghttp2_peer_deflater *deflater) {
    nghttp2_hd_deflate_del(deflater->deflater);
    free(deflater->block.start);
    free(deflater);
}

int nghttp2_peer_deflater_resize(nghttp2_peer_deflater *deflater, size_t size) {
    return nghttp2_hd_deflate_change_table_size(deflater->deflater, size);
}

int nghttp2_peer_deflate(nghttp2_peer_deflater *deflater, const uint8_t *fields, size_t count) {
    size_t field_count;
    nghttp2_nv *all = octets_fields(fields, count, &field_count);
    size_t bound = nghttp2_hd_deflate_bound(deflater->deflater, all, field_count);
    uint8_t *room = malloc(bound + 1);
    if (room == NULL) abort();
    ssize_t written = nghttp2_hd_deflate_hd(deflater->deflater, room, bound, all, field_count);
    deflater->block.count = 0;
    if (written > 0) octets_append(&deflater->block, room, (size_t)written);
    free(room);
    free(all);
    return written < 0 ? (int)written : 0;
}

nghttp2_peer_octets nghttp2_peer_deflater_block(const nghttp2_peer_deflater *deflater) {
    return lent(&deflater->block);
}

size_t nghttp2_peer_deflater_table_size(nghttp2_peer_deflater *deflater) {
    return nghttp2_hd_deflate_get_dynamic_table_size(deflater->deflater);
}

nghttp2_peer_inflater *nghttp2_peer_inflater_create(void) {
    nghttp2_peer_inflater *made = calloc(1, sizeof *made);
    if (made == NULL || nghttp2_hd_inflate_new(&made->inflater) != 0) abort();
    return made;
}

void nghttp2_peer_inflater_destroy(nghttp2_peer_inflater *inflater) {
    nghttp2_hd_inflate_del(inflater->inflater);
    free(inflater->fields.start);
    free(inflater);
}

int nghttp2_peer_inflater_resize(nghttp2_peer_inflater *inflater, size_t size) {
    return nghttp2_hd_inflate_change_table_size(inflater->inflater, size);
}

int nghttp2_peer_inflate(nghttp2_peer_inflater *inflater, const uint8_t *block, size_t count) {
    inflater->fields.count = 0;
    for (;;) {
        nghttp2_nv field;
        int flags = 0;
        ssize_t taken = nghttp2_hd_inflate_hd2(inflater->inflater, &field, &flags, block, count, 1);
        if (taken < 0) return (int)taken;
        block += taken;
        count -= (size_t)taken;
        if (flags & NGHTTP2_HD_INFLATE_EMIT) {
            octets_append_field(
                &inflater->fields, field.name, field.namelen, field.value, field.valuelen, field.flags);
        }
        if (flags & NGHTTP2_HD_INFLATE_FINAL) break;
        // Without progress the next call would be the same.
        if (taken == 0 && !(flags & NGHTTP2_HD_INFLATE_EMIT)) return NGHTTP2_ERR_HEADER_COMP;
    }
    return nghttp2_hd_inflate_end_headers(inflater->inflater);
}

nghttp2_peer_octets nghttp2_peer_inflater_fields(const nghttp2_peer_inflater *inflater) {
    return lent(&inflater->fields);
}

size_t nghttp2_peer_inflater_table_size(nghttp2_peer_inflater *inflater) {
    return nghttp2_hd_inflate_get_dynamic_table_size(inflater->inflater);
}

#endif
