// SPDX-License-Identifier: MIT

internal import Foundation

/// The body of a request.
enum MessageBody: Hashable, Sendable {
    case none
    case data(Data)
    /// The content of a file, with its length in bytes. `RequestPlan` decides whether the file is read before it is sent or while
    /// it is sent.
    case file(path: String, length: Int64)
    /// The standard input, read by this path while it is sent.
    case standardInput(path: String)

    /// Whether the request has no body.
    var isNone: Bool { self == .none }
}

/// The content of a request: its body with its type, and the query parameters that come from items and options.
struct RequestContent: Sendable {
    var body = MessageBody.none
    /// The media type of the body. A `Content-Type` field that the user gives replaces it.
    var type: String?
    /// The query parameters of items, which are not encoded yet.
    var queryParameters: [(name: String, value: String?)] = []
    /// The query of `-G` and `--url-query`; nil if there is none. It is not encoded again.
    var encodedQuery: String?
    /// What makes the body, such as `-d` or `items`, for usage errors. Empty if there is no body.
    var bodySource = ""
    /// Whether `Accept` prefers JSON. As with HTTPie, a request with a JSON body asks for a JSON response.
    var prefersJSON = false
}
