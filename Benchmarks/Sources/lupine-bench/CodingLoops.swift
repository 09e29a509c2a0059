// SPDX-License-Identifier: MIT
internal import CBenchmarkPeers

/// zlib and brotli in C, called with Swift arrays.
enum CodingLoops {
    static func inflate(_ packed: [UInt8], into piece: inout [UInt8], reuse: Bool, times: Int) -> UInt64 {
        let room = piece.count
        return unsafe packed.withUnsafeBufferPointer { input in
            unsafe piece.withUnsafeMutableBufferPointer { output in
                unsafe peer_inflate(
                    input.baseAddress, input.count, output.baseAddress, room, reuse, UInt64(times))
            }
        }
    }

    static func brotli(_ packed: [UInt8], into piece: inout [UInt8], times: Int) -> UInt64 {
        let room = piece.count
        return unsafe packed.withUnsafeBufferPointer { input in
            unsafe piece.withUnsafeMutableBufferPointer { output in
                unsafe peer_brotli_decode(
                    input.baseAddress, input.count, output.baseAddress, room, UInt64(times))
            }
        }
    }

    /// Compresses at level 6; empty if the encoder fails.
    static func gzip(_ plain: [UInt8]) -> [UInt8] { unsafe packed(plain, by: peer_gzip) }

    /// Compresses at quality 5; empty if the encoder fails.
    static func brotli(_ plain: [UInt8]) -> [UInt8] { unsafe packed(plain, by: peer_brotli) }

    private static func packed(
        _ plain: [UInt8],
        by compress: (UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<UInt8>?, Int) -> Int
    ) -> [UInt8] {
        var packed = [UInt8](repeating: 0, count: plain.count + 4096)
        let room = packed.count
        let count = unsafe plain.withUnsafeBufferPointer { input in
            unsafe packed.withUnsafeMutableBufferPointer { output in
                unsafe compress(input.baseAddress, input.count, output.baseAddress, room)
            }
        }
        return Array(packed.prefix(count))
    }
}
