// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The connections and listeners of one origin on one loop, so that they can be ended together. On the loop.
final class LoopResidents {
    private var connections: [ObjectIdentifier: ServerConnection] = [:]
    private var listener: Listener?
    /// Whether `close` was called; nothing can be added afterwards.
    private(set) var isClosed = false

    /// Creates an empty set. Any thread.
    init() {}

    func add(_ connection: ServerConnection) { connections[ObjectIdentifier(connection)] = connection }

    func remove(_ connection: ServerConnection) { connections[ObjectIdentifier(connection)] = nil }

    func adopt(_ listener: Listener) { self.listener = listener }

    /// Closes all connections and listeners.
    func close() {
        isClosed = true
        listener?.stop()
        listener = nil
        for connection in Array(connections.values) { connection.shutDown() }
        connections = [:]
    }
}
