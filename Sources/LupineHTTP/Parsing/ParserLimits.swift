// SPDX-License-Identifier: MIT

/// How much of a peer's head and framing is taken before the message is refused.
///
/// Every limit has a precedent: nginx and Node stop heads at 8 to 64 KiB, curl at 300 KiB; Go and Apache know
/// limits on fields. The defaults are generous for what servers really send and small for a process.
public struct ParserLimits: Hashable, Sendable {
    /// Octets of one head, or of one trailer section, in all.
    public var headBytes = 256 * 1024
    /// Fields of one head or trailer section.
    public var fieldCount = 1_000
    /// Octets of one line of a head, without its line end; a folded value counts per line.
    public var lineBytes = 64 * 1024
    /// Interim (1xx) heads before the final one.
    public var interimHeads = 32
    /// Octets of chunk extensions that no body octet pays for: all extensions together may be this much longer
    /// than the body received so far.
    public var chunkExtensionBytes = 4 * 1024

    /// The defaults; each is a property to change.
    public init() {}

    /// The same where they can be counted with: no less than nothing, no more than the offsets in `Fields` reach. So
    /// `.max` may stand for no limit at all.
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
