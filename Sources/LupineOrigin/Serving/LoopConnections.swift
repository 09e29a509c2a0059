// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The connections and the listener of one origin on one loop, so that they can be closed together. Used on the loop only.
final class LoopConnections {
    private var connections: [ObjectIdentifier: ServerConnection] = [:]
    private var listener: Listener?
    /// Whether `close` has been called. Then no connection or listener may be added.
    private(set) var isClosed = false

    /// Creates an empty set, on any thread.
    init() {}

    func add(_ connection: ServerConnection) { connections[ObjectIdentifier(connection)] = connection }

    func remove(_ connection: ServerConnection) { connections[ObjectIdentifier(connection)] = nil }

    /// Retains the listener until `close`.
    func add(_ listener: Listener) { self.listener = listener }

    /// Closes all connections and the listener.
    func close() {
        isClosed = true
        listener?.stop()
        listener = nil
        // A copy, because each connection removes itself from the dictionary.
        for connection in Array(connections.values) { connection.shutDown() }
        connections = [:]
    }
}
