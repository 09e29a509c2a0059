// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineOrigin
import Testing

/// Answers that one reader ends here and another there: through the whole stack, as a program sees them.
///
/// Whatever the first answer was, the request behind it gets its own answer, on another connection: nothing that came
/// unasked for is ever taken for a response.
@Suite struct SplittingTests {
    /// What comes on connections: the answer first, once for all; then whoever asks is told which connection it is.
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

    /// Those that are taken are left out: behind a message that has ended well, bytes that come later may come behind the next
    /// request too, and nobody can tell them from its answer.
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
