// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineLoading

/// Tests of the text that a program prints of a failed load: host, step and cause, and what to try.
struct ErrorTextTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// A path on the origin, or a complete URL.
        let address: String
        var plan: ScriptPlan?
        var configure: @Sendable (URLSessionConfiguration) -> Void = { _ in }
        var request: @Sendable (inout URLRequest) -> Void = { _ in }
        let code: URLError.Code
        /// The expected text, with HOST for the origin's host and port, and PORT for its port.
        let text: String
        /// The expected text over HTTP/2, if it differs.
        var textOverHTTP2: String?
        var isOfHTTP1 = false

        /// The versions of HTTP that the row runs over.
        var testedHTTP: [TestedHTTP] { address.hasPrefix("/") && !isOfHTTP1 ? TestedHTTP.allCases : [.http1] }
    }

    private static func answer(_ wire: String) -> ScriptPlan {
        ScriptPlan([Script([.send(wire), .close])])
    }

    static let rows = [
        Row(
            testDescription: "no scheme", address: "example", code: .unsupportedURL,
            text: "the URL example has no scheme: it is to begin with https:// or http://"),
        Row(
            testDescription: "another scheme", address: "ftp://h/a", code: .unsupportedURL,
            text:
                "the scheme \"ftp\" is not supported: http, https, file and data are, and what the session's protocolClasses "
                + "take"),
        Row(
            testDescription: "an invalid port", address: "http://h:0/", code: .badURL,
            text: "cannot send to this URL: the port at octet 9 is no number from 1 to 65535"),
        Row(
            testDescription: "a refused connection", address: "http://127.0.0.1:1/",
            code: .cannotConnectToHost,
            text:
                "cannot connect to 127.0.0.1:1: ECONNREFUSED (Connection refused); nothing listens there: see whether it runs, and on this port"
        ),
        Row(
            testDescription: "an unknown host", address: "http://a..b/", code: .cannotFindHost,
            text:
                "cannot resolve a..b: the name does not exist; see whether it is spelled right, and known to this machine's name servers (getent hosts)"
        ),
        Row(
            testDescription: "silence", address: "/x", plan: ScriptPlan([Script([.stall])]),
            configure: { $0.timeoutIntervalForRequest = 0.25 }, code: .timedOut,
            text:
                "timed out after 0.25 s without a byte to or from HOST; if the server may take longer, raise the time-out"
        ),
        Row(
            testDescription: "the whole", address: "/x", plan: ScriptPlan([Script([.stall])]),
            configure: { $0.timeoutIntervalForResource = 0.25 }, code: .timedOut,
            text:
                "the load from HOST took longer than the whole may: raise timeoutIntervalForResource (0.25 s)"
        ),
        Row(
            testDescription: "cut off", address: "/x",
            plan: answer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), code: .networkConnectionLost,
            text: "HTTP with HOST: the peer closed the connection after 3 of 10 body bytes"),
        Row(
            testDescription: "cut off, without a length", address: "/x",
            plan: answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"),
            code: .networkConnectionLost,
            text: "HTTP with HOST: the peer closed the connection inside a chunked body, after 3 bytes",
            textOverHTTP2:
                "HTTP with HOST: the peer closed the connection inside a body of unknown length, after 3 bytes"
        ),
        Row(
            testDescription: "not HTTP", address: "/x", plan: answer("220 mail ready\r\n"),
            code: .badServerResponse,
            text:
                "HTTP with HOST: the first line is not HTTP/1.1: '2' at offset 0 (HTTP/0.9, or another protocol on this port)",
            isOfHTTP1: true),
        Row(
            testDescription: "a body over the collection limit", address: "/x",
            plan: answer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"),
            configure: { $0.lupine.collectedBodyLimit = 5 }, code: .dataLengthExceedsMaximum,
            text:
                "The body from HOST is longer than 5 bytes, the most that is collected in memory: raise "
                + "configuration.lupine.collectedBodyLimit, or take the body as a stream or a file."),
        Row(
            testDescription: "a coding that is broken", address: "/x",
            plan: answer("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"),
            code: .cannotDecodeRawData,
            text:
                "the content from HOST cannot be decoded: the body is not valid gzip: bad header (incorrect header check), at byte 0"
        ),
        Row(
            testDescription: "an invalid redirect target", address: "/x",
            plan: answer("HTTP/1.1 302 Found\r\nLocation: http://[\r\nContent-Length: 0\r\n\r\n"),
            code: .redirectToNonExistentLocation,
            text: "http://HOST/x redirects to \"http://[\", which is no address"),
        Row(
            testDescription: "a redirect to another scheme", address: "/x",
            plan: answer("HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"),
            code: .unsupportedURL,
            text: "http://HOST/x redirects to file:///etc/passwd: the scheme \"file\" is not followed"),
        Row(
            testDescription: "redirects without end", address: "/redirect/30", code: .httpTooManyRedirects,
            text:
                "more than 20 redirects; the last one: http://HOST/relative-redirect/10 redirects to /relative-redirect/9; see whether a cookie "
                + "or a login is missing that would end them"),
        Row(
            testDescription: "nothing in the cache", address: "/x",
            request: { $0.cachePolicy = .returnCacheDataDontLoad }, code: .resourceUnavailable,
            text: "the cache has no answer for http://HOST/x, and the request's cachePolicy is not to load it"
        ),
        Row(
            testDescription: "a missing file", address: "file:///nowhere", code: .fileDoesNotExist,
            text: "/nowhere: ENOENT (No such file or directory)"),
    ]

    @Test(
        "[U-16.1, U-16.2] an error names host, step and cause, in every way to print it",
        arguments: rows.flatMap { row in row.testedHTTP.map { (row, $0) } })
    func texts(_ row: Row, over testedHTTP: TestedHTTP) async throws {
        var serving = OriginConfiguration()
        serving.enable(testedHTTP)
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        if let plan = row.plan { origin.answer("GET", "/x", plan) }
        let configuration = DriverLoad.configuration(row.configure)
        configuration.lupine.httpVersions = testedHTTP.versions
        let session = URLSession(configuration: configuration)
        let address = row.address.hasPrefix("/") ? origin.url + row.address : row.address
        var request = URLRequest(url: try #require(URL(string: address)))
        row.request(&request)
        do {
            _ = try await session.data(for: request)
            Issue.record("it is answered")
        } catch {
            let failure = try #require(error as? URLError)
            let expectedText = testedHTTP == .http2 ? row.textOverHTTP2 ?? row.text : row.text
            let text = expectedText.replacing("HOST", with: "127.0.0.1:\(origin.port)")
            #expect(failure.code == row.code)
            #expect(failure.localizedDescription == text)
            #expect("\(failure)".contains("Code=\(row.code.rawValue) \"\(text)\"UserInfo={"))
            #expect(!"\(failure)".contains("(null)"))
        }
        session.invalidateAndCancel()
        await origin.shutdown()
    }
}
