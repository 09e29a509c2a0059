// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// What a program prints of a request that failed: the error's text, and the whole response by `debugPrint`.
@Suite struct FailureTextTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Behind the origin's address, or a whole address; HOST is the origin's host and port.
        var address = "/x"
        /// What the origin answers at `/x`.
        var answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        var timeout: TimeInterval?
        let code: URLError.Code
        let text: String
    }

    static let rows = [
        Row(
            testDescription: "nobody listens", address: "http://127.0.0.1:1/", code: .cannotConnectToHost,
            text: "cannot connect to 127.0.0.1:1: ECONNREFUSED (Connection refused); nothing listens there: "
                + "see whether the server runs, and on this port"),
        Row(
            testDescription: "no TLS", address: "https://HOST/x", code: .secureConnectionFailed,
            text: "TLS: HOST: the peer does not speak TLS on this port"),
        Row(
            testDescription: "silence", answer: "", timeout: 0.25, code: .timedOut,
            text: "timed out after 0.25 s without a byte to or from HOST; if the server may take longer, "
                + "raise the time-out"),
        Row(
            testDescription: "cut off", answer: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
            code: .networkConnectionLost,
            text: "HTTP with HOST: the peer closed the connection after 3 of 10 body bytes"),
        Row(
            testDescription: "a head that is too long",
            answer: "HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 70_000) + "\r\n\r\n",
            code: .dataLengthExceedsMaximum,
            text: "HTTP with HOST: bytes of a header line (lineBytes) exceed the limit of 65536"),
        Row(
            testDescription: "a coding that is cut short",
            answer: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\n\u{1F}",
            code: .cannotDecodeContentData,
            text: "the content from HOST cannot be decoded: the gzip body was cut short after 1 bytes"),
    ]

    @Test(
        "[V-5.3, U-16.1] a failed request's error and its response name host, port, step and cause",
        arguments: rows)
    func texts(_ row: Row) async throws {
        let origin = try LupineOrigin.Origin.start()
        let end = row.timeout == nil ? Script.Step.close : .stall
        origin.script("GET", "/x", ScriptPlan(.send(row.answer), end))
        let host = "127.0.0.1:\(origin.port)"
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        let session = Session(configuration: configuration)
        let address = row.address.hasPrefix("/") ? origin.url + row.address : row.address
        let response = await session.request(address.replacing("HOST", with: host)) {
            if let timeout = row.timeout { $0.timeoutInterval = timeout }
        }.serializingData().response
        let text = row.text.replacing("HOST", with: host)
        #expect(response.error?.localizedDescription == "The URLSessionTask failed: \(text)")
        let cause = response.error?.underlyingError as? URLError
        #expect(cause?.code == row.code && cause?.localizedDescription == text)
        let result = "Error Domain=NSURLErrorDomain Code=\(row.code.rawValue) \"\(text)\"UserInfo={"
        #expect(
            response.debugDescription.contains(
                "[Result]: failure(Lupine.AFError.sessionTaskFailed(error: \(result)"))
        #expect(!response.debugDescription.contains("(null)"))
        await origin.shutdown()
    }

    @Test("[V-5.3] a refused status and content that cannot be decoded")
    func answers() async throws {
        let origin = try LupineOrigin.Origin.start()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        let session = Session(configuration: configuration)
        let refused = await session.request(origin.url + "/status/404").validate().serializingData().response
        #expect(
            refused.error?.localizedDescription == "The response's status code is not acceptable: 404")
        #expect(refused.debugDescription.contains("[Result]: failure("))
        let odd = await session.request(origin.url + "/bytes/4").serializingDecodable([String].self).response
        #expect(odd.error?.localizedDescription.contains("begins with: ") == true)
        await origin.shutdown()
    }
}
