// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import Testing

/// Tests of the order of a message's parts, and of its content length (RFC 9113 §8.1).
@Suite struct MessageReaderTests {
    enum Step {
        /// A header list with this status, or a request with this method.
        case head(String, length: String? = nil, ends: Bool = false)
        case trailers(ends: Bool = true)
        case content(Int)
        case end
    }

    struct Row: CustomTestStringConvertible {
        let title: String
        let kind: MessageReader.Kind
        let steps: [Step]
        /// The error of the last step.
        let error: MessageError?
        var testDescription: String { title }

        init(
            _ title: String, of kind: MessageReader.Kind = .response(to: .get), _ steps: [Step],
            _ error: MessageError? = nil
        ) { (self.title, self.kind, self.steps, self.error) = (title, kind, steps, error) }
    }

    static let rows: [Row] = [
        Row("only a head", [.head("200", ends: true)]),
        Row("a head and content", [.head("200"), .content(3), .content(0), .content(4), .end]),
        Row("a head and trailers", [.head("200"), .trailers()]),
        Row("all parts", [.head("100"), .head("103"), .head("200"), .content(3), .trailers()]),
        Row("content of the announced length", [.head("200", length: "7"), .content(3), .content(4), .end]),
        Row("a content length of zero without content", [.head("200", length: "0", ends: true)]),
        Row("a request without content", of: .request, [.head("GET", ends: true)]),
        Row("a request with content", of: .request, [.head("POST", length: "2"), .content(2), .trailers()]),
        Row("a tunnel", of: .response(to: .connect), [.head("200", length: "7"), .content(100), .end]),
        Row("a refused tunnel", of: .response(to: .connect), [.head("403", length: "2"), .content(2), .end]),
        Row("a request for a tunnel", of: .request, [.head("CONNECT"), .content(9), .end]),
        Row(
            "[H-8.3] a response to HEAD may announce content", of: .response(to: .head),
            [.head("200", length: "7", ends: true)]),
        Row("[H-8.3] 304 may announce content", [.head("304", length: "7"), .content(0), .end]),
        Row(
            "content in a response to HEAD", of: .response(to: .head), [.head("200"), .content(1)],
            .unexpectedContent),
        Row("content with 204", [.head("204"), .content(1)], .unexpectedContent),
        Row("content with 304", [.head("304", length: "1"), .content(1)], .unexpectedContent),
        Row(
            "[H-8.3] too much content", [.head("200", length: "7"), .content(7), .content(1)],
            .contentLengthMismatch(announced: 7, received: 8)),
        Row(
            "[H-8.3] too little content", [.head("200", length: "7"), .content(6), .end],
            .contentLengthMismatch(announced: 7, received: 6)),
        Row(
            "too little content in front of trailers", [.head("200", length: "7"), .content(6), .trailers()],
            .contentLengthMismatch(announced: 7, received: 6)),
        Row(
            "no content although some was announced", of: .request, [.head("POST", length: "7", ends: true)],
            .contentLengthMismatch(announced: 7, received: 0)),
        Row("a malformed content length", [.head("200", length: "x")], .invalidContentLength(Excerpt("x"))),
        Row(
            "[H-8.1] trailers that do not end", [.head("200"), .trailers(ends: false)],
            .trailersWithoutEnd),
        Row("a second head", [.head("200"), .head("200")], .trailersWithoutEnd),
        Row(
            "a second head that ends", [.head("200"), .head("200", ends: true)],
            .unexpectedPseudoField(Excerpt(":status"))),
        Row("[H-8.1] an interim head that ends", [.head("100", ends: true)], .interimEndsStream),
        Row("[H-8.16] 101", [.head("101")], .switchingProtocols),
        Row("content before a head", [.content(1)], .misplacedContent),
        Row("content after an interim head", [.head("100"), .content(1)], .misplacedContent),
        Row("content after the end", [.head("200", ends: true), .content(1)], .misplacedContent),
        Row("an end after an interim head", [.head("100"), .end], .endWithoutHead),
        Row(
            "[H-8.11] trailers of a tunnel", of: .response(to: .connect), [.head("200"), .trailers()],
            .misplacedHeaders),
        Row("a head after the end", [.head("200", ends: true), .head("200")], .misplacedHeaders),
        Row(
            "as many interim heads as the limit allows",
            (0..<32).map { _ in .head("103") } + [.head("200", ends: true)]),
        Row(
            "one interim head too many", (0..<33).map { _ in .head("103") }, .tooManyInterimHeads(allowed: 32)
        ),
    ]

    @Test(arguments: rows) func partsAreRead(_ row: Row) {
        var reader = MessageReader(row.kind)
        var error: MessageError?
        for step in row.steps {
            #expect(error == nil)
            do throws(MessageError) { try Self.perform(step, row.kind, &reader) } catch let thrown {
                error = thrown
            }
        }
        #expect(error == row.error)
    }

    private static func perform(
        _ step: Step, _ kind: MessageReader.Kind, _ reader: inout MessageReader
    ) throws(MessageError) {
        switch step {
        case .head(let name, let length, let ends):
            var list = HeaderList()
            if kind == .request {
                list.append(":method", name)
                if name != "CONNECT" {
                    list.append(":scheme", "https")
                    list.append(":path", "/")
                }
                list.append(":authority", "a:1")
            } else {
                list.append(":status", name)
            }
            if let length { list.append("content-length", length) }
            let part = try reader.readHeaders(list, endsStream: ends)
            switch part {
            case .request(let request): #expect(request.head.method.rawValue == name)
            case .interim(let head): #expect(head.status.description == name && name < "200")
            case .response(let head): #expect(head.status.description == name && name >= "200")
            case .trailers: Issue.record("a head was read as trailers")
            }
        case .trailers(let ends):
            var list = HeaderList()
            list.append("a", "b")
            guard case .trailers(let fields) = try reader.readHeaders(list, endsStream: ends) else {
                Issue.record("trailers were read as a head")
                return
            }
            #expect(fields.count == 1)
        case .content(let count): try reader.readContent(count)
        case .end: try reader.end()
        }
    }
}
