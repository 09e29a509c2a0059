// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin

@testable import Lupine

/// A way in which a server can fail a request and that a script can produce.
struct FailureMode: Sendable {
    /// The frequency of this failure in the retry storm.
    enum Frequency {
        case common
        /// The client has to wait for its time-out.
        case rare
    }

    enum Kind: Sendable {
        /// A complete response with this status, on a connection that stays open.
        case status(Int)
        /// The steps on the connection instead of a response.
        case script([Script.Step])
    }

    let name: String
    let kind: Kind
    /// The error code of the loading system; nil if the status is the failure.
    let code: URLError.Code?
    var frequency = Frequency.common
    /// Whether the server sends nothing before the connection ends. On a reused connection, the loading system then sends the
    /// request again without asking the policy.
    var isReplayed = false

    /// Whether `RetryPolicy` retries it by default.
    var isRetriedByDefault: Bool { code.map(RetryPolicy.defaultRetryableURLErrorCodes.contains) ?? true }

    private init(_ status: Int, isLast: Bool = false) {
        name = "status \(status)\(isLast ? ", then closed" : "")"
        kind =
            isLast
            ? .script([.send("HTTP/1.1 \(status) No\r\nContent-Length: 2\r\n\r\nno"), .close])
            : .status(status)
        code = nil
    }

    private init(
        _ name: String, _ code: URLError.Code, _ steps: Script.Step..., frequency: Frequency = .common,
        isReplayed: Bool = false
    ) {
        self.name = name
        self.code = code
        self.frequency = frequency
        self.isReplayed = isReplayed
        kind = .script(steps)
    }

    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let long = ok + "Content-Length: 9\r\n\r\nok"
    private static let chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
    private static let gzip = ok + "Content-Encoding: gzip\r\nContent-Length: "
    private static let gzipHead: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]

    static let all: [FailureMode] =
        [408, 500, 502, 503, 504].flatMap { [FailureMode($0), FailureMode($0, isLast: true)] } + [
            // The connection ends.
            FailureMode("closed after the request", .networkConnectionLost, .close, isReplayed: true),
            FailureMode("reset after the request", .networkConnectionLost, .reset, isReplayed: true),
            FailureMode(
                "half closed after the request", .networkConnectionLost, .halfClose, isReplayed: true),
            FailureMode(
                "closed in the head", .networkConnectionLost, .send("HTTP/1.1 200 OK\r\nConte"), .close),
            FailureMode(
                "reset in the head", .networkConnectionLost, .send("HTTP/1.1 200 OK\r\nConte"), .reset),
            FailureMode(
                "closed after an interim head", .networkConnectionLost, .send("HTTP/1.1 103 E\r\n\r\n"),
                .close),
            FailureMode(
                "closed after the head", .networkConnectionLost, .send(ok + "Content-Length: 9\r\n\r\n"),
                .close),
            FailureMode("closed in the body", .networkConnectionLost, .send(long), .close),
            FailureMode("reset in the body", .networkConnectionLost, .send(long), .reset),
            FailureMode("closed in a chunk", .networkConnectionLost, .send(chunked + "5\r\nok"), .close),
            FailureMode("reset in a chunk", .networkConnectionLost, .send(chunked + "5\r\nok"), .reset),
            FailureMode(
                "closed before the last chunk", .networkConnectionLost, .send(chunked + "2\r\nok\r\n"), .close
            ),
            FailureMode(
                "closed in the trailers", .networkConnectionLost, .send(chunked + "0\r\nA: b\r\n"), .close),
            // The bytes are not an HTTP response.
            FailureMode("not HTTP", .badServerResponse, .send("220 mail.test ESMTP\r\n"), .close),
            FailureMode("an unknown version", .badServerResponse, .send("HTTP/3.0 200 OK\r\n\r\n"), .close),
            FailureMode(
                "an invalid status", .badServerResponse, .send("HTTP/1.1 2x0 OK\r\n\r\n"), .close),
            FailureMode("a field without a name", .badServerResponse, .send(ok + ": value\r\n\r\n"), .close),
            FailureMode(
                "a space after a field name", .badServerResponse, .send(ok + "A : b\r\n\r\n"), .close),
            // The framing is wrong.
            FailureMode(
                "two lengths", .badServerResponse,
                .send(ok + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nok"), .close),
            FailureMode(
                "a negative length", .badServerResponse, .send(ok + "Content-Length: -2\r\n\r\nok"), .close),
            FailureMode(
                "chunks inside of another coding", .badServerResponse,
                .send(ok + "Transfer-Encoding: chunked, gzip\r\n\r\n2\r\nok\r\n0\r\n\r\n"), .close),
            FailureMode(
                "an unknown transfer coding", .badServerResponse,
                .send(ok + "Transfer-Encoding: secret\r\n\r\nok"), .close),
            FailureMode("an invalid chunk size", .badServerResponse, .send(chunked + "x\r\nok"), .close),
            FailureMode(
                "a chunk longer than its size", .badServerResponse, .send(chunked + "1\r\nok\r\n0\r\n\r\n"),
                .close),
            FailureMode(
                "another protocol", .badServerResponse,
                .send("HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), .close),
            // The coding is wrong.
            FailureMode(
                "content that is not gzip", .cannotDecodeRawData, .send(gzip + "2\r\n\r\nok"), .close),
            FailureMode(
                "gzip cut short", .cannotDecodeContentData,
                .send(Array((gzip + "10\r\n\r\n").utf8) + gzipHead), .close),
            // The server falls silent.
            FailureMode("silent", .timedOut, .stall, frequency: .rare),
            FailureMode(
                "silent in the head", .timedOut, .send("HTTP/1.1 200 OK\r\nConte"), .stall, frequency: .rare
            ),
            FailureMode("silent in the body", .timedOut, .send(long), .stall, frequency: .rare),
            FailureMode("silent in a chunk", .timedOut, .send(chunked + "5\r\nok"), .stall, frequency: .rare),
        ]
}
