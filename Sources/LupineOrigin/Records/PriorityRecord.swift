// SPDX-License-Identifier: MIT

internal import LupineTransport

/// A PRIORITY_UPDATE frame that a client has sent (RFC 9218 §7.1).
package struct RecordedPriorityUpdate: Hashable, Sendable {
    /// The number of the connection, from 0 in order of acceptance.
    package var connection: Int
    /// The identifier of the prioritized stream.
    package var stream: UInt32
    /// The priority field value in the frame, such as `u=1, i`.
    package var value: String
}

/// Records the first 1,000 PRIORITY_UPDATE frames of all clients. Any thread may use it.
final class PriorityRecord: Sendable {
    private static let capacity = 1_000

    private let frames = Lock<[RecordedPriorityUpdate]>([])

    /// The recorded frames, in order of arrival.
    var all: [RecordedPriorityUpdate] { frames.withLock { $0 } }

    /// Records a frame. Has no effect if the record is full.
    func add(_ value: [UInt8], of stream: UInt32, on connection: Int) {
        frames.withLock { frames in
            guard frames.count < Self.capacity else { return }
            frames.append(
                RecordedPriorityUpdate(
                    connection: connection, stream: stream, value: String(decoding: value, as: UTF8.self)))
        }
    }
}
