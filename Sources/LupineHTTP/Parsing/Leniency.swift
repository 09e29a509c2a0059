// SPDX-License-Identifier: MIT

/// The tolerances for a head, each with its name and reason.
///
/// There are none for chunk framing, for a bare CR, or for requests: with those, two implementations could read one stream
/// differently.
public struct Leniency: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// LF alone ends a line of a head. RFC 9112 §2.2 allows it; CGI scripts send it.
    public static let bareLineFeed = Leniency(rawValue: 1)
    /// A line that begins with a blank continues the previous field. RFC 9112 §5.2 requires a client to accept this from old
    /// servers, with the fold replaced by a space.
    public static let obsoleteFolding = Leniency(rawValue: 2)
    /// `HTTP/1.1 200` without the space that is required even without a reason phrase. Old and embedded servers send it.
    public static let missingReason = Leniency(rawValue: 4)

    /// The tolerances of a client for responses.
    public static let client: Leniency = [.bareLineFeed, .obsoleteFolding, .missingReason]
    /// No tolerances.
    public static let strict: Leniency = []
}
