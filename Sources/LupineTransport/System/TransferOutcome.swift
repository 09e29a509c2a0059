// SPDX-License-Identifier: MIT

/// What came of taking bytes from a descriptor that does not wait.
package enum ReadOutcome: Hashable, Sendable {
    /// So many bytes, at least one.
    case bytes(Int)
    /// Nothing now; the loop will say when.
    case wouldBlock
    /// The other side has finished, or the file has ended.
    case end

    static func of(_ body: () throws(Errno) -> Int) throws(Errno) -> ReadOutcome {
        do {
            let count = try body()
            return count == 0 ? .end : .bytes(count)
        } catch {
            if error == .wouldBlock { return .wouldBlock }
            throw error
        }
    }

    /// Lets `body` fill the free part of `output`, which must not be empty: no room would look like the end.
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

/// What came of giving bytes to a descriptor that does not wait.
package enum WriteOutcome: Hashable, Sendable {
    /// So many bytes were taken, perhaps fewer than were offered.
    case bytes(Int)
    /// None were taken; the loop will say when there is room.
    case wouldBlock

    static func of(_ body: () throws(Errno) -> Int) throws(Errno) -> WriteOutcome {
        do {
            return .bytes(try body())
        } catch {
            if error == .wouldBlock { return .wouldBlock }
            throw error
        }
    }
}
