// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import Testing

@testable import LupineTransport

/// The adaptation of a download's window to its link. Both ends are real machines; the link between them is simulated.
@Suite struct StreamWindowTests {
    /// A server that always has more to send, a client, and the octets in transit between them. Times are in nanoseconds.
    private struct Download {
        private static let content = [UInt8](repeating: 0, count: 16_384)

        /// Octets per second.
        let rate: Double
        let roundTrip: Double
        /// Octets per second that the consumer reads; nil if it reads everything at once.
        let consumerRate: Double?

        var client: HTTP2Machine
        var server: HTTP2Machine
        var window = StreamWindow(65_535)
        var now = 0.0
        /// The time at which the link has transmitted all that the server has sent.
        var linkFreeTime = 0.0
        /// Octets in transit, with the times of their arrival.
        var toClient: [(at: Double, octets: [UInt8])] = []
        var toServer: [(at: Double, octets: [UInt8])] = []
        var arrivedAtClient = 0
        var arrivedAtServer = 0
        var received = 0
        var held = 0
        var lastConsumption = 0.0
        let stream: StreamID

        init(rate: Double, roundTrip: Double, consumerRate: Double? = nil) throws {
            self.rate = rate
            self.roundTrip = roundTrip * 1e9
            self.consumerRate = consumerRate
            var settings = HTTP2Machine.defaultSettings
            settings.initialWindowSize = 65_535
            client = HTTP2Machine(
                .client, settings: settings, window: HTTP2Connection.connectionWindow, at: .zero)
            server = HTTP2Machine(.server, at: .zero)
            var request = HeaderList()
            for (name, value) in [
                (":method", "GET"), (":scheme", "http"), (":authority", "a"), (":path", "/"),
            ] {
                request.append(name, value)
            }
            stream = try client.open(request, method: .get, endsStream: true)
        }

        var time: Duration { .nanoseconds(Int64(now)) }
        var instant: Instant { Instant(nanoseconds: Int64(now)) }

        /// Runs the simulation until `end`.
        mutating func run(until end: Double) throws {
            while true {
                sendFromClient()
                try sendFromServer()
                var next = end
                if arrivedAtClient < toClient.count { next = min(next, toClient[arrivedAtClient].at) }
                if arrivedAtServer < toServer.count { next = min(next, toServer[arrivedAtServer].at) }
                if linkFreeTime > now { next = min(next, linkFreeTime) }
                if consumerRate != nil, held > 0 { next = min(next, now + 1e7) }
                now = max(now, next)
                if now >= end { return }
                while arrivedAtServer < toServer.count, toServer[arrivedAtServer].at <= now {
                    try receiveAtServer(toServer[arrivedAtServer].octets)
                    arrivedAtServer += 1
                }
                while arrivedAtClient < toClient.count, toClient[arrivedAtClient].at <= now {
                    try receiveAtClient(toClient[arrivedAtClient].octets)
                    toClient[arrivedAtClient].octets = []
                    arrivedAtClient += 1
                }
                consume()
            }
        }

        private mutating func sendFromClient() {
            var octets: [UInt8] = []
            client.takeOutput(into: &octets)
            if !octets.isEmpty { toServer.append((now + roundTrip / 2, octets)) }
        }

        /// Handles the server's events; its response begins when the request arrives.
        private mutating func receiveAtServer(_ octets: [UInt8]) throws {
            var rest = octets[...]
            while true {
                let (event, count) = try server.next(rest.span, at: time)
                rest = rest.dropFirst(count)
                if case .request(let id, _) = event {
                    var head = HeaderList()
                    head.append(":status", "200")
                    try server.send(head, on: id, endsStream: false)
                }
                if event == .needMore { return }
            }
        }

        /// Sends one piece whenever the link is free, so that nothing queues on it.
        private mutating func sendFromServer() throws {
            guard linkFreeTime <= now else { return }
            var octets: [UInt8] = []
            let count =
                server.streamCount > 0
                ? try server.sendContent(16_384, on: stream, endsStream: false, into: &octets) : 0
            if octets.isEmpty { server.takeOutput(into: &octets) }
            guard !octets.isEmpty else { return }
            octets += Self.content.prefix(count)
            linkFreeTime = now + Double(octets.count) / rate * 1e9
            toClient.append((linkFreeTime + roundTrip / 2, octets))
        }

        private mutating func receiveAtClient(_ octets: [UInt8]) throws {
            var rest = octets[...]
            while true {
                let (event, count) = try client.next(rest.span, at: time)
                rest = rest.dropFirst(count)
                if case .content(_, let range) = event {
                    received += range.count
                    held += range.count
                }
                if event == .needMore { break }
            }
        }

        private mutating func consume() {
            guard held > 0 else {
                lastConsumption = now
                return
            }
            let count = consumerRate.map { min(held, Int((now - lastConsumption) * $0 / 1e9)) } ?? held
            guard count > 0 else { return }
            lastConsumption = now
            held -= count
            let growth = window.recordConsumed(
                count, at: instant, hasConsumedAll: held == 0,
                growthLimit: HTTP2Connection.largestStreamWindow - window.size)
            if growth > 0 { client.raiseWindow(of: stream, to: window.size) }
            client.consumed(count, on: stream)
        }
    }

    struct Link: Sendable, CustomTestStringConvertible {
        /// Megabits per second.
        let rate: Double
        let milliseconds: Double
        var testDescription: String { "\(rate) Mbit/s, \(milliseconds) ms" }
        /// The number of octets in transit when the link is full.
        var product: Double { rate * 125 * milliseconds }
    }

    /// The largest product fills the largest window.
    static let links = [
        Link(rate: 8, milliseconds: 1), Link(rate: 20, milliseconds: 40), Link(rate: 100, milliseconds: 20),
        Link(rate: 100, milliseconds: 150), Link(rate: 1_000, milliseconds: 10),
        Link(rate: 670, milliseconds: 100), Link(rate: 50, milliseconds: 600),
    ]

    /// The window doubles with each round trip until the peer no longer waits for it.
    @Test("[H-12.10] a stream alone fills its link after a few round trips", arguments: links)
    func throughput(_ link: Link) throws {
        var download = try Download(rate: link.rate * 125_000, roundTrip: link.milliseconds / 1_000)
        var trips = 7.0
        var window = 65_535.0
        while window < min(2 * link.product, Double(HTTP2Connection.largestStreamWindow)) {
            window *= 2
            trips += 1
        }
        try download.run(until: trips * download.roundTrip)
        let before = download.received
        let span = max(6 * download.roundTrip, 2e8)
        try download.run(until: download.now + span)
        let usedShare = Double(download.received - before) / (download.rate * span / 1e9)
        #expect(usedShare >= 0.9, "\(link): \(usedShare), window \(download.window.size)")
        #expect(download.window.size <= HTTP2Connection.largestStreamWindow)
    }

    @Test(
        "[H-12.10] the window of a consumer that is slower than a window in a second does not grow",
        arguments: [1_000, 20_000, 60_000] as [Double])
    func slowConsumer(_ rate: Double) throws {
        var download = try Download(rate: 12_500_000, roundTrip: 0.05, consumerRate: rate)
        try download.run(until: 20e9)
        #expect(download.window.size == 65_535)
        // No more than a window is held.
        #expect(download.held <= 65_535)
        #expect(download.received > Int(rate * 15))
    }

    @Test("[H-12.10] a slow link needs no larger window", arguments: [10_000, 40_000] as [Double])
    func slowLink(_ rate: Double) throws {
        var download = try Download(rate: rate, roundTrip: 0.2)
        try download.run(until: 60e9)
        #expect(download.window.size == 65_535)
        #expect(Double(download.received) >= 0.9 * rate * 59)
    }

    @Test("[H-12.10] a window is no larger than four seconds of its link") func noLargerThanNeeded() throws {
        var download = try Download(rate: 200_000, roundTrip: 0.02)
        try download.run(until: 60e9)
        #expect(download.window.size <= 4 * 200_000)
    }

    @Test func growthIsLimitedByTheConnection() {
        var window = StreamWindow(100)
        let now = Instant(nanoseconds: 0)
        #expect(window.recordConsumed(99, at: now, hasConsumedAll: true, growthLimit: 1_000) == 0)
        #expect(window.recordConsumed(1, at: now, hasConsumedAll: true, growthLimit: 30) == 30)
        #expect(window.size == 130)
        #expect(window.recordConsumed(130, at: now, hasConsumedAll: false, growthLimit: 1_000) == 0)
        #expect(window.recordConsumed(1, at: now, hasConsumedAll: true, growthLimit: -5) == 0)
        #expect(window.recordConsumed(130, at: now, hasConsumedAll: true, growthLimit: 1_000) == 130)
        #expect(window.size == 260)
    }
}
