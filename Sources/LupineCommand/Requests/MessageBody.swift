// SPDX-License-Identifier: MIT

internal import Foundation

/// The body of a request.
enum MessageBody: Hashable, Sendable {
    case none
    case data(Data)
    /// A file, read while it is sent.
    case file(path: String, count: Int64)
    /// The standard input, read while it is sent.
    case standardInput(path: String)

    /// Whether the request has no body.
    var isNone: Bool { self == .none }
}

/// The content of a request: its body with its type, and the query parameters that come from items and options.
struct RequestContent: Sendable {
    var body = MessageBody.none
    /// The media type, which a header field of the user replaces.
    var type: String?
    /// The query parameters of items.
    var query: [(name: String, value: String?)] = []
    /// The encoded part of the query, from `-G` and `--url-query`.
    var rawQuery: String?
    /// The name of the body's source in usage errors.
    var source = ""
    /// Whether the request prefers JSON as the response.
    var wantsJSON = false
}
