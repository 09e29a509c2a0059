// SPDX-License-Identifier: MIT

/// The tolerances of a parser of heads: violations of the grammar that it accepts.
///
/// There are no tolerances for requests, for a CR without LF, or for the framing of chunks. Implementations that tolerate
/// different violations there could read the same octets as different messages.
public struct Leniency: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// LF without CR ends a line of a head. RFC 9112 §2.2 allows a recipient to accept it; CGI scripts send it.
    public static let bareLineFeed = Leniency(rawValue: 1)
    /// A line that begins with a blank continues the value of the previous field. RFC 9112 §5.2 requires a client to replace the
    /// fold by a space; old servers send it.
    public static let obsoleteFolding = Leniency(rawValue: 2)
    /// The status line lacks the space after the code, as in `HTTP/1.1 200`. RFC 9112 §4 requires the space even without a reason
    /// phrase. Old and embedded servers omit it.
    public static let missingReason = Leniency(rawValue: 4)

    /// The tolerances of a client for responses.
    public static let client: Leniency = [.bareLineFeed, .obsoleteFolding, .missingReason]
    /// No tolerances.
    public static let strict: Leniency = []
}
