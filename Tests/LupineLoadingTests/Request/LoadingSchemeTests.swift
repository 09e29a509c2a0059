// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import LupineLoading

/// The scheme that a request stores beside its URL.
struct LoadingSchemeTests {
    @Test(arguments: [
        ("http://a/", LoadingScheme.http), ("HTTP://a/", .http), ("https://a/", .https),
        ("hTTps://a/", .https), ("ws://a/", .ws), ("wss://a/", .wss), ("WSS://a/", .wss),
        ("file:///a", .file), ("data:,a", .data),
        ("ftp://a/", .other), ("httpx://a/", .other), ("a", .none), ("//a/b", .none),
    ])
    func ofAnAddress(_ text: String, _ scheme: LoadingScheme) throws {
        let url = try #require(URL(string: text))
        #expect(LoadingScheme(of: url) == scheme)
        #expect(URLRequest(url: url).contents.value.scheme == scheme)
    }

    @Test func schemeOfTheURL() throws {
        var request = URLRequest(url: try #require(URL(string: "http://a/")))
        let copy = request
        request.url = URL(string: "data:,a")
        #expect(request.contents.value.scheme == .data && copy.contents.value.scheme == .http)
        request.url = nil
        #expect(request.contents.value.scheme == .none)
    }
}
