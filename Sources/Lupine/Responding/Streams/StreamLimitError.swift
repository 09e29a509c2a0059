// SPDX-License-Identifier: MIT

/// The limit of the serializer that a stream exceeded. The value that was too large is lost; the following ones are read
/// again.
public enum StreamLimitError: Error, Hashable, Sendable {
    /// A line has more bytes than `limit`.
    case lineTooLong(limit: Int)
    /// The data lines of one event together have more bytes than `limit`.
    case eventTooLarge(limit: Int)
}
