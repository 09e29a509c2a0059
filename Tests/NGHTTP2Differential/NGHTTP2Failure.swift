// SPDX-License-Identifier: MIT

import CNGHTTP2Peer

/// An error of nghttp2, by its code.
struct NGHTTP2Failure: Error, Hashable {
    let code: Int

    init(_ code: some BinaryInteger) { self.code = Int(code) }

    /// Throws unless `code` means success.
    static func check(_ code: Int32) throws(NGHTTP2Failure) {
        if code != 0 { throw NGHTTP2Failure(code) }
    }
}

/// The encoder of nghttp2 for header blocks.
@safe final class NGHTTP2Deflater {
    private let deflater: OpaquePointer?

    /// Creates an encoder that uses at most so many octets of a table.
    init(largest: Int) { unsafe deflater = nghttp2_peer_deflater_create(largest) }

    deinit { unsafe nghttp2_peer_deflater_destroy(deflater) }

    var tableSize: Int { unsafe nghttp2_peer_deflater_table_size(deflater) }

    func setTableSize(_ size: Int) throws(NGHTTP2Failure) {
        try NGHTTP2Failure.check(unsafe nghttp2_peer_deflater_resize(deflater, size))
    }

    func encode(_ fields: [PackedFields.Field]) throws(NGHTTP2Failure) -> [UInt8] {
        let packed = PackedFields.packed(fields)
        try NGHTTP2Failure.check(unsafe nghttp2_peer_deflate(deflater, packed, packed.count))
        return unsafe nghttp2_peer_deflater_block(deflater).copied
    }
}

/// The decoder of nghttp2 for header blocks.
@safe final class NGHTTP2Inflater {
    private let inflater: OpaquePointer?

    init() { unsafe inflater = nghttp2_peer_inflater_create() }

    deinit { unsafe nghttp2_peer_inflater_destroy(inflater) }

    var tableSize: Int { unsafe nghttp2_peer_inflater_table_size(inflater) }

    func setTableSize(_ size: Int) throws(NGHTTP2Failure) {
        try NGHTTP2Failure.check(unsafe nghttp2_peer_inflater_resize(inflater, size))
    }

    func decode(_ block: [UInt8]) throws(NGHTTP2Failure) -> [PackedFields.Field] {
        try NGHTTP2Failure.check(unsafe nghttp2_peer_inflate(inflater, block, block.count))
        return PackedFields.fields(unsafe nghttp2_peer_inflater_fields(inflater).copied)
    }
}

extension nghttp2_peer_octets {
    /// A copy of the octets, which the next call overwrites.
    var copied: [UInt8] { unsafe Array(UnsafeBufferPointer(start: start, count: count)) }
}
