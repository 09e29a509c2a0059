// SPDX-License-Identifier: MIT

/// Copies bytes with one `memmove`: the standard library copies spans byte by byte. The copies join the pieces of a TLS record,
/// which must be contiguous for OpenSSL.
extension MutableSpan where Element == UInt8 {
    /// Copies `bytes` into the span from `start` on; they must fit.
    mutating func copy(_ bytes: Span<UInt8>, to start: Int) {
        precondition(start >= 0 && start <= count - bytes.count, "the bytes do not fit")
        guard !bytes.isEmpty else { return }
        unsafe withUnsafeMutableBytes { target in
            unsafe bytes.withUnsafeBytes { source in
                let room = unsafe UnsafeMutableRawBufferPointer(rebasing: target[start...])
                unsafe room.copyMemory(from: source)
            }
        }
    }
}

extension OutputSpan where Element == UInt8 {
    /// Appends `bytes`; they must fit.
    mutating func append(copying bytes: Span<UInt8>) {
        precondition(bytes.count <= freeCapacity, "the bytes do not fit")
        guard !bytes.isEmpty else { return }
        unsafe withUnsafeMutableBufferPointer { target, filled in
            unsafe bytes.withUnsafeBytes { source in
                let room = unsafe UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(target)[filled...])
                unsafe room.copyMemory(from: source)
            }
            filled += bytes.count
        }
    }
}
