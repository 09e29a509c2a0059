// SPDX-License-Identifier: MIT

/// Copies bytes with one `memmove`, because the standard library copies spans byte by byte. The transport uses it to join the
/// bytes of a TLS record, which must be contiguous for OpenSSL; the loading system, to write stored responses.
extension MutableSpan where Element == UInt8 {
    /// Copies `bytes` into the span from `start` on; they must fit.
    package mutating func copy(_ bytes: Span<UInt8>, to start: Int) {
        precondition(start >= 0 && start <= count - bytes.count, "the bytes do not fit")
        guard !bytes.isEmpty else { return }
        unsafe withUnsafeMutableBytes { target in
            unsafe bytes.withUnsafeBytes { source in
                let destination = unsafe UnsafeMutableRawBufferPointer(rebasing: target[start...])
                unsafe destination.copyMemory(from: source)
            }
        }
    }
}

extension OutputSpan where Element == UInt8 {
    /// Appends `bytes`; they must fit.
    mutating func append(copying bytes: Span<UInt8>) {
        precondition(bytes.count <= freeCapacity, "the bytes do not fit")
        guard !bytes.isEmpty else { return }
        unsafe withUnsafeMutableBufferPointer { target, initializedCount in
            unsafe bytes.withUnsafeBytes { source in
                let destination = unsafe UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(target)[initializedCount...])
                unsafe destination.copyMemory(from: source)
            }
            initializedCount += bytes.count
        }
    }
}
