// SPDX-License-Identifier: MIT

import LupineHTTP
import Testing

@testable import LupineTransport

@Suite struct ResponseReaderTests {
    /// Returns a reader of a response with that framing.
    private func reader(_ framing: BodyFraming, keepsAlive: Bool = true) -> ResponseReader {
        var reader = ResponseReader()
        reader.begin(rate: nil)
        reader.recordHead(framing, keepsAlive: keepsAlive, KeepAlive())
        return reader
    }

    @Test(arguments: [
        (BodyFraming.none, true), (.length(65_536), true), (.length(65_537), false), (.chunked, true),
        (.untilClose, false),
    ])
    func aShortRemainderIsWorthReading(_ framing: BodyFraming, _ isShort: Bool) {
        var kept = reader(framing)
        #expect(kept.skipRemainder() == isShort)
        var closing = reader(framing, keepsAlive: false)
        #expect(closing.skipRemainder() == false)
    }

    @Test func receivedContentShortensTheRemainder() {
        var reader = reader(.length(100_000))
        reader.recordContent(40_000)
        #expect(reader.contentRemaining == 60_000)
        #expect(reader.skipRemainder() == true)
    }

    @Test func noMoreIsDiscardedThanTheLimit() {
        var reader = reader(.chunked)
        #expect(reader.skipRemainder() == true)
        #expect(reader.discard(65_536) == true)
        #expect(reader.discard(1) == false)
    }

    @Test func onlyOctetsUntilTheFinalHeadBelongToHeads() {
        var reader = ResponseReader()
        reader.begin(rate: nil)
        reader.recordConsumed(10)
        reader.recordConsumed(20)
        reader.recordHead(.chunked, keepsAlive: true, KeepAlive())
        reader.recordConsumed(40)
        #expect(reader.headOctets == 30)
    }

    @Test func storedInputIsTakenOnce() {
        var reader = ResponseReader()
        var input: [UInt8] = [1, 2]
        reader.store(&input)
        #expect(!reader.hasHandledAll)
        #expect(reader.takeStored() == [1, 2])
        #expect(reader.hasHandledAll)
        #expect(reader.takeStored() == [])
    }

    @Test func aReaderThatBeginsAgainIsNew() {
        var reader = reader(.length(5), keepsAlive: false)
        reader.recordConsumed(1)
        reader.endExchange()
        reader.begin(rate: RateLimit(rate: 1, at: .distantFuture))
        #expect(reader.isLimited && reader.headOctets == 0 && reader.contentRemaining == nil)
        #expect(reader.framing == .none)
        #expect(reader.skipRemainder() == true)
    }
}
