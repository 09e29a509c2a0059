// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Lupine

struct URLConvertibleTests {
    @Test(
        "[E-3.1] the error contains the string that is not a URL",
        arguments: ["", "http://[", "http://a b.c/"])
    func refusedString(_ string: String) {
        let error = #expect(throws: AFError.self) { try string.asURL() }
        #expect(error?.isInvalidURLError == true)
        #expect(error?.urlConvertible as? String == string)
    }

    @Test(
        "[E-3.2] strings that are not URLs are refused",
        arguments: ["", "http://[", "http://a.b:xyz", "http://a b.c/"])
    func refused(_ string: String) {
        #expect(throws: AFError.self) { try string.asURL() }
    }

    @Test(
        "[E-3.2] strings that can be repaired are URLs",
        arguments: [
            ("word", "word"), ("a b", "a%20b"), ("http://x.y/é", "http://x.y/%C3%A9"),
            ("http://h/p?k=[1]", "http://h/p?k=%5B1%5D"), ("https://h.test/p?q#f", "https://h.test/p?q#f"),
        ])
    func taken(_ string: String, _ url: String) throws {
        #expect(try string.asURL().absoluteString == url)
    }

    @Test("a URL is converted to itself")
    func url() throws {
        let url = try #require(URL(string: "http://h.test/p"))
        #expect(try url.asURL() == url)
    }

    @Test("components are converted to their URL")
    func components() throws {
        var components = URLComponents()
        (components.scheme, components.host, components.path) = ("http", "h.test", "/p")
        #expect(try components.asURL().absoluteString == "http://h.test/p")
    }

    @Test("[E-3.3] the error contains the components that form no URL")
    func refusedComponents() {
        var components = URLComponents()
        components.path = "//foo"
        let error = #expect(throws: AFError.self) { try components.asURL() }
        #expect(error?.urlConvertible as? URLComponents == components)
    }
}
