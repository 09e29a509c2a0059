// SPDX-License-Identifier: MIT

import Foundation
import LupineTestKit
import Testing

/// Tests of every document in `Wire/`: its octets arrive at once, in two parts, or one by one.
@Suite struct WireTests {
    /// The cases of all documents. The server's codec reads `request-*.http`, the client's `response-*.http`.
    static let rows: [WireCase] = {
        do {
            let folder = try #require(Bundle.module.url(forResource: "Wire", withExtension: nil))
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            return try files.flatMap { file in
                try WireCase.cases(
                    in: String(contentsOf: folder.appending(path: file), encoding: .utf8),
                    document: file, side: file.hasPrefix("request-") ? .server : .client)
            }
        } catch {
            Issue.record("the documents cannot be read: \(error)")
            return []
        }
    }()

    @Test func caseNamesAreUnique() {
        let names = Self.rows.map(\.description)
        #expect(names.count >= 220)
        #expect(Set(names).count == names.count)
        #expect(Self.rows.allSatisfy { !$0.expected.isEmpty || $0.bytes.isEmpty })
    }

    @Test(arguments: rows) func whole(_ row: WireCase) {
        expect(WireReplay.log(row, row.bytes, cuts: []), row.expected, "whole")
    }

    @Test(arguments: rows) func cutAtEveryByte(_ row: WireCase) {
        for cut in 0...row.bytes.count {
            let log = WireReplay.log(row, row.bytes, cuts: [cut])
            guard log == row.expected else { return expect(log, row.expected, "cut at \(cut)") }
        }
    }

    @Test(arguments: rows) func byteByByte(_ row: WireCase) {
        expect(WireReplay.log(row, row.bytes, cuts: Array(0..<row.bytes.count)), row.expected, "byte by byte")
    }

    @Test(arguments: rows) func trailingBytesAreNotConsumed(_ row: WireCase) {
        let trailing = Array("NEXT / HTTP/1.1\r\n\r\n".utf8)
        guard let expected = WireReplay.expected(row, with: trailing) else { return }
        let bytes = row.bytes + trailing
        expect(WireReplay.log(row, bytes, cuts: []), expected, "whole")
        expect(WireReplay.log(row, bytes, cuts: Array(0..<bytes.count)), expected, "byte by byte")
    }

    private func expect(_ log: [String], _ expected: [String], _ way: String) {
        let got = log.joined(separator: "\n")
        #expect(log == expected, "\(way), the log is\n\(got)")
    }
}
