// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTransport

/// A public function that reads the body of a client's response, by its name.
struct LimitBody: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Whether the body is collected in memory.
    let collects: Bool
    /// Reads the whole body; the second argument limits the number of bytes that may be collected.
    let read: @Sendable (ResponseBody, Int) async throws(TransportError) -> Int

    init(
        _ name: String, collects: Bool = true,
        _ read: @escaping @Sendable (ResponseBody, Int) async throws(TransportError) -> Int
    ) {
        testDescription = name
        self.collects = collects
        self.read = read
    }

    static let all = [
        LimitBody("ResponseBody.collect") { body, limit async throws(TransportError) in
            try await body.collect(upTo: limit).count
        },
        LimitBody("ResponseBody.text") { body, limit async throws(TransportError) in
            try await body.text(upTo: limit).utf8.count
        },
        LimitBody("ResponseBody.makeAsyncIterator", collects: false) { body, _ async throws(TransportError) in
            var (pieces, count) = (body.makeAsyncIterator(), 0)
            while let piece = try await pieces.next() { count += piece.count }
            return count
        },
    ]
}
