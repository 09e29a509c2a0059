// SPDX-License-Identifier: MIT

internal import LupineTransport

/// A PRIORITY_UPDATE frame of a client.
package struct OriginPriority: Hashable, Sendable {
    /// The number of the connection, from 0 in order of acceptance.
    package var connection: Int
    /// The prioritized stream.
    package var stream: UInt32
    /// The value of the priority field.
    package var value: String
}

/// Records the first PRIORITY_UPDATE frames of all clients. Any thread may use it.
final class PriorityRecord: Sendable {
    private static let capacity = 1_000

    private let frames = Lock<[OriginPriority]>([])

    var all: [OriginPriority] { frames.withLock { $0 } }

    func add(_ value: [UInt8], of stream: UInt32, on connection: Int) {
        frames.withLock { frames in
            guard frames.count < Self.capacity else { return }
            frames.append(
                OriginPriority(
                    connection: connection, stream: stream, value: String(decoding: value, as: UTF8.self)))
        }
    }
}
