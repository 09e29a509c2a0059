// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import Testing

@testable import LupineLoading

/// The octets of a test are not a complete head.
private struct NoHead: Error {}

struct URLResponseTests {
    let url: URL

    init() throws { url = try #require(URL(string: "http://example.org/dir/name.txt?q=secret")) }

    func makeResponse(_ fields: [String: String]?, status: Int = 200) throws -> HTTPURLResponse {
        try #require(
            HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields))
    }

    /// Returns the response to these lines, parsed as if they came from the wire.
    func loaded(_ lines: String, isDecoded: Bool = false) throws -> HTTPURLResponse {
        var codec = ClientCodec()
        var request: [UInt8] = []
        let head = try RequestHead(
            method: .get, target: .origin("/"), authority: Authority(host: "example.org", port: 80))
        try codec.send(head, body: .none, into: &request)
        let octets = Array("HTTP/1.1 200 OK\r\n\(lines)\r\n".unicodeScalars.map { UInt8($0.value) })
        guard case .head(let response, _, _) = try codec.next(octets.span).event else {
            throw NoHead()
        }
        return HTTPURLResponse(url: url, head: response, isDecoded: isDecoded)
    }

    @Test func aPlainResponseKeepsItsValues() {
        let response = URLResponse(
            url: url, mimeType: "Text/HTML", expectedContentLength: 7, textEncodingName: "UTF-8")
        #expect(response.url == url && response.mimeType == "Text/HTML")
        #expect(response.expectedContentLength == 7 && response.textEncodingName == "UTF-8")
        #expect(response.suggestedFilename == "name.txt")
        #expect(!response.description.contains("secret"))
    }

    static let names: [(given: String, key: String)] = [
        ("content-TYPE", "Content-Type"), ("ETag", "Etag"), ("www-authenticate", "WWW-Authenticate"),
        ("x-lower-Case", "x-lower-Case"), ("X-UPPER", "X-UPPER"), ("DNT", "Dnt"),
    ]

    @Test("[U-2.1] keys are canonical, except x- and WWW-Authenticate", arguments: names)
    func keysAreCanonical(given: String, key: String) throws {
        for response in [try makeResponse([given: "v"]), try loaded("\(given): v\r\n")] {
            #expect(response.allHeaderFields[key] as? String == "v")
            #expect(response.allHeaderFields.count == 1)
            #expect(response.value(forHTTPHeaderField: given.uppercased()) == "v")
            #expect(response.value(forHTTPHeaderField: "absent") == nil)
        }
    }

    @Test("[U-2.2] repeated fields are joined in order, also folded ones, without a blank, and of any octets")
    func linesJoin() throws {
        let response = try loaded(
            "A: 1\r\na:2\r\nX-b: 1\r\nx-B: 2\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\nC: x\r\n  y\r\nL: \u{E9}\r\nU: \u{C3}\u{A9}\r\n"
        )
        #expect(response.allHeaderFields["A"] as? String == "1, 2")
        #expect(response.allHeaderFields["X-b"] as? String == "1, 2")
        #expect(response.allHeaderFields["Set-Cookie"] as? String == "a=1, b=2")
        #expect(response.fields?.values(of: .setCookie) == ["a=1", "b=2"])
        #expect(response.value(forHTTPHeaderField: "c") == "x y")
        #expect(response.value(forHTTPHeaderField: "L") == "é")
        #expect(response.value(forHTTPHeaderField: "U") == "é")
    }

    static let lengths: [(value: String?, length: Int64)] = [
        ("0", 0), ("12", 12), (" 7 ", 7), (nil, -1), ("-1", -1), ("x", -1), ("1.5", -1), ("", -1), ("+1", -1),
        ("9223372036854775807", .max), ("9223372036854775808", -1),
    ]

    @Test("[U-2.3] a response made by the program has the length of its Content-Length", arguments: lengths)
    func madeLengths(value: String?, length: Int64) throws {
        var fields = ["Content-Encoding": "gzip", "Transfer-Encoding": "chunked"]
        fields["content-length"] = value
        #expect(try makeResponse(fields).expectedContentLength == length)
        #expect(try makeResponse(nil).expectedContentLength == -1)
    }

    @Test("[U-2.3] a loaded response has no length if it is decoded or chunked")
    func loadedLengths() throws {
        #expect(try loaded("Content-Length: 5\r\n").expectedContentLength == 5)
        #expect(try loaded("Content-Length: 5\r\n", isDecoded: true).expectedContentLength == -1)
        #expect(try loaded("Transfer-Encoding: chunked\r\n").expectedContentLength == -1)
        #expect(try loaded("").expectedContentLength == -1)
    }

    static let types: [(value: String?, type: String?, encoding: String?)] = [
        (nil, nil, nil), ("", nil, nil), ("text/html", "text/html", nil),
        ("Text/HTML; Charset=\"UTF-8\"", "text/html", "utf-8"), ("text/plain;charset=", "text/plain", nil),
        ("a/b; x=\"; charset=no\"; charset=yes", "a/b", "yes"),
    ]

    @Test(arguments: types)
    func typeAndEncodingComeFromContentType(value: String?, type: String?, encoding: String?) throws {
        let response = try makeResponse(value.map { ["Content-Type": $0] })
        #expect(response.mimeType == type)
        #expect(response.textEncodingName == encoding)
    }

    @Test func aLoadedResponseHasNoUserInfoInItsURL() throws {
        let url = try #require(URL(string: "http://user:pass@example.org/a"))
        let head = ResponseHead(status: Status(200))
        let response = HTTPURLResponse(url: url, head: head, isDecoded: false)
        #expect(response.url?.absoluteString == "http://example.org/a")
    }

    static let dispositions: [(value: String, name: String)] = [
        ("attachment; filename=a.txt", "a.txt"), ("attachment; filename=\"a b.txt\"", "a b.txt"),
        ("attachment; filename=\"a\\\"b\"", "a\"b"), ("attachment; FileName=\"x;y\"", "x;y"),
        ("attachment; filename*=UTF-8''%E2%82%AC.txt; filename=euro.txt", "€.txt"),
        ("attachment; filename=euro.txt; filename*=iso-8859-1'en'%A3.txt", "£.txt"),
        ("attachment; filename*=UTF-8''%E2%82; filename=plain", "plain"),
        ("attachment; filename*=utf-16''x; filename=plain", "plain"),
        ("attachment; filename*=UTF-8''%zz; filename=plain", "plain"),
        ("attachment; name=\"filename=no\"; filename=yes; filename=late", "yes"),
        ("filename=bare.txt", "bare.txt"), ("attachment; filename=\"/a/b/name\"", "_a_b_name"),
        ("attachment; filename=a/../b/name", "a_.._b_name"), ("attachment; filename=\"..\"", "Unknown"),
        ("attachment; filename=.", "Unknown"), ("attachment; filename=\"\"", "Unknown"),
        ("attachment; filename*=UTF-8''..%2Fx%00%0Ay", ".._xy"), ("attachment", "name.txt"), ("", "name.txt"),
        ("attachment; filename=\"open", "open"),
    ]

    @Test("[U-2.4] Content-Disposition names the file", arguments: dispositions)
    func dispositionsName(value: String, name: String) throws {
        #expect(try makeResponse(["Content-Disposition": value]).suggestedFilename == name)
    }

    @Test("[U-2.4] a disposition is decoded as UTF-8, else Latin-1")
    func dispositionOctets() throws {
        #expect(
            try loaded("Content-Disposition: a; filename=\"\u{C3}\u{A9}\"\r\n").suggestedFilename == "é")
        #expect(try loaded("Content-Disposition: a; filename=\"\u{E9}\"\r\n").suggestedFilename == "é")
    }

    static let addresses: [(url: String, type: String?, name: String)] = [
        ("http://h/a/b.txt", "text/html", "b.txt"), ("http://h/a/b", "text/html", "b.html"),
        ("http://h/a/b/", "application/json", "b.json"), ("http://h/b", "application/x-unheard-of", "b"),
        ("http://h/b", nil, "b"), ("http://h/", "text/html", "Unknown"), ("http://h", nil, "Unknown"),
        ("http://h/a%20b", nil, "a b"), ("http://h/x%2Fy", nil, "x_y"), ("http://h/%2e%2e", nil, "Unknown"),
        ("http://h/a%00%1fb", nil, "ab"), ("http://h/a?x=/y", "image/jpg", "a.jpg"),
    ]

    @Test("[U-2.4] without a disposition the URL names the file, else nothing does", arguments: addresses)
    func addressesName(url: String, type: String?, name: String) throws {
        let url = try #require(URL(string: url))
        let fields = type.map { ["Content-Type": $0] }
        let http = try #require(
            HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields))
        let plain = URLResponse(url: url, mimeType: type, expectedContentLength: -1, textEncodingName: nil)
        #expect(http.suggestedFilename == name)
        #expect(plain.suggestedFilename == name)
    }

    @Test("[U-2.5] responses are equal by content, and copies are the same object")
    func equality() throws {
        let response = try makeResponse(["Content-Type": "a/b", "x": "1"])
        #expect(response == (try makeResponse(["content-type": "a/b", "x": "1"])))
        #expect(response.hash == (try makeResponse(["content-type": "a/b", "x": "1"])).hash)
        #expect(response != (try makeResponse(["Content-Type": "a/b", "x": "2"])))
        #expect(response != (try makeResponse(["Content-Type": "a/b", "x": "1"], status: 404)))
        #expect(response != (try makeResponse(["Content-Type": "a/c", "x": "1"])))
        #expect(response.copy() as AnyObject === response)
        let plain = URLResponse(
            url: url, mimeType: "a/b", expectedContentLength: -1, textEncodingName: nil)
        #expect(plain != response && response != plain)
        #expect(
            plain
                == URLResponse(url: url, mimeType: "a/b", expectedContentLength: -1, textEncodingName: nil))
    }

    @Test("[U-2.5] responses go through an archive")
    func archives() throws {
        #expect(HTTPURLResponse.supportsSecureCoding)
        let http = try loaded(
            "Content-Type: text/plain; charset=utf-8\r\nA: 1\r\na: 2\r\nContent-Length: 3\r\n")
        let data = try NSKeyedArchiver.archivedData(withRootObject: http, requiringSecureCoding: true)
        let unarchived = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: HTTPURLResponse.self, from: data))
        #expect(unarchived == http && unarchived.hash == http.hash)
        let plain = URLResponse(
            url: url, mimeType: "a/b", expectedContentLength: 4, textEncodingName: "x")
        let plainData = try NSKeyedArchiver.archivedData(withRootObject: plain, requiringSecureCoding: true)
        #expect(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: URLResponse.self, from: plainData) == plain)
    }

    @Test(arguments: [-1, 0, 100, 199, 200, 204, 299, 306, 399, 404, 499, 500, 599, 600, 999, 1_000, Int.max])
    func everyStatusHasADescription(code: Int) {
        #expect(!HTTPURLResponse.localizedString(forStatusCode: code).isEmpty)
        #expect(HTTPURLResponse.localizedString(forStatusCode: 404) == "not found")
    }
}
