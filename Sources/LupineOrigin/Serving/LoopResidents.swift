// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The connections and listeners of one origin on one loop, so that they can be ended together. On the loop.
final class LoopResidents {
    private var connections: [ObjectIdentifier: ServerConnection] = [:]
    private var listener: Listener?
    /// After the end nothing moves in.
    private(set) var isClosed = false

    /// Begins with nobody, from any thread.
    init() {}

    func add(_ connection: ServerConnection) { connections[ObjectIdentifier(connection)] = connection }

    func remove(_ connection: ServerConnection) { connections[ObjectIdentifier(connection)] = nil }

    func adopt(_ listener: Listener) { self.listener = listener }

    /// Ends them all.
    func close() {
        isClosed = true
        listener?.stop()
        listener = nil
        for connection in Array(connections.values) { connection.shutDown() }
        connections = [:]
    }
}
