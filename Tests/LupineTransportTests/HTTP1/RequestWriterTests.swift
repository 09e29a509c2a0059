// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTransport

@Suite struct RequestWriterTests {
    /// Returns the name of the next step.
    private func step(_ writer: inout RequestWriter) -> String {
        switch writer.next() {
        case .framing: "framing"
        case .bytes(let bytes, let from): "bytes \(from)..<\(bytes.count)"
        case .region: "region"
        case .file: "file"
        case .stream: "stream"
        case .nothing: "nothing"
        case .end(let isFramed): isFramed ? "end" : "end to be framed"
        }
    }

    /// A source that never answers.
    private final class SilentSource: ContentSource {
        let isReplayable = false
        func next(_ reply: @escaping @Sendable (ContentPiece) -> Void) {}
        func rewind() -> Bool { false }
        func rewind(_ ready: @escaping @Sendable (Bool) -> Void) { ready(false) }
        func abandon() {}
    }

    /// Appends to the output, as the codec does.
    private func append(_ count: Int, to writer: inout RequestWriter) {
        var output = writer.takeOutput()
        output += [UInt8](repeating: 0, count: count)
        writer.putBack(output: &output)
    }

    @Test func aHeadWithoutContentIsTheWholeRequest() {
        var writer = RequestWriter()
        append(3, to: &writer)
        writer.begin(hasContent: false, rate: nil)
        #expect(step(&writer) == "framing")
        #expect(!writer.hasBegun)
        #expect(writer.recordSent(2) == 0)
        #expect(step(&writer) == "framing")
        #expect(writer.hasBegun && writer.waitingOctets == 1)
        #expect(writer.recordSent(1) == 0)
        #expect(step(&writer) == "end")
    }

    @Test func contentFollowsTheHeadAndThenTheEnd() {
        var writer = RequestWriter()
        append(3, to: &writer)
        writer.begin(hasContent: true, rate: nil)
        #expect(writer.add(.bytes([1, 2, 3, 4])) == 4)
        #expect(step(&writer) == "bytes 0..<4")
        #expect(writer.recordSent(5) == 2)
        #expect(step(&writer) == "bytes 2..<4")
        #expect(writer.recordSent(2) == 2)
        #expect(writer.contentOctetsSent == 4)
        #expect(step(&writer) == "end to be framed")
        writer.addEnd()
        #expect(step(&writer) == "end")
    }

    @Test(arguments: [nil, 4]) func aSourceIsAskedUntilTheAnnouncedLength(_ length: Int64?) {
        let source = SilentSource()
        var writer = RequestWriter()
        append(3, to: &writer)
        writer.begin(hasContent: true, rate: nil)
        #expect(writer.add(.stream(source, length: length)) == nil)
        _ = writer.recordSent(3)
        for _ in 0..<2 {
            #expect(step(&writer) == "stream")
            #expect(writer.ask(source) == true)
            #expect(writer.askedSource === source)
            #expect(step(&writer) == "nothing")
            writer.add([1, 2], from: source)
            #expect(step(&writer) == "bytes 0..<2")
            #expect(writer.recordSent(2) == 2)
        }
        #expect(step(&writer) == "stream")
        // Without an announced length, only the source knows the end.
        #expect(writer.ask(source) == (length == nil))
        #expect(step(&writer) == (length == nil ? "nothing" : "end to be framed"))
    }

    @Test func anUnfinishedRequestLeavesNothingToTheNext() {
        var writer = RequestWriter()
        append(3, to: &writer)
        writer.begin(hasContent: true, rate: RateLimit(rate: 1, at: .distantFuture))
        _ = writer.add(.bytes([1, 2, 3, 4]))
        _ = writer.recordSent(5)
        writer.clear()
        append(2, to: &writer)
        writer.begin(hasContent: false, rate: nil)
        #expect(!writer.hasBegun && !writer.isLimited && writer.contentOctetsSent == 0)
        #expect(step(&writer) == "framing")
        #expect(writer.waitingOctets == 2)
        _ = writer.recordSent(2)
        #expect(step(&writer) == "end")
    }
}
