// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import Testing

@testable import LupineTransport

/// Upgraded connections, apart from the bytes that they carry.
@Suite struct UpgradeTests {
    static let answer = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: chat\r\n\r\n"

    @Test func anUpgradedConnectionWithoutAHandlerIsClosed() async throws {
        let plan = ScriptPlan(.expectHead, .send(Self.answer), .expectEnd, .signal("closed"), .stall)
        try await withStack(plan) { client, origin in
            var fields = Fields()
            try fields.append(.connection, "upgrade")
            try fields.append(.upgrade, "chat")
            let response = try await client.send(HTTPRequest(url: origin.url + "/", fields: fields))
            #expect(response.status.code == 101)
            await origin.gate("closed").wait()
        }
    }

    @Test func sendingFromDrainedGrowsNoStack() async throws {
        let count = 50_000
        let plan = ScriptPlan(
            .expectHead, .send(Self.answer), .expectBytes(count), .signal("all"), .expectEnd, .stall)
        try await withPool(plan) { stage in
            let sink = RecordingSink(upgrade: { connection in
                let pump = Pump(connection, count: count - 1)
                _ = connection.send([0])
                return pump
            })
            try await stage.send(.get, fields: [(.connection, "upgrade"), (.upgrade, "chat")], sink: sink)
            await stage.origin.gate("all").wait()
        }
    }

    @Test func sentBytesUseNoMemory() {
        var feed = ContentFeed()
        feed.append([UInt8](repeating: 0, count: 1_000))
        for _ in 0..<10_000 {
            feed.append([UInt8](repeating: 1, count: 100))
            feed.advance(100)
            #expect(feed.waitingOctets == 1_000)
        }
        #expect(feed.output.count < 256 * 1_024)
    }
}

/// Sends the next octet whenever the previous one has been sent.
private final class Pump: UpgradeHandler {
    private let connection: UpgradedConnection
    private var remainingCount: Int

    init(_ connection: UpgradedConnection, count: Int) {
        self.connection = connection
        remainingCount = count
    }

    func received(_ bytes: Span<UInt8>) -> Demand { .more }

    func drained() {
        guard remainingCount > 0 else { return }
        remainingCount -= 1
        _ = connection.send([1])
    }

    func closed(_ error: TransportError?) {}
}
