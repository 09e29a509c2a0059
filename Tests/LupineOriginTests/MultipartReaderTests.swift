// SPDX-License-Identifier: MIT

import LupineHTTP
import Testing

@testable import LupineOrigin

@Suite struct MultipartReaderTests {
    private func reader() throws -> MultipartReader {
        var fields = Fields()
        try fields.append(.contentType, "multipart/form-data; boundary=\"b--b\"")
        return try #require(MultipartReader(contentType: fields))
    }

    private func log(_ pieces: [ArraySlice<UInt8>]) throws -> (log: String, isComplete: Bool) {
        var reader = try reader()
        var log = ""
        for piece in pieces {
            try reader.read(piece.span) { event throws(Refusal) in
                switch event {
                case .partHead(let fields): log += "<\(PartDescription(fields).name):"
                case .content(let bytes): log += String(decoding: bytes, as: UTF8.self)
                case .partEnd: log += ">"
                }
            }
        }
        return (log, reader.isComplete)
    }

    private static let form = Array(
        ("preamble\r\n--b--b \r\nContent-Disposition: form-data; name=\"one\"\r\n\r\n\r\n--b--\r\nx\r\n"
            + "--b--b\r\n\r\n\r\n--b--b\r\nContent-Disposition: form-data; name=two\r\n\r\nlast\r\n--b--b--\r\nafter")
            .utf8)

    @Test func everyCutGivesTheSameParts() throws {
        let expected = "<one:\r\n--b--\r\nx><:><two:last>"
        for cut in 0...Self.form.count {
            let (log, isComplete) = try log([Self.form[..<cut], Self.form[cut...]])
            #expect(log == expected, "cut at \(cut)")
            #expect(isComplete)
        }
        let (log, isComplete) = try log(Self.form.indices.map { Self.form[$0...$0] })
        #expect(log == expected)
        #expect(isComplete)
    }

    @Test func anOpenFormIsNotComplete() throws {
        #expect(try !log([Self.form.dropLast(10)]).isComplete)
    }

    @Test(arguments: [
        "--b--bx\r\n\r\n", "--b--b\r\nno colon\r\n\r\n",
        "--b--b\r\nA: \(String(repeating: "x", count: 20_000))",
    ])
    func formsThatAreNone(_ text: String) {
        #expect(throws: Refusal.self) { _ = try log([Array(text.utf8)[...]]) }
    }
}
