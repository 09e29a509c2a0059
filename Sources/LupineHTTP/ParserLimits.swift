// SPDX-License-Identifier: MIT

/// The limits on a peer's head and framing, beyond which a message is refused.
///
/// Every limit has a precedent: nginx and Node limit heads to 8 to 64 KiB, curl to 300 KiB; Go and Apache limit the fields. The
/// defaults are generous for what servers actually send and small for a process.
public struct ParserLimits: Hashable, Sendable {
    /// The octets of one head or one trailer section.
    public var headBytes = 256 * 1024
    /// The fields of one head or trailer section.
    public var fieldCount = 1_000
    /// The octets of one line of a head, without its line end; a folded value counts per line.
    public var lineBytes = 64 * 1024
    /// The interim (1xx) heads before the final one.
    public var interimHeads = 32
    /// The octets of chunk extensions beyond the body's: all extensions together may be this much longer than the body received
    /// so far.
    public var chunkExtensionBytes = 4 * 1024

    /// The defaults; each property can be changed.
    public init() {}

    /// The limits in a range that is safe to calculate with: not negative, and within the offsets of `Fields`. So `.max` may
    /// stand for no limit.
    var bounded: ParserLimits {
        var limits = self
        limits.headBytes = min(max(headBytes, 0), Int(Int32.max))
        limits.fieldCount = max(fieldCount, 0)
        limits.lineBytes = min(max(lineBytes, 0), Int(Int32.max))
        limits.interimHeads = max(interimHeads, 0)
        limits.chunkExtensionBytes = min(max(chunkExtensionBytes, 0), Int(Int32.max))
        return limits
    }

    /// A limit's name.
    public enum Limit: Hashable, Sendable, CustomStringConvertible {
        /// `headBytes`, for a head.
        case headBytes
        /// `fieldCount`.
        case fieldCount
        /// `lineBytes`.
        case lineBytes
        /// `interimHeads`.
        case interimHeads
        /// `chunkExtensionBytes`.
        case chunkExtensionBytes
        /// `headBytes`, for trailers.
        case trailerBytes

        public var description: String {
            switch self {
            case .headBytes: "bytes of a head (headBytes)"
            case .fieldCount: "header fields (fieldCount)"
            case .lineBytes: "bytes of a header line (lineBytes)"
            case .interimHeads: "interim responses (interimHeads)"
            case .chunkExtensionBytes: "bytes of chunk extensions (chunkExtensionBytes)"
            case .trailerBytes: "bytes of trailers (headBytes)"
            }
        }
    }
}
