// SPDX-License-Identifier: MIT
// Without nghttp2 there is nothing here: a build without tests does not need it.
#if __has_include(<nghttp2/nghttp2.h>)

#include "Octets.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void octets_append(octets_buffer *buffer, const void *octets, size_t count) {
    if (count == 0) return;
    if (buffer->capacity - buffer->count < count) {
        size_t capacity = (buffer->count + count) * 2;
        uint8_t *start = realloc(buffer->start, capacity);
        if (start == NULL) abort();
        buffer->start = start;
        buffer->capacity = capacity;
    }
    memcpy(buffer->start + buffer->count, octets, count);
    buffer->count += count;
}

void octets_append_number(octets_buffer *buffer, uint32_t number) {
    uint8_t octets[4] = {number >> 24, number >> 16 & 0xFF, number >> 8 & 0xFF, number & 0xFF};
    octets_append(buffer, octets, 4);
}

void octets_append_field(
    octets_buffer *buffer, const uint8_t *name, size_t name_count, const uint8_t *value, size_t value_count,
    uint8_t flags) {
    uint8_t never = (flags & NGHTTP2_NV_FLAG_NO_INDEX) != 0;
    octets_append_number(buffer, (uint32_t)name_count);
    octets_append_number(buffer, (uint32_t)value_count);
    octets_append(buffer, &never, 1);
    octets_append(buffer, name, name_count);
    octets_append(buffer, value, value_count);
}

static uint32_t number_at(const uint8_t *octets) {
    return (uint32_t)octets[0] << 24 | (uint32_t)octets[1] << 16 | (uint32_t)octets[2] << 8 | octets[3];
}

nghttp2_nv *octets_fields(const uint8_t *octets, size_t count, size_t *field_count) {
    size_t place = 0, fields = 0;
    // A field has nine octets at least.
    nghttp2_nv *all = calloc(count / 9 + 1, sizeof *all);
    if (all == NULL) abort();
    while (count - place >= 9) {
        size_t name = number_at(octets + place), value = number_at(octets + place + 4);
        bool never = octets[place + 8] != 0;
        place += 9;
        if (count - place < name || count - place - name < value) abort();
        all[fields].name = (uint8_t *)octets + place;
        all[fields].namelen = name;
        all[fields].value = (uint8_t *)octets + place + name;
        all[fields].valuelen = value;
        all[fields].flags = never ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE;
        place += name + value;
        fields++;
    }
    *field_count = fields;
    return all;
}

#endif
