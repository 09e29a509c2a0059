// SPDX-License-Identifier: MIT

import Foundation

@testable import Lupine
@testable import LupineLoading

/// The parts of a response, for tests of responses that no server sent.
struct ResponseEvidence: Sendable {
    var request: URLRequest?
    var response: HTTPURLResponse?
    var data: Data? = Data("one\ntwo\n".utf8)
    var fileURL: URL? = URL(fileURLWithPath: "/tmp/a folder/file.txt")
    /// A quarter of a second.
    var metrics: URLSessionTaskMetrics? = URLSessionTaskMetrics(
        hops: [], redirectCount: 0, created: Date(timeIntervalSinceReferenceDate: 0),
        completed: Date(timeIntervalSinceReferenceDate: 0.25))

    init(
        method: String = "POST",
        headers: [String: String] = ["Content-Type": "application/json", "accept": "a/b"],
        body: Data? = Data("\n  {\n  \"k\": 1\n}\n\n".utf8),
        status: Int = 200, answered: [String: String] = ["Content-Type": "text/plain", "X-Id": "7"]
    ) {
        guard let url = URL(string: "http://h.test/x") else { return }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.allHTTPHeaderFields = headers
        request.httpBody = body
        self.request = request
        response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: answered)
    }
}
