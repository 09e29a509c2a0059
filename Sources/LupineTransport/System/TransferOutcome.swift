// SPDX-License-Identifier: MIT

/// The result of reading from a non-blocking descriptor.
package enum ReadOutcome: Hashable, Sendable {
    /// The number of bytes read, at least one.
    case bytes(Int)
    /// There are no bytes to read at present. The loop reports when bytes arrive.
    case wouldBlock
    /// The peer has ended its half, or the file has ended.
    case end

    /// Calls `body`, which makes a system call that returns the number of bytes read, and converts the result.
    static func of(_ body: () throws(Errno) -> Int) throws(Errno) -> ReadOutcome {
        do {
            let count = try body()
            return count == 0 ? .end : .bytes(count)
        } catch {
            if error == .wouldBlock { return .wouldBlock }
            throw error
        }
    }

    /// Calls `body`, which reads into the free part of `output`, and converts the result. The free part must not be empty,
    /// because a count of 0 means the end.
    static func filling(
        _ output: inout OutputSpan<UInt8>,
        _ body: (UnsafeMutableRawBufferPointer) throws(Errno) -> Int
    ) throws(Errno) -> ReadOutcome {
        precondition(output.freeCapacity > 0, "there is no room to read into")
        return try unsafe output.withUnsafeMutableBufferPointer { buffer, initializedCount throws(Errno) in
            let freePart = unsafe UnsafeMutableRawBufferPointer(
                rebasing: UnsafeMutableRawBufferPointer(buffer)[initializedCount...])
            let outcome = try ReadOutcome.of { () throws(Errno) in try unsafe body(freePart) }
            if case .bytes(let count) = outcome { initializedCount += count }
            return outcome
        }
    }
}

/// The result of writing to a non-blocking descriptor.
package enum WriteOutcome: Hashable, Sendable {
    /// The number of bytes accepted, perhaps fewer than were offered.
    case bytes(Int)
    /// The kernel accepted no byte. The loop reports when the descriptor becomes writable.
    case wouldBlock

    /// Calls `body`, which makes a system call that returns the number of bytes accepted, and converts the result.
    static func of(_ body: () throws(Errno) -> Int) throws(Errno) -> WriteOutcome {
        do {
            return .bytes(try body())
        } catch {
            if error == .wouldBlock { return .wouldBlock }
            throw error
        }
    }
}
