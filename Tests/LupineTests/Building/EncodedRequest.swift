// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

@testable import Lupine

/// The request that a test encodes parameters into, with the parts that it checks.
struct EncodedRequest {
    var request: URLRequest

    init(_ request: URLRequest) { self.request = request }

    /// Returns a request without parameters.
    static func plain(_ method: String = "GET", _ address: String = "http://h/p") throws -> URLRequest {
        guard let url = URL(string: address) else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.httpMethod = method
        return request
    }

    var address: String? { request.url?.absoluteString }
    var body: String? { request.httpBody.map { String(decoding: $0, as: UTF8.self) } }
    var type: String? { request.value(forHTTPHeaderField: "Content-Type") }
}

/// A convertible that fails.
struct FailingConvertible: URLRequestConvertible {
    struct Failure: Error {}
    func asURLRequest() throws -> URLRequest { throw Failure() }
}
