// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Lupine

struct HTTPHeaderTests {
    @Test(
        "each factory creates the field of its name",
        arguments: [
            (HTTPHeader.accept("a/b"), "Accept: a/b"),
            (.acceptCharset("utf-8"), "Accept-Charset: utf-8"),
            (.acceptLanguage("de"), "Accept-Language: de"),
            (.acceptEncoding("br"), "Accept-Encoding: br"),
            (.authorization(username: "ada", password: "pw"), "Authorization: Basic YWRhOnB3"),
            (.authorization(username: "", password: ""), "Authorization: Basic Og=="),
            (.authorization(username: "é", password: "ü:"), "Authorization: Basic w6k6w7w6"),
            (.authorization(bearerToken: "t"), "Authorization: Bearer t"),
            (.authorization("Own x"), "Authorization: Own x"),
            (.contentDisposition("inline"), "Content-Disposition: inline"),
            (.contentEncoding("gzip"), "Content-Encoding: gzip"),
            (.contentType("text/plain"), "Content-Type: text/plain"),
            (.userAgent("me/1"), "User-Agent: me/1"),
            (.websocketProtocol("chat"), "Sec-WebSocket-Protocol: chat"),
        ])
    func factories(_ header: HTTPHeader, _ line: String) {
        #expect(header.description == line)
    }

    @Test("fields are compared by name and value, with case")
    func equality() {
        let header = HTTPHeader(name: "X-A", value: "1")
        #expect(header.name == "X-A")
        #expect(header.value == "1")
        #expect("\(header)" == "X-A: 1")
        #expect(header == HTTPHeader(name: "X-A", value: "1"))
        #expect(header != HTTPHeader(name: "x-a", value: "1"))
        #expect(header != HTTPHeader(name: "X-A", value: "2"))
        #expect(Set([header, HTTPHeader(name: "x-a", value: "1"), header]).count == 2)
    }

    @Test("a long password is encoded without line breaks", arguments: [57, 58, 1 << 20])
    func longPassword(_ length: Int) {
        let header = HTTPHeader.authorization(
            username: "a", password: String(repeating: "p", count: length))
        #expect(!header.value.contains { $0.isNewline })
    }

    // MARK: defaults

    @Test(
        "[E-2.3.1] weights decrease by 0.1",
        arguments: [
            ([], ""), (["a"], "a;q=1.0"),
            (["a", "b", "c", "d", "e", "f"], "a;q=1.0, b;q=0.9, c;q=0.8, d;q=0.7, e;q=0.6, f;q=0.5"),
        ])
    func weights(_ elements: [String], _ list: String) {
        #expect(elements.qualityEncoded() == list)
        #expect((["x"] + elements).dropFirst().qualityEncoded() == list)
    }

    @Test("[E-2.3.2] Accept-Encoding lists the codings that the client decodes")
    func defaultAcceptEncoding() {
        #expect(
            HTTPHeader.defaultAcceptEncoding.description
                == "Accept-Encoding: br;q=1.0, gzip;q=0.9, deflate;q=0.8")
    }

    @Test("[E-2.3.3] Accept-Language lists the languages of the process's locale")
    func defaultAcceptLanguage() {
        #expect(HTTPHeader.defaultAcceptLanguage.name == "Accept-Language")
        #expect(HTTPHeader.defaultAcceptLanguage.value == UserLanguages.preferred.qualityEncoded())
    }

    struct Agent: Sendable, CustomTestStringConvertible {
        var name: String
        var info: [String: String] = [:]
        var path: String?
        var system = (6, 1, 0)
        var value: String

        var testDescription: String { name }
    }

    static let library = "Lupine/\(AFInfo.version)"

    @Test(
        "[E-2.3.4] User-Agent names the program, the system and the library",
        arguments: [
            Agent(
                name: "a tool that was started by its path", path: "/usr/bin/tool",
                value: "tool/Unknown (Unknown; build:Unknown; Linux 6.1.0) \(library)"),
            Agent(
                name: "a tool that was started by its name", path: "tool",
                value: "tool/Unknown (Unknown; build:Unknown; Linux 6.1.0) \(library)"),
            Agent(
                name: "a path without a name", path: "/",
                value: "Unknown/Unknown (Unknown; build:Unknown; Linux 6.1.0) \(library)"),
            Agent(name: "no path", value: "Unknown/Unknown (Unknown; build:Unknown; Linux 6.1.0) \(library)"),
            Agent(
                name: "a bundle with all entries",
                info: [
                    "CFBundleExecutable": "App", "CFBundleShortVersionString": "2.1",
                    "CFBundleIdentifier": "test.app", "CFBundleVersion": "77",
                ], path: "/usr/bin/tool", system: (5, 15, 160),
                value: "App/2.1 (test.app; build:77; Linux 5.15.160) \(library)"),
            Agent(
                name: "a name that would end the line", path: "/bin/to\r\nX-A: 1",
                value: "toX-A: 1/Unknown (Unknown; build:Unknown; Linux 6.1.0) \(library)"),
        ])
    func agent(_ row: Agent) {
        let system = OperatingSystemVersion(
            majorVersion: row.system.0, minorVersion: row.system.1, patchVersion: row.system.2)
        #expect(HTTPHeader.userAgentValue(of: row.info, startedAs: row.path, on: system) == row.value)
    }

    @Test("[E-2.3.4] the default User-Agent has the name of this program")
    func defaultUserAgent() {
        let header = HTTPHeader.defaultUserAgent
        #expect(header.name == "User-Agent")
        #expect(header.value.hasSuffix(") Lupine/\(AFInfo.version)"))
        let system = ProcessInfo.processInfo.operatingSystemVersion
        #expect(
            header.value.contains(
                "; Linux \(system.majorVersion).\(system.minorVersion).\(system.patchVersion))"))
    }
}
