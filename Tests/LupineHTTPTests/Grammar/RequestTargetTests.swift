// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP

@Suite struct RequestTargetTests {
    @Test(arguments: [
        ("/", true), ("/a?b=c%20d", true), ("/a:b@c!$&'()*+,;=-._~", true), ("//", true), ("", false),
        ("a", false), ("*", false), ("/a b", false), ("/a\r\n", false), ("/\u{0}", false), ("/ä", false),
        ("/a#b", false), ("/\u{7F}", false), ("/\t", false),
    ])
    func originForm(_ text: String, _ isValid: Bool) {
        #expect(valid(.origin(text)) == isValid)
    }

    @Test(arguments: [
        ("http://a/b?c", true), ("//a:b", false), ("1x:y", false), (":x", false), ("urn:x", true),
        ("http://a/ b", false), ("http://a\r\n", false),
        ("/a", false),
        ("http://a/#b", false), ("http://ä/", false), ("", false),
    ])
    func absoluteForm(_ text: String, _ isValid: Bool) {
        #expect(valid(.absolute(text)) == isValid)
    }

    @Test(arguments: [Method.get, .head, .post, .options, .connect])
    func formsBelongToMethods(_ method: Method) throws {
        let authority = try Authority(host: "a", port: 1)
        #expect(valid(.origin("/"), method) == (method != .connect))
        #expect(valid(.absolute("http://a/"), method) == (method != .connect))
        #expect(valid(.authority(authority), method) == (method == .connect))
        #expect(valid(.asterisk, method) == (method == .options))
    }

    private func valid(_ target: RequestTarget, _ method: Method = .get) -> Bool {
        do {
            try target.validate(for: method)
            return true
        } catch {
            #expect(error == .invalidTarget(Excerpt(target.description)))
            return false
        }
    }
}
