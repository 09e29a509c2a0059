// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineOrigin
import Testing

/// Responses that parsers could end at different places, received by the whole library.
///
/// Whatever the first response was, the next request gets its own response on another connection: unsolicited bytes are never
/// taken for a response.
@Suite struct SplittingTests {
    /// Returns a script: the first connection sends `answer`, then a response with the content `reused`; all others send `clean`.
    private static func plan(_ answer: [UInt8], byteByByte: Bool) -> ScriptPlan {
        ScriptPlan([
            Script([.expectHead, byteByByte ? .sendByteByByte(answer) : .send(answer)] + response("reused")),
            Script(response("clean")),
        ])
    }

    private static func response(_ content: String) -> [Script.Step] {
        [.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: \(content.utf8.count)\r\n\r\n\(content)")]
    }

    @Test(
        "each attack is refused or parsed in the only safe way, and the next request gets its own response",
        arguments: SplittingCase.all)
    func whole(_ row: SplittingCase) async throws {
        try await attack(row, byteByByte: false)
    }

    /// Omits the cases that are delivered: bytes that arrive after a complete message may also arrive after the next request, and
    /// then cannot be distinguished from its response.
    @Test(
        "a refused response is also refused if it arrives byte by byte",
        arguments: SplittingCase.all.filter { $0.isRefused && $0.answer.count < 2_000 })
    func byteByByte(_ row: SplittingCase) async throws {
        try await attack(row, byteByByte: true)
    }

    private func attack(_ row: SplittingCase, byteByByte: Bool) async throws {
        try await HostileStage.with(Self.plan(row.answer, byteByByte: byteByByte)) { stage in
            let first = await stage.session.request(stage.url("/first"), method: .init(rawValue: row.method))
                .answered()
            switch row.expectation {
            case .refused(let reason):
                #expect(first.error?.httpError == reason, "\(String(describing: first))")
            case .delivered(let content):
                #expect(first.error == nil)
                #expect(String(decoding: first.data ?? Data(), as: UTF8.self) == content)
            }
            let second = await stage.session.request(stage.url("/second")).answered()
            #expect(second.data.map { String(decoding: $0, as: UTF8.self) } == "clean")
            #expect(stage.origin.counts.connectionsAccepted == 2)
        }
    }

    @Test("the names of the rows are unique") func names() {
        #expect(Set(SplittingCase.all.map(\.testDescription)).count == SplittingCase.all.count)
    }
}
