// SPDX-License-Identifier: MIT

/// The error for a value of a stream that exceeds a limit of the serializer. The reader skips that value and continues with the
/// next one.
public enum StreamLimitError: Error, Hashable, Sendable {
    /// A line has more bytes than `limit`.
    case lineTooLong(limit: Int)
    /// The data lines of one event together have more bytes than `limit`.
    case eventTooLarge(limit: Int)
}
