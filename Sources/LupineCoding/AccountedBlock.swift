// SPDX-License-Identifier: MIT
import Glibc

/// Allocates the memory blocks of zlib and brotli, each after reserving its size in the decoder's ``DecoderMemory``.
///
/// A header before each block stores the size to release when the library frees the block. `account` is the pointer to the
/// ``DecoderMemory``. A decoder passes the pointer to its library together with these functions.
enum AccountedBlock {
    /// The length of the header in bytes. 16 bytes keep the block aligned.
    private static let headerSize = 16

    /// Returns a block of `size` bytes; nil if it would exceed the account's limit, or the system has no memory.
    static func allocate(_ account: UnsafeMutableRawPointer?, _ size: Int) -> UnsafeMutableRawPointer? {
        let (blockSize, overflow) = size.addingReportingOverflow(headerSize)
        guard !overflow, let account = unsafe account?.assumingMemoryBound(to: DecoderMemory.self),
            unsafe account.pointee.reserve(blockSize)
        else { return nil }
        guard let block = unsafe malloc(blockSize) else {
            unsafe account.pointee.release(blockSize)
            return nil
        }
        unsafe block.storeBytes(of: blockSize, as: Int.self)
        return unsafe block + headerSize
    }

    /// Frees a block that ``allocate(_:_:)`` has returned. Does nothing for a nil `address`.
    static func free(_ account: UnsafeMutableRawPointer?, _ address: UnsafeMutableRawPointer?) {
        guard let account = unsafe account?.assumingMemoryBound(to: DecoderMemory.self),
            let block = unsafe address.map({ unsafe $0 - headerSize })
        else { return }
        unsafe account.pointee.release(block.load(as: Int.self))
        unsafe Glibc.free(block)
    }
}
