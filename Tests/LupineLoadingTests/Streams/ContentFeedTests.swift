// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import LupineLoading

struct ContentFeedTests {
    /// A counter, used only on the thread of the test.
    private final class Count: @unchecked Sendable {
        var value = 0
    }

    private static func read(_ stream: InputStream, _ count: Int) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: count)
        let count = unsafe stream.read(&buffer, maxLength: count)
        return count < 0 ? nil : Array(buffer.prefix(count))
    }

    @Test("all appended bytes can be read, and the writer is notified when there is room")
    func marks() {
        let made = Count()
        let feed = ContentFeed(capacity: 4) { made.value += 1 }
        let stream = feed.makeStream()
        stream.open()
        made.value = 0
        feed.put(Data([1, 2, 3]))
        #expect(!feed.isFull)
        feed.put(Data([4, 5, 6, 7]))
        #expect(feed.isFull)
        #expect(Self.read(stream, 3) == [1, 2, 3] && feed.isFull && made.value == 0)
        #expect(Self.read(stream, 1) == [4] && !feed.isFull && made.value == 1)
        #expect(Self.read(stream, 1) == [5] && made.value == 1)
        feed.end()
        #expect(Self.read(stream, 9) == [6, 7] && stream.streamStatus == .atEnd)
        #expect(Self.read(stream, 9) == [])
    }

    @Test("a closed or released stream accepts no bytes", arguments: [true, false])
    func closed(isClosed: Bool) {
        let made = Count()
        let feed = ContentFeed(capacity: 1) { made.value += 1 }
        var stream: InputStream? = feed.makeStream()
        feed.put(Data([1]))
        #expect(feed.isFull)
        if isClosed { stream?.close() } else { stream = nil }
        #expect(!feed.isFull && made.value == 1)
        feed.put(Data([2]))
        #expect(!feed.isFull)
        _ = stream
    }

    @Test("releasing a feed ends its stream")
    func gone() {
        var feed: ContentFeed? = ContentFeed(capacity: 4) {}
        let stream = feed?.makeStream()
        stream?.open()
        feed?.put(Data([1]))
        feed = nil
        #expect(stream.flatMap { Self.read($0, 9) } == [1])
        #expect(stream.flatMap { Self.read($0, 9) } == [])
    }
}
