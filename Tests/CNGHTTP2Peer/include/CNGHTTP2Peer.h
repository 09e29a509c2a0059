// SPDX-License-Identifier: MIT
//
// nghttp2 for the tests of LupineHTTP2: a session and the two halves of HPACK, driven by plain calls instead of callbacks.
// What happens in a session is put down as records, what it sends and what is decoded as octets; they are fetched afterwards.
//
// Fields are packed: for each the length of the name and that of the value (four octets each, the high one first), an octet that
// is 1 where the field is never to be indexed, the name, the value.
#ifndef C_NGHTTP2_PEER_H
#define C_NGHTTP2_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The version of the library that is linked.
const char *nghttp2_peer_version(void);

/// Octets that belong to whoever returned them, until its next call.
typedef struct {
    const uint8_t *start;
    size_t count;
} nghttp2_peer_octets;

// MARK: HPACK

typedef struct nghttp2_peer_deflater nghttp2_peer_deflater;
typedef struct nghttp2_peer_inflater nghttp2_peer_inflater;

/// An encoder that uses at most so much of a table.
nghttp2_peer_deflater *nghttp2_peer_deflater_create(size_t largest);
void nghttp2_peer_deflater_destroy(nghttp2_peer_deflater *deflater);
/// 0, or nghttp2's error.
int nghttp2_peer_deflater_resize(nghttp2_peer_deflater *deflater, size_t size);
/// Encodes packed fields as a block. 0, or nghttp2's error.
int nghttp2_peer_deflate(nghttp2_peer_deflater *deflater, const uint8_t *fields, size_t count);
nghttp2_peer_octets nghttp2_peer_deflater_block(const nghttp2_peer_deflater *deflater);
size_t nghttp2_peer_deflater_table_size(nghttp2_peer_deflater *deflater);

nghttp2_peer_inflater *nghttp2_peer_inflater_create(void);
void nghttp2_peer_inflater_destroy(nghttp2_peer_inflater *inflater);
int nghttp2_peer_inflater_resize(nghttp2_peer_inflater *inflater, size_t size);
/// Decodes a whole block. 0, or nghttp2's error; the fields in front of the error are there.
int nghttp2_peer_inflate(nghttp2_peer_inflater *inflater, const uint8_t *block, size_t count);
nghttp2_peer_octets nghttp2_peer_inflater_fields(const nghttp2_peer_inflater *inflater);
size_t nghttp2_peer_inflater_table_size(nghttp2_peer_inflater *inflater);

// MARK: sessions

typedef struct nghttp2_peer nghttp2_peer;

/// Kinds of records. Each has a kind (one octet), a stream, a number, and the length of what follows (four octets each).
enum {
    /// A frame was received; the number is its type and, shifted by 8, its flags.
    NGHTTP2_PEER_FRAME = 1,
    /// A field of the header block at hand; what follows is the field, packed.
    NGHTTP2_PEER_FIELD = 2,
    /// Content.
    NGHTTP2_PEER_CONTENT = 3,
    /// A stream is over; the number is the error code.
    NGHTTP2_PEER_CLOSED = 4,
    /// A frame was refused; the number is nghttp2's error, without its sign.
    NGHTTP2_PEER_INVALID = 5,
    /// A header block begins; the number is its category.
    NGHTTP2_PEER_HEADERS = 6,
};

/// A session whose application says itself what it has consumed.
nghttp2_peer *nghttp2_peer_create(bool is_server);
void nghttp2_peer_destroy(nghttp2_peer *peer);

/// Pairs of an identifier and a value.
int nghttp2_peer_settings(nghttp2_peer *peer, const uint32_t *pairs, size_t count);
/// The stream, or nghttp2's error.
int32_t nghttp2_peer_request(nghttp2_peer *peer, const uint8_t *fields, size_t count, bool ends);
int nghttp2_peer_respond(nghttp2_peer *peer, int32_t stream, const uint8_t *fields, size_t count, bool ends);
/// An interim head.
int nghttp2_peer_interim(nghttp2_peer *peer, int32_t stream, const uint8_t *fields, size_t count);
/// More content of a message, and whether it is over. Trailers may follow what is over.
int nghttp2_peer_content(nghttp2_peer *peer, int32_t stream, const uint8_t *octets, size_t count, bool ends);
/// Content is over, and these are the trailers.
int nghttp2_peer_trailers(nghttp2_peer *peer, int32_t stream, const uint8_t *fields, size_t count);
int nghttp2_peer_reset(nghttp2_peer *peer, int32_t stream, uint32_t code);
int nghttp2_peer_ping(nghttp2_peer *peer);
int nghttp2_peer_window(nghttp2_peer *peer, int32_t stream, int32_t size);
/// The two steps of a farewell.
int nghttp2_peer_announce_leave(nghttp2_peer *peer);
int nghttp2_peer_leave(nghttp2_peer *peer);
/// Content has been consumed, of a stream that may be over.
int nghttp2_peer_consume(nghttp2_peer *peer, int32_t stream, size_t count);

/// Takes octets. How many were taken, or nghttp2's error.
ptrdiff_t nghttp2_peer_receive(nghttp2_peer *peer, const uint8_t *octets, size_t count);
/// What is to be sent now, or nghttp2's error as the count with no start.
nghttp2_peer_octets nghttp2_peer_send(nghttp2_peer *peer);
/// The records since the last call.
nghttp2_peer_octets nghttp2_peer_records(nghttp2_peer *peer);

/// Whether the session has nothing to do any more.
bool nghttp2_peer_is_over(nghttp2_peer *peer);
/// How many octets of DATA it may send on the connection.
int32_t nghttp2_peer_send_room(nghttp2_peer *peer);
/// How many octets it has received of which it has not given back the credit, and how large its window is.
int32_t nghttp2_peer_taken(nghttp2_peer *peer);
int32_t nghttp2_peer_window_size(nghttp2_peer *peer);
/// What its two tables count for.
size_t nghttp2_peer_encoder_table(nghttp2_peer *peer);
size_t nghttp2_peer_decoder_table(nghttp2_peer *peer);

#endif
