// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTransport

/// The connections that the pool lends to WebSockets (RFC 8441).
struct SharedWebSocketTests {
    private let origin = Origin(scheme: .https, host: "a.test", port: 443)
    private let other = Origin(scheme: .https, host: "b.test", port: 443)

    @Test("[H-13.3] a WebSocket needs a connection whose peer accepts it and that has room; none is dialed")
    func connectionsThatAccept() throws {
        var stage = MachineStage()
        #expect(stage.webSocket(to: origin) == nil)
        #expect(stage.machine.keyCount == 0 && stage.machine.openCount == 0)
        let connection = try stage.connect(to: origin, capacity: 3)
        #expect(stage.webSocket(to: origin) == nil)
        _ = stage.handle(.acceptsWebSockets(connection))
        #expect(stage.webSocket(to: other) == nil)
        #expect(stage.webSocket(to: origin) == connection)
        #expect(stage.webSocket(to: origin) == connection)
        // Its capacity of three is used up, by these two and the exchange that it was opened for.
        #expect(stage.webSocket(to: origin) == nil)
        _ = stage.handle(.finished(connection, .reusable(KeepAlive())))
        #expect(stage.webSocket(to: origin) == connection)
        #expect(stage.machine.openCount == 1)
    }

    @Test("[H-13.3] a retiring or expired connection is not lent to a WebSocket")
    func retiringOrExpired() throws {
        var stage = MachineStage()
        let connection = try stage.connect(to: origin, capacity: 3)
        _ = stage.handle(.acceptsWebSockets(connection))
        _ = stage.handle(.finished(connection, .reusable(KeepAlive())))
        #expect(stage.webSocket(to: origin, at: .zero + .seconds(61)) == nil)
        _ = stage.handle(.submit(stage.makeExchange(), to: origin, needsFresh: false))
        _ = stage.handle(.retire(connection))
        #expect(stage.webSocket(to: origin) == nil)
        // The identifier of the connection is no longer in use.
        _ = stage.handle(.acceptsWebSockets(connection))
    }

    @Test("[H-13.3] a new connection accepts no WebSockets until its peer says so") func replacements() throws
    {
        var stage = MachineStage()
        let first = try stage.connect(to: origin, capacity: 3)
        _ = stage.handle(.acceptsWebSockets(first))
        _ = stage.handle(.lost(first))
        let second = try stage.connect(to: origin, capacity: 3)
        #expect(second != first)
        #expect(stage.webSocket(to: origin) == nil)
    }
}
