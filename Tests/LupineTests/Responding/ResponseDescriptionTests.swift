// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Lupine

struct ResponseDescriptionTests {
    private func response(
        _ evidence: ResponseEvidence = ResponseEvidence(),
        _ result: AFResult<String> = .success("one\ntwo\n")
    ) -> AFDataResponse<String> {
        AFDataResponse<String>(
            request: evidence.request, response: evidence.response, data: evidence.data,
            metrics: evidence.metrics, serializationDuration: 0.001, result: result)
    }

    private func download(
        _ evidence: ResponseEvidence = ResponseEvidence(), _ result: AFResult<String> = .success("a")
    ) -> AFDownloadResponse<String> {
        AFDownloadResponse<String>(
            request: evidence.request, response: evidence.response, fileURL: evidence.fileURL,
            resumeData: evidence.data, metrics: evidence.metrics, serializationDuration: 0.001, result: result
        )
    }

    private func lines(_ response: some CustomDebugStringConvertible) -> [String] {
        response.debugDescription.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// Returns the lines of a block, without the block's indentation. The first line is its name.
    private func block(_ name: String, below head: String, in lines: [String]) -> [String] {
        let rest = lines.drop { !$0.hasPrefix("[\(head)]") }.dropFirst()
        let block = rest.prefix { $0.hasPrefix(" ") }.drop { !$0.hasPrefix("    [\(name)]") }
        guard let first = block.first else { return [] }
        return ([first] + block.dropFirst().prefix { $0.hasPrefix("        ") }).map {
            String($0.dropFirst(4))
        }
    }

    // MARK: description

    @Test("[V-5.3] the description is the result")
    func description() {
        #expect(response(ResponseEvidence(), .success("a")).description == "success(\"a\")")
        #expect("\(download())" == "success(\"a\")")
        #expect(
            response(ResponseEvidence(), .failure(.explicitlyCancelled)).description
                == "failure(Lupine.AFError.explicitlyCancelled)")
        #expect(
            download(ResponseEvidence(), .failure(.explicitlyCancelled)).description
                == "failure(Lupine.AFError.explicitlyCancelled)")
        let empty = AFDataResponse<Data?>(
            request: nil, response: nil, data: nil, metrics: nil, serializationDuration: 0,
            result: .success(nil))
        #expect(empty.description == "success(nil)")
    }

    // MARK: debug description

    @Test("[V-5.4] without a request there are two lines")
    func withoutRequest() {
        var evidence = ResponseEvidence()
        evidence.request = nil
        #expect(
            response(evidence, .success("a")).debugDescription
                == "[Request]: None\n[Result]: success(\"a\")")
        #expect(download(evidence).debugDescription == "[Request]: None\n[Result]: success(\"a\")")
    }

    @Test("[V-5.5] the debug description shows the request, the response, the durations and the result")
    func whole() {
        let text = #"""
            [Request]: POST http://h.test/x
                [Headers]:
                    accept: a/b
                    Content-Type: application/json
                [Body]:
                    {
                      "k": 1
                    }
            [Response]:
                [Status Code]: 200
                [Headers]:
                    Content-Type: text/plain
                    X-Id: 7
                [Body]:
                    one
                    two
            [Network Duration]: 0.25s
            [Serialization Duration]: 0.001s
            [Result]: success("one\ntwo\n")
            """#
        #expect(response().debugDescription == text)
    }

    @Test("[V-5.6] the first line has the method and the URL, and the headers are sorted")
    func headers() {
        let bare = ResponseEvidence(method: "PURGE", headers: [:], answered: [:])
        #expect(lines(response(bare)).first == "[Request]: PURGE http://h.test/x")
        #expect(block("Headers", below: "Request", in: lines(response(bare))) == ["[Headers]: None"])
        #expect(block("Headers", below: "Response", in: lines(response(bare))) == ["[Headers]: None"])
        let many = ResponseEvidence(headers: ["b": "1", "C": "2", "A": "3"])
        #expect(
            block("Headers", below: "Request", in: lines(response(many)))
                == ["[Headers]:", "    A: 3", "    b: 1", "    C: 2"])
    }

    struct Body: Sendable, CustomTestStringConvertible {
        var name: String
        var type: String? = "text/plain"
        var body: Data?
        var shown: [String]

        var testDescription: String { name }
    }

    static let bodies = [
        Body(name: "nil", body: nil, shown: ["[Body]: None"]),
        Body(name: "empty", body: Data(), shown: ["[Body]: None"]),
        Body(name: "text", body: Data("a".utf8), shown: ["[Body]:", "    a"]),
        Body(
            name: "json", type: "application/problem+json", body: Data("a".utf8), shown: ["[Body]:", "    a"]),
        Body(
            name: "xml", type: "application/atom+xml; charset=x", body: Data("a".utf8),
            shown: ["[Body]:", "    a"]),
        Body(name: "upper case", type: "TEXT/PLAIN", body: Data("a".utf8), shown: ["[Body]: 1 bytes"]),
        Body(name: "other type", type: "image/png", body: Data("abc".utf8), shown: ["[Body]: 3 bytes"]),
        Body(name: "no type", type: nil, body: Data("abc".utf8), shown: ["[Body]: 3 bytes"]),
        Body(name: "not UTF-8", body: Data([0x61, 0xFF, 0x62]), shown: ["[Body]:", "    a\u{FFFD}b"]),
        Body(
            name: "white space around several lines", body: Data(" \t\r\n a\n\n  b\r\nc \n\n".utf8),
            shown: ["[Body]:", "    a", "    ", "      b", "    c"]),
        Body(
            name: "at the maximum size", body: Data(repeating: 0x61, count: 100_000),
            shown: ["[Body]:", "    " + String(repeating: "a", count: 100_000)]),
        Body(
            name: "above the maximum size", body: Data(repeating: 0x61, count: 100_001),
            shown: ["[Body]: 100001 bytes"]),
    ]

    @Test("[V-5.7, V-12.11] a short text body is shown, any other only by its size", arguments: bodies)
    func body(_ row: Body) {
        let headers = row.type.map { ["content-type": $0] } ?? [:]
        let asked = ResponseEvidence(
            headers: headers, body: row.body, answered: ["Content-Type": "text/plain"])
        #expect(block("Body", below: "Request", in: lines(response(asked))) == row.shown)
        #expect(block("Body", below: "Request", in: lines(download(asked))) == row.shown)
        var answered = ResponseEvidence(answered: headers)
        answered.data = row.body
        #expect(block("Body", below: "Response", in: lines(response(answered))) == row.shown)
    }

    @Test("[V-5.8] missing parts are shown as None")
    func absent() {
        var evidence = ResponseEvidence()
        evidence.response = nil
        evidence.metrics = nil
        #expect(
            lines(response(evidence, .failure(.sessionDeinitialized))).suffix(4) == [
                "[Response]: None", "[Network Duration]: None", "[Serialization Duration]: 0.001s",
                "[Result]: failure(Lupine.AFError.sessionDeinitialized)",
            ])
    }

    @Test("[V-5.9] a download shows the URL of its file in place of the content")
    func downloads() {
        let expected = [
            "[Response]:", "    [Status Code]: 200", "    [Headers]:", "        Content-Type: text/plain",
            "        X-Id: 7", "[File URL]: /tmp/a folder/file.txt", "[Resume Data]: 8 bytes",
            "[Network Duration]: 0.25s", "[Serialization Duration]: 0.001s", "[Result]: success(\"a\")",
        ]
        #expect(lines(download()).suffix(expected.count) == expected[...])
        var bare = ResponseEvidence()
        (bare.response, bare.fileURL, bare.data, bare.metrics) = (nil, nil, nil, nil)
        #expect(
            lines(download(bare)).suffix(6) == [
                "[Response]: None", "[File URL]: None", "[Resume Data]: None", "[Network Duration]: None",
                "[Serialization Duration]: 0.001s", "[Result]: success(\"a\")",
            ])
    }
}
