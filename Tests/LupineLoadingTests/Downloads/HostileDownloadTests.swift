// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineLoading

/// Whatever the answer to the request for the rest is, a resumed download is of one version and whole, or it fails.
///
/// Each test has half of a file, and its resume data. The second answer is the row's; if the library starts over, the third is
/// the file's new version.
struct HostileDownloadTests {
    enum End: Hashable, Sendable {
        /// The rest was appended to the part.
        case joined
        /// The download started over, and its content is the new version.
        case startedOver
        /// The download failed, with an error that contains these words.
        case failed(saying: [String])
    }

    struct Answer: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var status = "206 Partial Content"
        let fields: String
        let body: String
        let end: End

        init(_ name: String, _ fields: [String], _ body: String, _ end: End, status: String? = nil) {
            testDescription = name
            self.fields = fields.map { $0 + "\r\n" }.joined()
            self.body = body
            self.end = end
            if let status { self.status = status }
        }
    }

    private static let tag = "ETag: \"v1\""
    private static let range = "Content-Range: bytes 5-9/10"
    private static let chunked = "Transfer-Encoding: chunked"

    static let answers = [
        Answer("the rest", [tag, range, "Content-Length: 5"], "56789", .joined),
        Answer("the rest, in chunks", [tag, range, chunked], "5\r\n56789\r\n0\r\n\r\n", .joined),
        Answer("the rest, up to the end of the connection", [tag, range], "56789", .joined),
        Answer("a server without validators", [range, "Content-Length: 5"], "56789", .joined),
        Answer(
            "an unknown total", [tag, "Content-Range: bytes 5-9/*", "Content-Length: 5"], "56789",
            .joined),
        Answer(
            "an end that is off by one", [tag, "Content-Range: bytes 5-10/10", "Content-Length: 5"], "56789",
            .joined),
        Answer(
            "the tag counts before the date",
            [tag, "Last-Modified: Tue, 02 Jan 2024 00:00:00 GMT", range, "Content-Length: 5"], "56789",
            .joined),
        // The validator.
        Answer("another version", ["ETag: \"v2\"", range, "Content-Length: 5"], "FGHIJ", .startedOver),
        Answer(
            "another version of more octets than the range has",
            ["ETag: \"v2\"", range, "Content-Length: 20"],
            "FGHIJFGHIJFGHIJFGHIJ", .startedOver),
        Answer(
            "a tag that has become weak", ["ETag: W/\"v1\"", range, "Content-Length: 5"], "56789",
            .startedOver),
        Answer("two tags", [tag, "ETag: \"v2\"", range, "Content-Length: 5"], "56789", .startedOver),
        Answer(
            "another date",
            ["Last-Modified: Tue, 02 Jan 2024 00:00:00 GMT", range, "Content-Length: 5"], "FGHIJ",
            .startedOver),
        Answer(
            "a content coding that the first half does not have",
            [tag, "Content-Encoding: gzip", range, "Content-Length: 5"],
            "FGHIJ", .startedOver),
        // The range.
        Answer("no range", [tag, "Content-Length: 5"], "56789", .startedOver),
        Answer(
            "two ranges", [tag, range, "Content-Range: bytes 0-4/10", "Content-Length: 5"], "56789",
            .startedOver),
        Answer(
            "another start", [tag, "Content-Range: bytes 4-9/10", "Content-Length: 6"], "456789", .startedOver
        ),
        Answer(
            "the whole", [tag, "Content-Range: bytes 0-9/10", "Content-Length: 10"], "0123456789",
            .startedOver),
        Answer(
            "not to the end", [tag, "Content-Range: bytes 5-7/10", "Content-Length: 3"], "567", .startedOver),
        Answer(
            "after the end", [tag, "Content-Range: bytes 5-11/10", "Content-Length: 7"], "56789XX",
            .startedOver),
        Answer(
            "backwards", [tag, "Content-Range: bytes 5-3/10", "Content-Length: 5"], "56789", .startedOver),
        Answer(
            "of another unit", [tag, "Content-Range: lines 5-9/10", "Content-Length: 5"], "56789",
            .startedOver),
        // The total.
        Answer(
            "another total", [tag, "Content-Range: bytes 5-11/12", "Content-Length: 7"], "56789XX",
            .startedOver),
        Answer(
            "another, unknown total", [tag, "Content-Range: bytes 5-11/*", "Content-Length: 7"], "56789XX",
            .startedOver),
        Answer(
            "less than there is", [tag, "Content-Range: bytes */5"], "", .startedOver, status: "416 No Range"),
        Answer(
            "nothing is missing, of another version", ["ETag: \"v2\"", "Content-Range: bytes */5"], "",
            .startedOver, status: "416 No Range"),
        // The length.
        Answer(
            "more octets than the range has", [tag, range, "Content-Length: 20"], "56789567895678956789",
            .startedOver),
        Answer("fewer", [tag, range, "Content-Length: 2"], "56", .startedOver),
        Answer(
            "more, in chunks", [tag, range, chunked], "14\r\n56789567895678956789\r\n0\r\n\r\n",
            .failed(saying: ["bytes 5-9/10"])),
        Answer(
            "without end, in chunks", [tag, range, chunked], String(repeating: "5\r\n56789\r\n", count: 1000),
            .failed(saying: ["bytes 5-9/10"])),
        Answer(
            "fewer, in chunks", [tag, range, chunked], "2\r\n56\r\n0\r\n\r\n",
            .failed(saying: ["bytes 5-9/10"])),
        Answer(
            "fewer, up to the end of the connection", [tag, range], "56", .failed(saying: ["bytes 5-9/10"])),
        Answer(
            "more, with an unknown total", [tag, "Content-Range: bytes 5-9/*", chunked],
            "7\r\n56789XX\r\n0\r\n\r\n", .failed(saying: ["bytes 5-9/*"])),
    ]

    @Test(
        "[U-7.14] no response joins two versions, or makes a file longer or shorter",
        arguments: answers, TestedHTTP.allCases)
    func oneVersion(_ answer: Answer, over testedHTTP: TestedHTTP) async throws {
        var serving = OriginConfiguration()
        serving.recordedBytes = 1 << 16
        serving.enable(testedHTTP)
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        let ended = "Content-Length: 0\r\n"
        let fields = answer.status.hasPrefix("416") ? answer.fields + ended : answer.fields
        origin.answer(
            "GET", "/file",
            ScriptPlan([
                Script([
                    .send(
                        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"v1\"\r\nAccept-Ranges: bytes\r\n"
                            + "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n\r\n01234"), .close,
                ]),
                Script([.send("HTTP/1.1 \(answer.status)\r\n\(fields)\r\n\(answer.body)"), .close]),
                Script([
                    .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"v2\"\r\n\r\nABCDEFGHIJ"), .close,
                ]),
            ]))
        let session = URLSession(
            configuration: DriverLoad.configuration { $0.lupine.httpVersions = testedHTTP.versions })
        let url = try #require(URL(string: origin.url + "/file"))
        let cut = await #expect(throws: URLError.self) { try await session.download(from: url) }
        let data = try #require(cut?.errorUserInfo[NSURLSessionDownloadTaskResumeData] as? Data)
        let part = try #require(ResumeData(data)?.file)
        var end: End?
        var error: URLError?
        do {
            let (file, _) = try await session.download(resumeFrom: data)
            defer { try? FileManager.default.removeItem(at: file) }
            switch String(decoding: try Data(contentsOf: file), as: UTF8.self) {
            case "0123456789": end = .joined
            case "ABCDEFGHIJ": end = .startedOver
            case let other: Issue.record("neither version: \(other)")
            }
        } catch let failure as URLError { error = failure }
        session.invalidateAndCancel()
        await origin.shutdown()
        if case .failed(let words) = answer.end {
            let errorText = error.map { "\($0.code) \($0.errorUserInfo)" } ?? "no error"
            #expect(
                error?.code == .badServerResponse && words.allSatisfy { errorText.contains($0) },
                "\(errorText)")
            #expect(
                error?.errorUserInfo[NSURLSessionDownloadTaskResumeData] == nil, "it cannot be gone on with")
        } else {
            #expect(end == answer.end, "\(error?.errorUserInfo ?? [:])")
        }
        #expect(!FileManager.default.fileExists(atPath: part), "the part is used up")
        let heads = (0..<origin.counts.connectionsAccepted)
            .flatMap { connection in
                String(decoding: origin.receivedAsHTTP1(on: connection), as: UTF8.self).lowercased()
                    .split(separator: "\r\n\r\n")
            }
        #expect(heads.count == (answer.end == .startedOver ? 3 : 2), "it starts over once")
        if heads.count == 3 { #expect(!heads[2].contains("range:") && heads[1].contains("if-range: \"v1\"")) }
    }
}
