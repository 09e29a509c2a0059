// SPDX-License-Identifier: MIT
import Glibc

/// Allocates the blocks of zlib and brotli, each after reserving its size in the decoder's ``DecoderMemory``.
///
/// Each block is preceded by its size, which is released when the block is freed. `account` is the pointer that a decoder passes
/// to its library together with these functions.
enum AccountedBlock {
    /// The size before a block; 16 bytes keep it aligned.
    private static let header = 16

    /// Returns a block of `size` bytes; nil if the account refuses it or there is no memory.
    static func allocate(_ account: UnsafeMutableRawPointer?, _ size: Int) -> UnsafeMutableRawPointer? {
        let (bytes, overflow) = size.addingReportingOverflow(header)
        guard !overflow, let account = unsafe account?.assumingMemoryBound(to: DecoderMemory.self),
            unsafe account.pointee.reserve(bytes)
        else { return nil }
        guard let block = unsafe malloc(bytes) else {
            unsafe account.pointee.release(bytes)
            return nil
        }
        unsafe block.storeBytes(of: bytes, as: Int.self)
        return unsafe block + header
    }

    /// Frees a block of ``allocate(_:_:)``.
    static func free(_ account: UnsafeMutableRawPointer?, _ address: UnsafeMutableRawPointer?) {
        guard let account = unsafe account?.assumingMemoryBound(to: DecoderMemory.self),
            let block = unsafe address.map({ unsafe $0 - header })
        else { return }
        unsafe account.pointee.release(block.load(as: Int.self))
        unsafe Glibc.free(block)
    }
}
