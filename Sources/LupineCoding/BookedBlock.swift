// SPDX-License-Identifier: MIT
import Glibc

/// The blocks that zlib and brotli ask for, each booked with the decoder's ``DecoderMemory`` before it is made.
///
/// Each is preceded by its size, so that it can be given back to the account. The account comes as the pointer that a
/// decoder hands to its library together with these functions.
enum BookedBlock {
    /// What stands in front of a block; 16 bytes keep it aligned.
    private static let header = 16

    /// A block of `size` bytes; nil where the account refuses it or there is no memory.
    static func allocate(_ account: UnsafeMutableRawPointer?, _ size: Int) -> UnsafeMutableRawPointer? {
        let (bytes, overflow) = size.addingReportingOverflow(header)
        guard !overflow, let account = unsafe account?.assumingMemoryBound(to: DecoderMemory.self),
            unsafe account.pointee.take(bytes)
        else { return nil }
        guard let block = unsafe malloc(bytes) else {
            unsafe account.pointee.give(bytes)
            return nil
        }
        unsafe block.storeBytes(of: bytes, as: Int.self)
        return unsafe block + header
    }

    /// Frees a block that ``allocate(_:_:)`` made.
    static func free(_ account: UnsafeMutableRawPointer?, _ address: UnsafeMutableRawPointer?) {
        guard let account = unsafe account?.assumingMemoryBound(to: DecoderMemory.self),
            let block = unsafe address.map({ unsafe $0 - header })
        else { return }
        unsafe account.pointee.give(block.load(as: Int.self))
        unsafe Glibc.free(block)
    }
}
