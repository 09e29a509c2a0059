// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineOrigin
import Testing

/// Responses that parsers could end at different places, through the whole stack.
///
/// Whatever the first response was, the next request gets its own response on another connection: unsolicited bytes are never
/// taken for a response.
@Suite struct SplittingTests {
    /// Returns the script: the first connection sends the response once, then `reused`; all others send `clean`.
    private static func plan(_ answer: [UInt8], byteByByte: Bool) -> ScriptPlan {
        ScriptPlan([
            Script([.expectHead, byteByByte ? .sendByteByByte(answer) : .send(answer)] + told("reused")),
            Script(told("clean")),
        ])
    }

    private static func told(_ word: String) -> [Script.Step] {
        [.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: \(word.utf8.count)\r\n\r\n\(word)")]
    }

    @Test(
        "each attack is refused or read in one way, and the next request is answered for itself",
        arguments: SplittingCase.all)
    func attack(_ row: SplittingCase) async throws {
        try await attack(row, byteByByte: false)
    }

    /// Omits the cases that are delivered: bytes that arrive after a complete message may also arrive after the next request, and
    /// then cannot be distinguished from its response.
    @Test(
        "what is refused is refused one byte at a time too",
        arguments: SplittingCase.all.filter { $0.isRefused && $0.answer.count < 2_000 })
    func attackByBytes(_ row: SplittingCase) async throws {
        try await attack(row, byteByByte: true)
    }

    private func attack(_ row: SplittingCase, byteByByte: Bool) async throws {
        try await HostileStage.with(Self.plan(row.answer, byteByByte: byteByByte)) { stage in
            let first = await stage.session.request(stage.url("/first"), method: .init(rawValue: row.method))
                .answered()
            switch row.fate {
            case .refused(let reason):
                #expect(first.error?.httpError == reason, "\(String(describing: first))")
            case .taken(let content):
                #expect(first.error == nil)
                #expect(String(decoding: first.data ?? Data(), as: UTF8.self) == content)
            }
            let second = await stage.session.request(stage.url("/second")).answered()
            #expect(second.data.map { String(decoding: $0, as: UTF8.self) } == "clean")
            #expect(stage.origin.counts.connectionsAccepted == 2)
        }
    }

    @Test("no two rows are named alike") func names() {
        #expect(Set(SplittingCase.all.map(\.testDescription)).count == SplittingCase.all.count)
    }
}
