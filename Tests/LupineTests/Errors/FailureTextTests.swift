// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// The descriptions of a failed request: the error's description, and the response's debug description.
@Suite struct FailureTextTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The path at the origin, or a whole URL; HOST stands for the origin's host and port.
        var address = "/x"
        /// The origin's response at `/x`.
        var answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        var timeout: TimeInterval?
        /// The proxy; HOST and PORT stand for those of the origin.
        var proxy: String?
        let code: URLError.Code
        let text: String
    }

    static let rows = [
        Row(
            testDescription: "nobody listens", address: "http://127.0.0.1:1/", code: .cannotConnectToHost,
            text: "cannot connect to 127.0.0.1:1: ECONNREFUSED (Connection refused); nothing listens there: "
                + "see whether it runs, and on this port"),
        Row(
            testDescription: "no TLS", address: "https://HOST/x", code: .secureConnectionFailed,
            text: "TLS: HOST: the peer does not speak TLS on this port"),
        Row(
            testDescription: "silence", answer: "", timeout: 0.25, code: .timedOut,
            text: "timed out after 0.25 s without a byte to or from HOST; if the server may take longer, "
                + "raise the time-out"),
        Row(
            testDescription: "a proxy that is not there", address: "http://origin.test/",
            proxy: "http://127.0.0.1:1", code: .cannotConnectToHost,
            text:
                "cannot connect to the proxy http://127.0.0.1:1: ECONNREFUSED (Connection refused); nothing listens there: "
                + "see whether it runs, and on this port"),
        Row(
            testDescription: "a SOCKS proxy that is not there", address: "http://origin.test/",
            proxy: "socks5://127.0.0.1:1", code: .cannotConnectToHost,
            text:
                "cannot connect to the proxy socks5h://127.0.0.1:1: ECONNREFUSED (Connection refused); nothing listens there: "
                + "see whether it runs, and on this port"),
        Row(
            testDescription: "a proxy without an address", address: "http://origin.test/",
            proxy: "http://a..b:1", code: .cannotFindHost,
            text:
                "cannot resolve the name of the proxy http://a..b:1: the name does not exist; see whether it is spelled right, "
                + "and known to this machine's name servers (getent hosts)"),
        Row(
            testDescription: "a proxy that refuses the tunnel", address: "https://origin.test/",
            answer: "HTTP/1.1 403 Not here\r\nContent-Length: 0\r\n\r\n", proxy: "http://HOST",
            code: .cannotConnectToHost,
            text:
                "the proxy http://HOST opened no tunnel: it answered 403 \"Not here\"; see whether its rules allow this host "
                + "and port"),
        Row(
            testDescription: "a proxy that wants to know who we are", address: "https://origin.test/",
            answer: "HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\n\r\n",
            proxy: "http://HOST", code: .cannotConnectToHost,
            text:
                "the proxy http://HOST opened no tunnel: it wants a name and a password (407); see whether they are given, "
                + "and right"),
        Row(
            testDescription: "a SOCKS proxy that is none", address: "https://origin.test/",
            answer: "HTTP/1.1 400 Bad Request\r\n\r\n", proxy: "socks5h://HOST", code: .badServerResponse,
            text:
                "the SOCKS proxy socks5h://HOST made no connection: octet 0 of what it sent is 72, which is no version of "
                + "SOCKS 5: see whether the port is right"),
        Row(
            testDescription: "a proxy that is none", address: "http://origin.test/", proxy: "gopher://HOST",
            code: .cannotConnectToHost,
            text:
                "cannot use this proxy: the scheme \"gopher\" is none of a proxy: http, https and socks5 are"),
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
        let end = row.timeout == nil ? Script.Step.close : .stall
        var serving = OriginConfiguration()
        if let proxy = row.proxy {
            // A SOCKS client without a user name begins with three octets.
            let greeting: Script.Step = proxy.hasPrefix("socks") ? .expectBytes(3) : .expectHead
            serving.script = ScriptPlan(greeting, .send(row.answer), end)
        }
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        origin.script("GET", "/x", ScriptPlan(.send(row.answer), end))
        let host = "127.0.0.1:\(origin.port)"
        let configuration = URLSessionConfiguration.ephemeral
        configuration.lupine.proxies =
            row.proxy.map {
                ["all_proxy": $0.replacing("HOST", with: host)]
            } ?? [:]
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

    struct FileRow: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The destination of the download, below an empty folder.
        let destination: String
        var options: DownloadRequest.Options = []
        /// Foundation's error code for the failure.
        let cause: CocoaError.Code
    }

    static let fileRows = [
        FileRow(
            testDescription: "a folder that is not there", destination: "none/file",
            cause: .fileNoSuchFile),
        FileRow(
            testDescription: "a file that is there", destination: "taken",
            cause: .fileWriteFileExists),
        FileRow(
            testDescription: "a folder below a file", destination: "taken/file",
            options: .createIntermediateDirectories,
            cause: .fileWriteFileExists),
    ]

    @Test(
        "[V-5.3] the error of a download that cannot be moved names both files and the cause",
        arguments: fileRows)
    func files(_ row: FileRow) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "texts-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("here".utf8).write(to: folder.appendingPathComponent("taken"))
        let file = folder.appendingPathComponent(row.destination)
        let origin = try LupineOrigin.Origin.start()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        let session = Session(configuration: configuration)
        let response = await session.download(
            origin.url + "/bytes/4", to: { _, _ in (file, row.options) }
        ).serializingData().response
        guard case .downloadedFileMoveFailed(let cause, let source, file)? = response.error else {
            Issue.record("\(response.debugDescription)")
            return
        }
        #expect((cause as? CocoaError)?.code == row.cause)
        #expect(
            response.error?.localizedDescription
                == "The downloaded file \(source) could not be moved to \(file): \(cause.localizedDescription)"
        )
        #expect(!response.debugDescription.contains("(null)"))
        await origin.shutdown()
        let remaining = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(remaining == ["taken"])
    }

    @Test("[V-5.3] the errors of an unacceptable status and of content that cannot be decoded")
    func answers() async throws {
        let origin = try LupineOrigin.Origin.start()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        let session = Session(configuration: configuration)
        let refused = await session.request(origin.url + "/status/404").validate().serializingData().response
        #expect(
            refused.error?.localizedDescription == "The response's status code is not acceptable: 404")
        #expect(refused.debugDescription.contains("[Result]: failure("))
        let undecodable = await session.request(origin.url + "/xml").serializingDecodable([String].self)
            .response
        #expect(undecodable.error?.localizedDescription.contains("begins with: ") == true)
        await origin.shutdown()
    }
}
