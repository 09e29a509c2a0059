// SPDX-License-Identifier: MIT

/// What has a value for a response without content. A program may conform its own types.
public protocol EmptyResponse: Sendable {
    /// The value of a response without content.
    static func emptyValue() -> Self
}

/// Nothing: what a response without content is decoded into. All of them are equal.
public struct Empty: Hashable, Codable, Sendable, EmptyResponse {
    /// The one value.
    public static let value = Empty()

    private init() {}

    /// `value`.
    public static func emptyValue() -> Empty { value }
}
