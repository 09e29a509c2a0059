// SPDX-License-Identifier: MIT

/// The limits on a peer's heads and framing. A codec refuses a message that exceeds one of them.
///
/// The defaults are far above what servers send, and small for the memory of a process. For comparison, nginx and Node limit
/// heads to 8 to 64 KiB, and curl limits them to 300 KiB. Go and Apache limit the fields.
public struct ParserLimits: Hashable, Sendable {
    /// The maximum length in octets of a head or a trailer section.
    public var headBytes = 256 * 1024
    /// The maximum number of fields in a head or a trailer section.
    public var fieldCount = 1_000
    /// The maximum length in octets of a line of a head, without its line end. Each line of a folded value counts separately.
    public var lineBytes = 64 * 1024
    /// The maximum number of interim (1xx) heads before the final one.
    public var interimHeads = 32
    /// The number of octets by which all chunk extensions together may be longer than the content received so far.
    public var chunkExtensionBytes = 4 * 1024

    /// Creates the default limits.
    public init() {}

    /// The limits, clamped to 0 and above and, for octets, to 31 bits. `Fields` stores offsets of 32 bits, and the parser adds to
    /// limits, which would overflow for `.max`.
    var clamped: ParserLimits {
        var limits = self
        limits.headBytes = min(max(headBytes, 0), Int(Int32.max))
        limits.fieldCount = max(fieldCount, 0)
        limits.lineBytes = min(max(lineBytes, 0), Int(Int32.max))
        limits.interimHeads = max(interimHeads, 0)
        limits.chunkExtensionBytes = min(max(chunkExtensionBytes, 0), Int(Int32.max))
        return limits
    }

    /// The name of a limit, for errors.
    public enum Limit: Hashable, Sendable, CustomStringConvertible {
        /// The limit `headBytes` on a head.
        case headBytes
        /// `fieldCount`.
        case fieldCount
        /// `lineBytes`.
        case lineBytes
        /// `interimHeads`.
        case interimHeads
        /// `chunkExtensionBytes`.
        case chunkExtensionBytes
        /// The limit `headBytes` on a trailer section.
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
