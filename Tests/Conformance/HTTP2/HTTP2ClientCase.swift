// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

/// A foreign HTTP/2 client program, the request that it sends to the origin, and the check of its result.
struct HTTP2ClientCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let isSecure: Bool
    /// The length of `/large`.
    var large = 4 << 20
    /// Returns the program and its arguments. `check` examines the output and the saved files.
    let line: @Sendable (HTTP2ClientStage) async throws -> [String]
    let check: @Sendable (HTTP2ClientStage) throws -> Void

    static let all = curl + nghttp + load + go

    // MARK: curl

    private struct CurlWay: Sendable {
        let name: String
        var isSecure = true
        var large = 4 << 20
        let options: [String]
    }

    private static let curlWays = [
        CurlWay(name: "curl", isSecure: false, options: ["--http2-prior-knowledge"]),
        CurlWay(
            name: "curl, TLS 1.2",
            options: ["--http2", "--tls-max", "1.2", "--cacert", PKI.path("root.pem")]),
        CurlWay(
            name: "curl, TLS 1.3", large: 64 << 20,
            options: ["--http2", "--tlsv1.3", "--cacert", PKI.path("root.pem")]),
    ]

    private static let curl: [HTTP2ClientCase] =
        curlWays.flatMap { way in curlRows.map { $0(way) } }
        + curlWays.filter(\.isSecure).map(curlAtOnce) + [
            HTTP2ClientCase(
                testDescription: "curl: an upgrade that is asked for, and not made", isSecure: false,
                line: { ["curl", "-sS", "--http2", "-w", "%{http_version}", $0.url("/small")] },
                check: { stage in #expect(stage.output == "small\n1.1") })
        ]

    private static let curlRows: [@Sendable (CurlWay) -> HTTP2ClientCase] = [
        curl("a page", ["-w", "%{http_version} %{response_code}"], "/small") { stage in
            #expect(stage.output == "small\n2 200")
        },
        curl("the head of a page", ["--head"], "/small") { stage in
            #expect(stage.output.contains("HTTP/2 200") && stage.output.contains("content-length: 6"))
        },
        curl("a large file", ["-o", "got"], "/large") { stage in
            let got = try digest(ofFile: stage.file("got"))
            #expect(got == stage.large.digest)
        },
        curl("a large file that is sent", ["-X", "POST", "-T", "large"], "/digest") { stage in
            #expect(stage.output == stage.largeDigest)
        },
        curl("trailers", ["-D", "heads", "-d", "content"], "/trailers") { stage in
            #expect(stage.output == "trailers")
            let heads = try stage.text("heads")
            #expect(heads.contains("x-check: done"))
        },
        curl("an early hint", ["-D", "heads"], "/early") { stage in
            let heads = try stage.text("heads")
            #expect(heads.hasPrefix("HTTP/2 103") && heads.contains("link: </style>"))
            #expect(heads.contains("HTTP/2 200") && stage.output == "late")
        },
        curl("content that is expected", ["-i", "-H", "Expect: 100-continue", "-d", "content"], "/echo") {
            stage in
            #expect(stage.output.hasPrefix("HTTP/2 100") && stage.output.hasSuffix("\r\n\r\ncontent"))
        },
    ]

    // With prior knowledge, curl 7.88 reports a framing error for the second transfer of a connection, with any server.
    private static let curlAtOnce = curl(
        "three hundred pages at once",
        ["-Z", "--parallel-max", "60", "-o", "/dev/null", "-w", "%{http_version} %{response_code}\\n"],
        "/small?[1-300]"
    ) { stage in #expect(stage.output == String(repeating: "2 200\n", count: 300)) }

    private static func curl(
        _ name: String, _ options: [String], _ path: String,
        _ check: @escaping @Sendable (HTTP2ClientStage) throws -> Void
    ) -> @Sendable (CurlWay) -> HTTP2ClientCase {
        { way in
            HTTP2ClientCase(
                testDescription: "\(way.name): \(name)", isSecure: way.isSecure, large: way.large,
                line: { ["curl", "-sS"] + way.options + options + [$0.url(path)] }, check: check)
        }
    }

    // MARK: nghttp2

    private static let nghttp: [HTTP2ClientCase] =
        [false, true].flatMap { isSecure in
            [
                nghttp("a page", isSecure, [], "/small") { #expect($0.output == "small\n") },
                nghttp("five hundred pages at once", isSecure, ["-ns", "-m", "500"], "/small") { stage in
                    let lines = stage.output.split(separator: "\n").filter { $0.hasSuffix(" /small") }
                    #expect(lines.count == 500 && lines.allSatisfy { $0.contains(" 200 ") })
                },
            ]
        } + [
            nghttp("a large file that is sent", true, ["-d", "large"], "/digest") { stage in
                #expect(stage.output == stage.largeDigest)
            },
            nghttp("windows of 255 octets", false, ["-w", "8", "-W", "16"], "/blob/100000") { stage in
                let got = Array(try Data(contentsOf: stage.file("out")))
                #expect(got == Blob.bytes(100_000))
            },
            nghttp("padding", false, ["-b", "255", "-d", "large"], "/digest") { stage in
                #expect(stage.output == stage.largeDigest)
            },
            nghttp(
                "no tables for fields", false,
                [
                    "-v", "-c", "0", "--encoder-header-table-size=0", "-m", "20", "-H",
                    "x-field-one: the value",
                ],
                "/fields"
            ) { stage in #expect(stage.output.components(separatedBy: ") x-field-one: the value").count == 21)
            },
            nghttp("a head in pieces", false, ["--continuation"], "/small") {
                #expect($0.output == "small\n")
            },
            nghttp(
                "trailers in both directions", false,
                ["-v", "--trailer", "x-sent: behind it", "-d", "few"], "/trailers"
            ) { stage in
                #expect(stage.output.contains("x-check: done") && stage.output.contains("x-got: behind it"))
            },
            nghttp("content that is expected", false, ["--expect-continue", "-d", "few"], "/echo") { stage in
                #expect(stage.output == "content")
            },
        ]

    private static func nghttp(
        _ name: String, _ isSecure: Bool, _ options: [String], _ path: String,
        _ check: @escaping @Sendable (HTTP2ClientStage) throws -> Void
    ) -> HTTP2ClientCase {
        HTTP2ClientCase(
            testDescription: "nghttp\(isSecure ? ", TLS" : ""): \(name)", isSecure: isSecure,
            line: { ["nghttp", "--no-verify-peer"] + options + [$0.url(path)] }, check: check)
    }

    // MARK: h2load

    private static let load = [
        load("pages", false, 2_000, ["-c", "4", "-m", "50"], "/small"),
        load("pages", true, 2_000, ["-c", "4", "-m", "50"], "/small"),
        load("uploads", true, 500, ["-c", "4", "-m", "20", "-d", "few"], "/echo"),
        load(
            "small windows, no tables", false, 200,
            [
                "-c", "2", "-m", "10", "-w", "10", "-W", "16", "--header-table-size=0",
                "--encoder-header-table-size=0",
            ], "/blob/20000"),
    ]

    private static func load(
        _ name: String, _ isSecure: Bool, _ count: Int, _ options: [String], _ path: String
    ) -> HTTP2ClientCase {
        HTTP2ClientCase(
            testDescription: "h2load\(isSecure ? ", TLS" : ""): \(name)", isSecure: isSecure,
            line: { ["h2load", "-n", "\(count)"] + options + [$0.url(path)] },
            check: { stage in
                let requests =
                    "requests: \(count) total, \(count) started, \(count) done, \(count) succeeded, 0 failed, "
                    + "0 errored, 0 timeout\n"
                #expect(stage.output.contains(requests), "\(stage.output)")
                #expect(stage.output.contains("status codes: \(count) 2xx, 0 3xx, 0 4xx, 0 5xx\n"))
            })
    }

    // MARK: Go

    private static let go = [
        HTTP2ClientCase(
            testDescription: "Go: all that it can ask", isSecure: true,
            line: { stage in
                [
                    try await GoPeer.program(), "ask", PKI.path("root.pem"), stage.url(""),
                    "\(stage.large.count)", stage.largeDigest,
                ]
            }, check: { _ in })
    ]
}

/// An origin that speaks HTTP/2, and a folder for a program that sends requests to it.
struct HTTP2ClientStage: Sendable {
    let large: LongContent
    private let origin: LupineOrigin.Origin
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "lupine-client-" + UUID().uuidString)

    /// The SHA-256 of `/large`.
    var largeDigest: String { large.digest.map(HTTP2PeerContent.hexadecimal) ?? "" }

    /// The standard output of the program.
    var output: String { (try? text("out")) ?? "" }

    func url(_ path: String) -> String { origin.url + path }

    func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

    /// Returns the text of a file in the folder.
    func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: file(name)), as: UTF8.self)
    }

    /// Runs the program of a case and checks its result.
    static func run(_ row: HTTP2ClientCase) async throws {
        var configuration = OriginConfiguration()
        configuration.http2 = HTTP2Behaviour()
        configuration.idleTimeout = .seconds(3_600)
        if row.isSecure {
            configuration.tls = try Conversation.secured()
            configuration.tls?.applicationProtocols = ["h2", "http/1.1"]
        }
        let stage = HTTP2ClientStage(
            large: HTTP2PeerContent.large.first(row.large),
            origin: try LupineOrigin.Origin.start(configuration: configuration))
        HTTP2PeerContent.serve(stage.large, on: stage.origin)
        Blob.serve(on: stage.origin)
        let result: Result<Void, any Error>
        do { result = .success(try await stage.run(row)) } catch { result = .failure(error) }
        await stage.origin.shutdown()
        try? FileManager.default.removeItem(at: stage.folder)
        try result.get()
    }

    private func run(_ row: HTTP2ClientCase) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try Data("content".utf8).write(to: file("few"))
        let line = try await row.line(self)
        if line.contains("large") { try large.write(to: file("large")) }
        let end = try await Program.run(
            "/bin/sh",
            ["-c", "cd \"$0\" && exec \"$@\" >out 2>errors </dev/null", folder.path] + line,
            variables: [
                "HOME": folder.path, "http_proxy": "", "https_proxy": "", "all_proxy": "", "no_proxy": "",
                "HTTP_PROXY": "", "HTTPS_PROXY": "", "LC_ALL": "C.UTF-8",
            ])
        #expect(end == .exited(0), "\((try? text("errors")) ?? "")")
        try row.check(self)
    }
}
