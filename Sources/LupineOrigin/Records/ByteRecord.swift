// SPDX-License-Identifier: MIT

internal import LupineTransport

/// Records the bytes received on each connection, up to a limit. Any thread may use it.
final class ByteRecord: Sendable {
    /// The maximum number of recorded bytes of each connection.
    private let limit: Int
    /// The recorded bytes, by the number of their connection.
    private let connections = Lock<[Int: [UInt8]]>([:])

    /// Creates a record of the first `limit` bytes of each connection; 0 records nothing.
    init(limit: Int) { self.limit = limit }

    /// Whether bytes are recorded.
    var isEnabled: Bool { limit > 0 }

    /// Records bytes received on a connection, up to the limit.
    func add(_ bytes: Span<UInt8>, of connection: Int) {
        // Only the connection's loop adds bytes of the connection, so the free space does not change between the two locks.
        let freeSpace = connections.withLock { limit - ($0[connection]?.count ?? 0) }
        guard freeSpace > 0 else { return }
        var copy: [UInt8] = []
        copy.append(bytes, upTo: freeSpace)
        // A constant: the closure may not capture a variable or the span.
        let copiedBytes = copy
        connections.withLock { $0[connection, default: []] += copiedBytes }
    }

    /// Returns the recorded bytes of a connection.
    func bytes(of connection: Int) -> [UInt8] {
        connections.withLock { $0[connection] ?? [] }
    }
}

extension Array where Element == UInt8 {
    /// Appends at most the first `limit` octets of `bytes`.
    mutating func append(_ bytes: Span<UInt8>, upTo limit: Int = .max) {
        let count = Swift.min(limit, bytes.count)
        guard count > 0 else { return }
        append(addingCapacity: count) { output in
            for index in 0..<count { output.append(bytes[index]) }
        }
    }
}
