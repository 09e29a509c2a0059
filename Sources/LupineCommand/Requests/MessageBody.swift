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

    var isNone: Bool { self == .none }
}

/// A body with its type and its part of the query.
struct RequestContent: Sendable {
    var body = MessageBody.none
    /// The media type, unless the user sets another.
    var type: String?
    /// The query parameters of items.
    var query: [(name: String, value: String?)] = []
    /// The part of the query that is encoded already, from `-G` and `--url-query`.
    var rawQuery: String?
    /// The source's name in usage errors.
    var source = ""
    /// Whether JSON is preferred in the response.
    var wantsJSON = false
}
