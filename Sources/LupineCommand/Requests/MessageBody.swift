// SPDX-License-Identifier: MIT

internal import Foundation

/// What a request carries.
enum MessageBody: Hashable, Sendable {
    case none
    case data(Data)
    /// A file, read while it is sent.
    case file(path: String, count: Int64)
    /// The standard input, read while it is sent.
    case standardInput(path: String)

    var isNone: Bool { self == .none }
}

/// A body and what goes with it.
struct RequestContent: Sendable {
    var body = MessageBody.none
    /// Its type, unless the user gives another.
    var type: String?
    /// What items and `-G` add to the query.
    var query: [(name: String, value: String?)] = []
    /// A query that is complete: `-G`.
    var rawQuery: String?
    /// How a usage error names its source.
    var source = ""
    /// A JSON answer is asked for.
    var wantsJSON = false
}
