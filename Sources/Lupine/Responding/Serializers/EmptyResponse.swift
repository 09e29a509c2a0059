// SPDX-License-Identifier: MIT

/// A type that has a value for a response without content. Programs may conform their own types.
public protocol EmptyResponse: Sendable {
    /// Returns the value for a response without content.
    static func emptyValue() -> Self
}

/// The type to decode if responses have no content. It has a single value.
public struct Empty: Hashable, Codable, Sendable, EmptyResponse {
    /// The only value.
    public static let value = Empty()

    private init() {}

    /// Returns `value`.
    public static func emptyValue() -> Empty { value }
}
