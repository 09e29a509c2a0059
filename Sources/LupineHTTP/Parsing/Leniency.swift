// SPDX-License-Identifier: MIT

/// What a head may get away with, each tolerance by its name and with its reason.
///
/// Chunk framing is never lenient, a bare CR is never taken for a line end, and the server side tolerates nothing:
/// those are the ways in which two readers of one stream come to disagree.
public struct Leniency: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// LF alone ends a line of a head. RFC 9112 §2.2 allows it; CGI scripts send it.
    public static let bareLineFeed = Leniency(rawValue: 1)
    /// A line that begins with a blank continues the field before it. RFC 9112 §5.2 asks a client to take it from
    /// old servers, with the fold replaced by a space.
    public static let obsoleteFolding = Leniency(rawValue: 2)
    /// `HTTP/1.1 200` without the space that a missing reason phrase still needs. Old servers and embedded ones.
    public static let missingReason = Leniency(rawValue: 4)

    /// What a client grants to responses.
    public static let client: Leniency = [.bareLineFeed, .obsoleteFolding, .missingReason]
    /// Nothing.
    public static let strict: Leniency = []
}
