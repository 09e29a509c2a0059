// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import Testing

@testable import LupineTransport

/// How the window of a download adapts to its delay: both ends are the real machines, the link between them is simulated.
@Suite struct StreamWindowTests {
    /// A server that always has more to send, a client, and the octets in transit between them. Times are in nanoseconds.
    private struct Download {
        private static let content = [UInt8](repeating: 0, count: 16_384)

        /// Octets per second.
        let rate: Double
        let roundTrip: Double
        /// Octets per second that the consumer takes; nil if it takes everything at once.
        let consumed: Double?

        var client: HTTP2Machine
        var server: HTTP2Machine
        var window = StreamWindow(65_535)
        var now = 0.0
        /// When the link has transmitted everything that the server has given it.
        var free = 0.0
        /// Octets in transit, with the times of their arrival.
        var toClient: [(at: Double, octets: [UInt8])] = []
        var toServer: [(at: Double, octets: [UInt8])] = []
        var arrived = 0
        var arrivedThere = 0
        var received = 0
        var held = 0
        var consumedUpTo = 0.0
        let stream: StreamID

        init(rate: Double, roundTrip: Double, consumed: Double? = nil) throws {
            self.rate = rate
            self.roundTrip = roundTrip * 1e9
            self.consumed = consumed
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

        /// Runs the simulation until that time.
        mutating func run(until end: Double) throws {
            while true {
                sendQuestions()
                try serve()
                var next = end
                if arrived < toClient.count { next = min(next, toClient[arrived].at) }
                if arrivedThere < toServer.count { next = min(next, toServer[arrivedThere].at) }
                if free > now { next = min(next, free) }
                if consumed != nil, held > 0 { next = min(next, now + 1e7) }
                now = max(now, next)
                if now >= end { return }
                while arrivedThere < toServer.count, toServer[arrivedThere].at <= now {
                    try take(toServer[arrivedThere].octets)
                    arrivedThere += 1
                }
                while arrived < toClient.count, toClient[arrived].at <= now {
                    try receive(toClient[arrived].octets)
                    toClient[arrived].octets = []
                    arrived += 1
                }
                consume()
            }
        }

        private mutating func sendQuestions() {
            var octets: [UInt8] = []
            client.takeOutput(into: &octets)
            if !octets.isEmpty { toServer.append((now + roundTrip / 2, octets)) }
        }

        /// Handles the server's events; its response begins when the request arrives.
        private mutating func take(_ octets: [UInt8]) throws {
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

        /// Gives the link one piece whenever it is free, so that nothing queues on it.
        private mutating func serve() throws {
            guard free <= now else { return }
            var octets: [UInt8] = []
            let count =
                server.streamCount > 0
                ? try server.sendContent(16_384, on: stream, endsStream: false, into: &octets) : 0
            if octets.isEmpty { server.takeOutput(into: &octets) }
            guard !octets.isEmpty else { return }
            octets += Self.content.prefix(count)
            free = now + Double(octets.count) / rate * 1e9
            toClient.append((free + roundTrip / 2, octets))
        }

        private mutating func receive(_ octets: [UInt8]) throws {
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
                consumedUpTo = now
                return
            }
            let count = consumed.map { min(held, Int((now - consumedUpTo) * $0 / 1e9)) } ?? held
            guard count > 0 else { return }
            consumedUpTo = now
            held -= count
            let growth = window.recordTaken(
                count, at: instant, isCaughtUp: held == 0,
                growthLimit: HTTP2Connection.largestStreamWindow - window.size)
            if growth > 0 { client.raiseWindow(of: stream, to: window.size) }
            client.consumed(count, on: stream)
        }
    }

    struct Way: Sendable, CustomTestStringConvertible {
        /// Megabits per second.
        let rate: Double
        let milliseconds: Double
        var testDescription: String { "\(rate) Mbit/s, \(milliseconds) ms" }
        /// The number of octets in transit when the link is full.
        var product: Double { rate * 125 * milliseconds }
    }

    /// The largest product is that of the largest window.
    static let ways = [
        Way(rate: 8, milliseconds: 1), Way(rate: 20, milliseconds: 40), Way(rate: 100, milliseconds: 20),
        Way(rate: 100, milliseconds: 150), Way(rate: 1_000, milliseconds: 10),
        Way(rate: 670, milliseconds: 100), Way(rate: 50, milliseconds: 600),
    ]

    /// The window doubles with each round trip until the peer no longer waits for it.
    @Test("[H-12.10] a stream alone fills its link after a few round trips", arguments: ways)
    func throughput(_ way: Way) throws {
        var download = try Download(rate: way.rate * 125_000, roundTrip: way.milliseconds / 1_000)
        var trips = 7.0
        var window = 65_535.0
        while window < min(2 * way.product, Double(HTTP2Connection.largestStreamWindow)) {
            window *= 2
            trips += 1
        }
        try download.run(until: trips * download.roundTrip)
        let before = download.received
        let span = max(6 * download.roundTrip, 2e8)
        try download.run(until: download.now + span)
        let share = Double(download.received - before) / (download.rate * span / 1e9)
        #expect(share >= 0.9, "\(way): \(share), window \(download.window.size)")
        #expect(download.window.size <= HTTP2Connection.largestStreamWindow)
    }

    @Test(
        "[H-12.10] the window of a consumer that is slower than a window in a second does not grow",
        arguments: [1_000, 20_000, 60_000] as [Double])
    func slowConsumer(_ rate: Double) throws {
        var download = try Download(rate: 12_500_000, roundTrip: 0.05, consumed: rate)
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

    @Test func growthIsWhatTheConnectionHasLeft() {
        var window = StreamWindow(100)
        let now = Instant(nanoseconds: 0)
        #expect(window.recordTaken(99, at: now, isCaughtUp: true, growthLimit: 1_000) == 0)
        #expect(window.recordTaken(1, at: now, isCaughtUp: true, growthLimit: 30) == 30)
        #expect(window.size == 130)
        #expect(window.recordTaken(130, at: now, isCaughtUp: false, growthLimit: 1_000) == 0)
        #expect(window.recordTaken(1, at: now, isCaughtUp: true, growthLimit: -5) == 0)
        #expect(window.recordTaken(130, at: now, isCaughtUp: true, growthLimit: 1_000) == 130)
        #expect(window.size == 260)
    }
}
