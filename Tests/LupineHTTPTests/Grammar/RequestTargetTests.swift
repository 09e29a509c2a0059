// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP

@Suite struct RequestTargetTests {
    @Test(arguments: [
        ("/", true), ("/a?b=c%20d", true), ("/a:b@c!$&'()*+,;=-._~", true), ("//", true), ("", false),
        ("a", false), ("*", false), ("/a b", false), ("/a\r\n", false), ("/\u{0}", false), ("/ä", false),
        ("/a#b", false), ("/\u{7F}", false), ("/\t", false),
    ])
    func originForm(_ text: String, _ expected: Bool) {
        #expect(isValid(.origin(text)) == expected)
    }

    @Test(arguments: [
        ("http://a/b?c", true), ("//a:b", false), ("1x:y", false), (":x", false), ("urn:x", true),
        ("http://a/ b", false), ("http://a\r\n", false),
        ("/a", false),
        ("http://a/#b", false), ("http://ä/", false), ("", false),
    ])
    func absoluteForm(_ text: String, _ expected: Bool) {
        #expect(isValid(.absolute(text)) == expected)
    }

    @Test(arguments: [Method.get, .head, .post, .options, .connect])
    func formsBelongToMethods(_ method: Method) throws {
        let authority = try Authority(host: "a", port: 1)
        #expect(isValid(.origin("/"), method) == (method != .connect))
        #expect(isValid(.absolute("http://a/"), method) == (method != .connect))
        #expect(isValid(.authority(authority), method) == (method == .connect))
        #expect(isValid(.asterisk, method) == (method == .options))
    }

    private func isValid(_ target: RequestTarget, _ method: Method = .get) -> Bool {
        do {
            try target.validate(for: method)
            return true
        } catch {
            #expect(error == .invalidTarget(Excerpt(target.description)))
            return false
        }
    }
}
