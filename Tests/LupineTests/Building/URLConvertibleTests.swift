// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Lupine

struct URLConvertibleTests {
    @Test("[E-3.1] a string that is no URL is in the error", arguments: ["", "http://[", "http://a b.c/"])
    func refusedString(_ string: String) {
        let error = #expect(throws: AFError.self) { try string.asURL() }
        #expect(error?.isInvalidURLError == true)
        #expect(error?.urlConvertible as? String == string)
    }

    @Test(
        "[E-3.2] what is no URL is refused", arguments: ["", "http://[", "http://a.b:xyz", "http://a b.c/"])
    func refused(_ string: String) {
        #expect(throws: AFError.self) { try string.asURL() }
    }

    @Test(
        "[E-3.2] what can be made a URL is one",
        arguments: [
            ("word", "word"), ("a b", "a%20b"), ("http://x.y/é", "http://x.y/%C3%A9"),
            ("http://h/p?k=[1]", "http://h/p?k=%5B1%5D"), ("https://h.test/p?q#f", "https://h.test/p?q#f"),
        ])
    func taken(_ string: String, _ url: String) throws {
        #expect(try string.asURL().absoluteString == url)
    }

    @Test("a URL is itself")
    func url() throws {
        let url = try #require(URL(string: "http://h.test/p"))
        #expect(try url.asURL() == url)
    }

    @Test("components are their URL")
    func components() throws {
        var components = URLComponents()
        (components.scheme, components.host, components.path) = ("http", "h.test", "/p")
        #expect(try components.asURL().absoluteString == "http://h.test/p")
    }

    @Test("[E-3.3] components that make no URL are in the error")
    func refusedComponents() {
        var components = URLComponents()
        components.path = "//foo"
        let error = #expect(throws: AFError.self) { try components.asURL() }
        #expect(error?.urlConvertible as? URLComponents == components)
    }
}
