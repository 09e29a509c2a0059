// SPDX-License-Identifier: MIT
// Calls zlib and brotli in the loops that their manuals show. The encoders only create the input of the decoders.
#include "CBenchmarkPeers.h"

#include <brotli/decode.h>
#include <brotli/encode.h>
#include <string.h>
#include <zlib.h>

size_t peer_gzip(const uint8_t *bytes, size_t count, uint8_t *into, size_t capacity) {
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
    stream.next_in = (Bytef *)bytes;
    stream.avail_in = (uInt)count;
    stream.next_out = into;
    stream.avail_out = (uInt)capacity;
    int result = deflate(&stream, Z_FINISH);
    size_t written = capacity - stream.avail_out;
    deflateEnd(&stream);
    return result == Z_STREAM_END ? written : 0;
}

size_t peer_brotli(const uint8_t *bytes, size_t count, uint8_t *into, size_t capacity) {
    size_t written = capacity;
    if (!BrotliEncoderCompress(5, 22, BROTLI_MODE_TEXT, count, bytes, &written, into)) return 0;
    return written;
}

uint64_t peer_inflate(
    const uint8_t *bytes, size_t count, uint8_t *piece, size_t capacity, bool reuse, uint64_t times) {
    uint64_t sum = 0;
    z_stream stream;
    bool open = false;
    for (uint64_t run = 0; run < times; run++) {
        if (open && !reuse) {
            inflateEnd(&stream);
            open = false;
        }
        if (open) {
            if (inflateReset(&stream) != Z_OK) return 0;
        } else {
            memset(&stream, 0, sizeof stream);
            if (inflateInit2(&stream, 15 + 16) != Z_OK) return 0;
            open = true;
        }
        stream.next_in = (Bytef *)bytes;
        stream.avail_in = (uInt)count;
        int result;
        do {
            stream.next_out = piece;
            stream.avail_out = (uInt)capacity;
            result = inflate(&stream, Z_NO_FLUSH);
            if (result != Z_OK && result != Z_STREAM_END) {
                inflateEnd(&stream);
                return 0;
            }
            sum += capacity - stream.avail_out;
        } while (result != Z_STREAM_END);
    }
    if (open) inflateEnd(&stream);
    return sum;
}

uint64_t peer_brotli_decode(
    const uint8_t *bytes, size_t count, uint8_t *piece, size_t capacity, uint64_t times) {
    uint64_t sum = 0;
    for (uint64_t run = 0; run < times; run++) {
        BrotliDecoderState *state = BrotliDecoderCreateInstance(NULL, NULL, NULL);
        if (state == NULL) return 0;
        size_t left = count;
        const uint8_t *next = bytes;
        BrotliDecoderResult result;
        do {
            size_t room = capacity;
            uint8_t *out = piece;
            result = BrotliDecoderDecompressStream(state, &left, &next, &room, &out, NULL);
            sum += capacity - room;
        } while (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT);
        BrotliDecoderDestroyInstance(state);
        if (result != BROTLI_DECODER_RESULT_SUCCESS) return 0;
    }
    return sum;
}
