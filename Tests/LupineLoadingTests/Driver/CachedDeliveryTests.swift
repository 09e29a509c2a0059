// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

struct CachedDeliveryTests {
    static let length = 150_000

    static func delivery(_ data: Data = Data(repeating: 1, count: length)) throws -> CachedDelivery {
        let request = try DriverLoad.request()
        let response = try RedirectRuleTests.response(200, to: nil, from: request.url)
        let entry = CacheEntry(
            response: CachedURLResponse(response: response, data: data), for: request, requestTime: Date(),
            responseTime: Date())
        return CachedDelivery(entry, for: request, authorization: nil)
    }

    @Test("[U-12.15] the content comes in pieces of at most 64 KiB")
    func pieces() throws {
        let (delivery, client) = (try Self.delivery(), RecordingClient())
        #expect(delivery.metrics(until: Date()) == nil)
        #expect(delivery.deliver(to: client) { true } == .complete)
        #expect(client.log == ["sends", "response 200", "data", "data", "data"])
        #expect(client.notes.pieces == [65536, 65536, 18928])
        #expect(delivery.metrics(until: Date())?.bodyBytesAfterDecoding == Int64(Self.length))
    }

    @Test("a response without content")
    func empty() throws {
        let client = RecordingClient()
        #expect(try Self.delivery(Data()).deliver(to: client) { true } == .complete)
        #expect(client.log == ["sends", "response 200"])
    }

    @Test("[U-12.15] the client pauses after the response and after each piece")
    func pauses() throws {
        let answers = RecordingClient.Answers(plan: { _ in .pause }, received: { _ in .pause })
        let (delivery, client) = (try Self.delivery(), RecordingClient(answers))
        for pieces in 0...3 {
            #expect(delivery.deliver(to: client) { true } == .incomplete)
            // Without `resume` the delivery does not continue.
            #expect(delivery.deliver(to: client) { true } == .incomplete)
            #expect(client.notes.pieces.count == pieces)
            delivery.resume()
        }
        #expect(delivery.deliver(to: client) { true } == .complete)
        #expect(client.log.filter { $0 == "response 200" }.count == 1)
    }

    @Test("the client wants no content, or no more of it")
    func enough() throws {
        for (answers, pieces) in [
            (RecordingClient.Answers(plan: { _ in .skip }), 0),
            (RecordingClient.Answers(received: { _ in .enough }), 1),
        ] {
            let client = RecordingClient(answers)
            #expect(try Self.delivery().deliver(to: client) { true } == .complete)
            #expect(client.notes.pieces.count == pieces)
        }
    }

    @Test("nothing is delivered while the load must not continue")
    func stops() throws {
        let (delivery, client) = (try Self.delivery(), RecordingClient())
        var allowed = 2
        let progress = delivery.deliver(to: client) {
            allowed -= 1
            return allowed >= 0
        }
        #expect(progress == .incomplete)
        #expect(client.notes.pieces.count == 2)
        #expect(delivery.deliver(to: client) { true } == .complete)
        #expect(client.notes.data.count == Self.length)
    }
}
