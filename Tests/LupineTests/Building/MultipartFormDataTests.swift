// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Lupine

@Suite struct MultipartFormDataTests {
    /// The two ways of encoding, which produce the same bytes.
    enum Way: String, CaseIterable, Sendable {
        case memory
        case disk

        func encode(_ form: MultipartFormData) throws -> Data {
            switch self {
            case .memory: return try form.encode()
            case .disk:
                let folder = try FormFolder()
                try form.writeEncodedData(to: folder["form"])
                return try Data(contentsOf: folder["form"])
            }
        }
    }

    private func text(_ form: MultipartFormData, _ way: Way = .memory) throws -> String {
        String(decoding: try way.encode(form), as: UTF8.self)
    }

    private func stream(_ text: String) -> InputStream { InputStream(data: Data(text.utf8)) }

    @Test("[E-7.2.1] the random boundary")
    func boundary() {
        var seen: Set<String> = []
        for _ in 0..<200 {
            let form = MultipartFormData()
            #expect(form.boundary.utf8.count == 35 && form.boundary.hasPrefix("alamofire.boundary."))
            #expect(form.boundary.utf8.dropFirst(19).allSatisfy { "0123456789abcdef".utf8.contains($0) })
            #expect(form.contentType == "multipart/form-data; boundary=\(form.boundary)")
            seen.insert(form.boundary)
        }
        #expect(seen.count == 200)
        let chosen = MultipartFormData(boundary: "my own")
        #expect(chosen.boundary == "my own")
        chosen.contentType = "multipart/mixed"
        #expect(chosen.contentType == "multipart/mixed")
        #expect(MultipartFormData.encodingMemoryThreshold == 10_000_000)
    }

    @Test("[E-7.2.2] the headers of a part", arguments: Way.allCases)
    func headers(way: Way) throws {
        let folder = try FormFolder()
        let file = try folder.file("a.txt", "f".utf8)
        let form = MultipartFormData(boundary: "B")
        form.append(Data("1".utf8), withName: "one")
        form.append(Data("2".utf8), withName: "two", mimeType: "text/x")
        form.append(Data("3".utf8), withName: "three", fileName: "c")
        form.append(file, withName: "four")
        form.append(file, withName: "five", fileName: "übung.md", mimeType: "text/markdown")
        form.append(stream("6"), withLength: 1, name: "six", fileName: "s", mimeType: "a/b")
        form.append(stream("7"), withLength: 1, headers: ["X-B": "2", "X-A": "1"])
        let disposition = "\r\nContent-Disposition: form-data; name="
        #expect(
            try text(form, way)
                == "--B\(disposition)\"one\"\r\n\r\n1"
                + "\r\n--B\(disposition)\"two\"\r\nContent-Type: text/x\r\n\r\n2"
                + "\r\n--B\(disposition)\"three\"; filename=\"c\"\r\n\r\n3"
                + "\r\n--B\(disposition)\"four\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nf"
                + "\r\n--B\(disposition)\"five\"; filename=\"übung.md\"\r\nContent-Type: text/markdown\r\n\r\nf"
                + "\r\n--B\(disposition)\"six\"; filename=\"s\"\r\nContent-Type: a/b\r\n\r\n6"
                + "\r\n--B\r\nX-B: 2\r\nX-A: 1\r\n\r\n7\r\n--B--\r\n")
    }

    @Test(
        "[E-7.2.2] names are escaped as browsers do, so that none can end its line or its quotes",
        arguments: [
            ("plain", "plain"), ("a\"b", "a%22b"), ("a\r\nb", "a%0D%0Ab"), ("a\nb", "a%0Ab"),
            ("a\rb", "a%0Db"),
            ("日本 ü👍", "日本 ü👍"), ("a\\b", "a\\b"), ("a%22b", "a%22b"), ("", ""), ("a;b=c", "a;b=c"),
            ("x\"\r\nContent-Type: text/html\r\n\r\n<b>", "x%22%0D%0AContent-Type: text/html%0D%0A%0D%0A<b>"),
            ("e\u{301}\r\n\u{301}", "e\u{301}%0D%0A\u{301}"), ("\"\u{301}", "%22\u{301}"),
        ])
    func hostileNames(name: String, written: String) throws {
        let form = MultipartFormData(boundary: "B")
        form.append(Data(), withName: name, fileName: name)
        // Compared as bytes: equal strings can have different bytes.
        #expect(
            try Array(form.encode())
                == Array(
                    "--B\r\nContent-Disposition: form-data; name=\"\(written)\"; filename=\"\(written)\"\r\n\r\n\r\n--B--\r\n"
                        .utf8))
    }

    @Test("media types and headers of a part cannot add lines")
    func hostileHeaders() throws {
        let form = MultipartFormData(boundary: "B")
        form.append(Data(), withName: "a", mimeType: "text/plain\r\nX-Evil: 1\n\n\0<b>")
        form.append(
            stream(""), withLength: 0, headers: HTTPHeaders([HTTPHeader(name: "X\r\nY", value: "1\r\n\r\nb")])
        )
        #expect(
            try text(form)
                == "--B\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: text/plain  X-Evil: 1   <b>"
                + "\r\n\r\n\r\n--B\r\nX  Y: 1    b\r\n\r\n\r\n--B--\r\n")
    }

    @Test("[E-7.2.3] the number of bytes of boundaries and headers", arguments: Way.allCases)
    func framing(way: Way) throws {
        for count in 1...5 {
            for length in [1, 35, 70] {
                let form = MultipartFormData(boundary: String(repeating: "b", count: length))
                for _ in 0..<count { form.append(stream("xyz"), withLength: 3, headers: [:]) }
                // Each part has three bytes and the empty line after its headers.
                #expect(
                    try way.encode(form).count == (count + 1) * length + 6 * count + 6 + 5 * count
                )
            }
        }
    }

    @Test("[E-7.2.4] a form without parts is empty", arguments: Way.allCases)
    func noParts(way: Way) throws {
        #expect(try way.encode(MultipartFormData()).isEmpty)
        #expect(MultipartFormData().contentLength == 0)
    }

    @Test("[E-7.2.5] the complete example", arguments: Way.allCases)
    func example(way: Way) throws {
        let form = MultipartFormData(boundary: "XX")
        form.append(Data("42".utf8), withName: "id")
        form.append(Data("hi".utf8), withName: "doc", fileName: "a.txt", mimeType: "text/plain")
        let encoded = try way.encode(form)
        #expect(encoded.count == 163 && form.contentLength == 4)
        #expect(
            String(decoding: encoded, as: UTF8.self)
                == "--XX\r\nContent-Disposition: form-data; name=\"id\"\r\n\r\n42\r\n--XX\r\nContent-Disposition: "
                + "form-data; name=\"doc\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nhi\r\n--XX--\r\n"
        )
    }

    @Test("[E-7.2.6] parts remain marked as first and last", arguments: Way.allCases)
    func marks(way: Way) throws {
        let form = MultipartFormData(boundary: "B")
        form.append(stream(""), withLength: 0, headers: ["X": "1"])
        #expect(try text(form) == "--B\r\nX: 1\r\n\r\n\r\n--B--\r\n")
        form.append(stream("2"), withLength: 1, headers: ["X": "2"])
        #expect(
            try text(form, way) == "--B\r\nX: 1\r\n\r\n\r\n--B--\r\n\r\n--B\r\nX: 2\r\n\r\n2\r\n--B--\r\n")
    }

    @Test("[E-7.2.7] each part is read once")
    func once() throws {
        let folder = try FormFolder()
        let file = try folder.file("a.txt", [1, 2, 3])
        for append in [
            { $0.append(Data([1, 2, 3]), withName: "a") }, { $0.append(file, withName: "a") },
            { $0.append(InputStream(data: Data([1, 2, 3])), withLength: 3, headers: [:]) },
        ] as [(MultipartFormData) -> Void] {
            let form = MultipartFormData()
            append(form)
            _ = try form.encode()
            #expect(throws: (any Error).self) { try form.encode() }
            do { _ = try form.encode() } catch { expectLength(error, expected: 3, read: 0) }
        }
        let empty = MultipartFormData(boundary: "B")
        empty.append(Data(), withName: "a")
        #expect(try empty.encode() == empty.encode())
    }

    @Test("the announced length is the sum of the parts, and the maximum if it overflows")
    func contentLength() throws {
        let form = MultipartFormData()
        form.append(Data([1, 2]), withName: "a")
        form.append(stream("abc"), withLength: 40, headers: [:])
        #expect(form.contentLength == 42)
        form.append(stream("abc"), withLength: .max, headers: [:])
        #expect(form.contentLength == .max)
    }

    @Test("content of any size around a chunk is encoded completely", arguments: Way.allCases)
    func sizes(way: Way) throws {
        let folder = try FormFolder()
        let piece = InputStreamReader.maximumChunkSize
        for size in [0, 1, piece - 1, piece, piece + 1, 3 * piece + 7] {
            let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
            let form = MultipartFormData(boundary: "B")
            form.append(try folder.file("\(size).bin", content), withName: "file")
            form.append(InputStream(data: Data(content)), withLength: UInt64(size), headers: [:])
            form.append(Data(content), withName: "data")
            let encoded = try way.encode(form)
            let marks = [
                "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\(size).bin\"\r\n"
                    + "Content-Type: application/octet-stream\r\n\r\n", "\r\n--B\r\n\r\n",
                "\r\n--B\r\nContent-Disposition: form-data; name=\"data\"\r\n\r\n",
            ]
            let expected =
                marks.map { Data($0.utf8) + Data(content) }.reduce(Data(), +) + Data("\r\n--B--\r\n".utf8)
            #expect(encoded == expected, "\(size) bytes")
        }
    }

    @Test("a stream is opened and closed once, with chunks of any size")
    func streamLife() throws {
        let stream = ScriptedStream([[1], [2, 3], [4, 5, 6]])
        let form = MultipartFormData(boundary: "B")
        form.append(stream, withLength: 6, headers: [:])
        #expect(
            try Array(form.encode()) == Array("--B\r\n\r\n".utf8) + [1, 2, 3, 4, 5, 6]
                + Array("\r\n--B--\r\n".utf8))
        #expect(stream.openings == 1 && stream.closings == 1)
    }

    private func expectLength(_ error: any Error, expected: UInt64, read: UInt64) {
        guard case AFError.multipartEncodingFailed(reason: .inputStreamReadFailed(let cause)) = error,
            let length = cause as? AFError.UnexpectedInputStreamLength
        else {
            Issue.record(error)
            return
        }
        #expect(length.bytesExpected == expected && length.bytesRead == read)
    }

    @Test(
        "[E-10.7] a wrong length is an error in memory; in a file the part is truncated or kept",
        arguments: [(4, "0123"), (12, "0123456789"), (10, "0123456789")] as [(UInt64, String)])
    func lengths(announced: UInt64, onDisk: String) throws {
        let folder = try FormFolder()
        let file = try folder.file("ten", "0123456789".utf8)
        for make in [
            { [self] in stream("0123456789") },
            { ScriptedStream("0123456789".utf8.map { [$0] }) },
            { InputStream(url: file) ?? InputStream(data: Data()) },
        ] as [() -> InputStream] {
            let form = MultipartFormData(boundary: "B")
            form.append(make(), withLength: announced, headers: [:])
            #expect(try text(form, .disk) == "--B\r\n\r\n\(onDisk)\r\n--B--\r\n")
            let again = MultipartFormData(boundary: "B")
            again.append(make(), withLength: announced, headers: [:])
            do {
                _ = try again.encode()
                #expect(announced == 10)
            } catch {
                expectLength(error, expected: announced, read: 10)
            }
        }
    }

    @Test("an endless stream does not block the encoding forever")
    func endless() throws {
        for (announced, piece) in [
            (UInt64(0), InputStreamReader.maximumChunkSize), (1000, InputStreamReader.maximumChunkSize),
        ] {
            let form = MultipartFormData()
            form.append(
                try #require(InputStream(fileAtPath: "/dev/zero")), withLength: announced, headers: [:])
            do {
                _ = try form.encode()
                Issue.record("an endless stream was encoded")
            } catch {
                expectLength(error, expected: announced, read: UInt64(announced == 0 ? piece : 2 * piece))
            }
        }
        let cut = MultipartFormData(boundary: "B")
        cut.append(try #require(InputStream(fileAtPath: "/dev/zero")), withLength: 300_000, headers: [:])
        #expect(try Way.disk.encode(cut).count == 300_000 + 7 + 9)
    }
}
