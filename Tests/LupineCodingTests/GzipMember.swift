// SPDX-License-Identifier: MIT
import LupineCoding

/// A gzip member (RFC 1952 §2.3) whose parts can each be set, also to a wrong value.
struct GzipMember {
    var method: UInt8 = 8
    var isText = false
    var extra: [UInt8]?
    var name: String?
    var comment: String?
    var hasHeaderCheck = false
    var reservedFlags: UInt8 = 0
    /// Raw deflate data; `body` is its decoded form.
    var data: [UInt8] = [0x03, 0x00]
    var body: [UInt8] = []
    /// The bits to flip in each checksum.
    var headerCheckError: UInt16 = 0
    var checksumError: UInt32 = 0
    var lengthError: UInt32 = 0

    var header: [UInt8] {
        var flags = reservedFlags
        if isText { flags |= 1 }
        if hasHeaderCheck { flags |= 2 }
        if extra != nil { flags |= 4 }
        if name != nil { flags |= 8 }
        if comment != nil { flags |= 16 }
        var header: [UInt8] = [0x1f, 0x8b, method, flags, 0x6e, 0x1c, 0x4d, 0x66, 2, 3]
        if let extra { header += littleEndian(UInt16(extra.count)) + extra }
        if let name { header += Array(name.utf8) + [0] }
        if let comment { header += Array(comment.utf8) + [0] }
        if hasHeaderCheck {
            header += littleEndian(UInt16(truncatingIfNeeded: crc32(header)) ^ headerCheckError)
        }
        return header
    }

    var bytes: [UInt8] {
        header + data + littleEndian(crc32(body) ^ checksumError)
            + littleEndian(UInt32(truncatingIfNeeded: body.count) ^ lengthError)
    }

    /// Returns a member whose data is made by the encoder.
    static func of(_ body: [UInt8], level: CompressionLevel = .standard) -> GzipMember {
        GzipMember(data: rawDeflate(body, level: level), body: body)
    }
}

/// Returns the raw deflate form: the zlib form without its header and checksum.
func rawDeflate(_ body: [UInt8], level: CompressionLevel = .standard) -> [UInt8] {
    Array(encode(body, as: .deflate, level: level).dropFirst(2).dropLast(4))
}

/// Returns a stored block (RFC 1951 §3.2.4), the last one of its stream.
func storedBlock(_ body: [UInt8]) -> [UInt8] {
    [0x01] + littleEndian(UInt16(body.count)) + littleEndian(~UInt16(body.count)) + body
}

func littleEndian<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
    (0..<Value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
}

/// Returns the CRC-32 (RFC 1952 §8), calculated bit by bit.
private func crc32(_ bytes: [UInt8]) -> UInt32 {
    var crc: UInt32 = 0xffff_ffff
    for byte in bytes {
        crc ^= UInt32(byte)
        for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xedb8_8320 : crc >> 1 }
    }
    return ~crc
}
