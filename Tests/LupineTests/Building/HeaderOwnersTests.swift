// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Lupine

/// The headers of responses and of configurations.
struct HeaderOwnersTests {
    @Test("a response has the received headers")
    func response() throws {
        let url = try #require(URL(string: "http://h.test"))
        let response = try #require(
            HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: nil,
                headerFields: ["Content-Type": "a/b", "X-Own": "1"]))
        #expect(response.headers.sorted() == ["Content-Type": "a/b", "X-Own": "1"])
        #expect(response.headers["content-type"] == "a/b")
        let bare = try #require(
            HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        #expect(bare.headers.isEmpty)
    }

    @Test("a response whose fields are not strings has none")
    func responseOfOtherFields() throws {
        final class Odd: HTTPURLResponse, @unchecked Sendable {
            override var allHeaderFields: [AnyHashable: Any] { ["a": 1] }
        }
        let url = try #require(URL(string: "http://h.test"))
        let response = try #require(Odd(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        #expect(response.headers.isEmpty)
    }

    @Test("a configuration's headers are its additional headers")
    func configuration() {
        let configuration = URLSessionConfiguration.ephemeral
        #expect(configuration.headers.isEmpty)
        configuration.headers = ["b": "1", "A": "2"]
        #expect(configuration.httpAdditionalHeaders as? [String: String] == ["b": "1", "A": "2"])
        #expect(configuration.headers.sorted() == ["A": "2", "b": "1"])
        configuration.headers.update(name: "B", value: "3")
        #expect(configuration.httpAdditionalHeaders as? [String: String] == ["B": "3", "A": "2"])
        configuration.httpAdditionalHeaders = ["a": 1]
        #expect(configuration.headers.isEmpty)
    }
}
