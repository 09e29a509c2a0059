// SPDX-License-Identifier: MIT

/// What a stream's server sent more of than the serializer takes. The value that was too large is lost; those after it are
/// read again.
public enum StreamLimitError: Error, Hashable, Sendable {
    /// A line has more bytes than `limit`.
    case lineTooLong(limit: Int)
    /// The data lines of one event together have more bytes than `limit`.
    case eventTooLarge(limit: Int)
}
