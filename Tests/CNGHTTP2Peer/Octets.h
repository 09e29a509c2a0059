// SPDX-License-Identifier: MIT
//
// A buffer that grows, and packed fields.
#ifndef OCTETS_H
#define OCTETS_H

#include <nghttp2/nghttp2.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint8_t *start;
    size_t count;
    size_t capacity;
} octets_buffer;

void octets_append(octets_buffer *buffer, const void *octets, size_t count);
void octets_append_number(octets_buffer *buffer, uint32_t number);
void octets_append_field(
    octets_buffer *buffer, const uint8_t *name, size_t name_count, const uint8_t *value, size_t value_count,
    uint8_t flags);
/// The fields that are packed in octets, whose names and values are not copied; to be freed.
nghttp2_nv *octets_fields(const uint8_t *octets, size_t count, size_t *field_count);

#endif
