// SPDX-License-Identifier: MIT

/// The limits on a peer's head and framing, beyond which a message is refused.
///
/// Other implementations have such limits too: nginx and Node limit heads to 8 to 64 KiB, curl to 300 KiB; Go and Apache limit
/// the fields. The defaults are far above what servers send, and small for a process.
public struct ParserLimits: Hashable, Sendable {
    /// The most octets of one head or one trailer section.
    public var headBytes = 256 * 1024
    /// The most fields of one head or trailer section.
    public var fieldCount = 1_000
    /// The most octets of one line of a head, without its line end; each line of a folded value counts separately.
    public var lineBytes = 64 * 1024
    /// The most interim (1xx) heads before the final one.
    public var interimHeads = 32
    /// The number of octets by which all chunk extensions together may be longer than the body received so far.
    public var chunkExtensionBytes = 4 * 1024

    /// Creates the default limits.
    public init() {}

    /// The limits, clamped to numbers that are not negative and within the offsets of `Fields`, so that the parser can calculate
    /// with them even if a limit is `.max`.
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
