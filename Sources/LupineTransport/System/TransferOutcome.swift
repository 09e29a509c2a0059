// SPDX-License-Identifier: MIT

/// The result of reading from a non-blocking descriptor.
package enum ReadOutcome: Hashable, Sendable {
    /// The number of bytes read, at least one.
    case bytes(Int)
    /// There are no bytes now. The loop reports when there are.
    case wouldBlock
    /// The peer has ended its half, or the file has ended.
    case end

    /// Converts the result of a system call that returns a number of bytes.
    static func of(_ body: () throws(Errno) -> Int) throws(Errno) -> ReadOutcome {
        do {
            let count = try body()
            return count == 0 ? .end : .bytes(count)
        } catch {
            if error == .wouldBlock { return .wouldBlock }
            throw error
        }
    }

    /// Lets `body` fill the free part of `output`, which must not be empty: otherwise a count of 0 would look like the end.
    static func filling(
        _ output: inout OutputSpan<UInt8>,
        _ body: (UnsafeMutableRawBufferPointer) throws(Errno) -> Int
    ) throws(Errno) -> ReadOutcome {
        precondition(output.freeCapacity > 0, "there is no room to read into")
        return try unsafe output.withUnsafeMutableBufferPointer { buffer, filled throws(Errno) in
            let free = unsafe UnsafeMutableRawBufferPointer(
                rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
            let outcome = try ReadOutcome.of { () throws(Errno) in try unsafe body(free) }
            if case .bytes(let count) = outcome { filled += count }
            return outcome
        }
    }
}

/// The result of writing to a non-blocking descriptor.
package enum WriteOutcome: Hashable, Sendable {
    /// The number of bytes accepted, perhaps fewer than were offered.
    case bytes(Int)
    /// No byte was accepted. The loop reports when the descriptor becomes writable.
    case wouldBlock

    /// Converts the result of a system call that returns a number of bytes.
    static func of(_ body: () throws(Errno) -> Int) throws(Errno) -> WriteOutcome {
        do {
            return .bytes(try body())
        } catch {
            if error == .wouldBlock { return .wouldBlock }
            throw error
        }
    }
}
