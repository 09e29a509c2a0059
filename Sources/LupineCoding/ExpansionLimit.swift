// SPDX-License-Identifier: MIT

/// The limits on the expansion of a body by its content codings: the protection against a compression bomb.
///
/// There are two limits: an absolute one on the output, exact to the byte, and a ratio to the encoded bytes read so far. A
/// stricter ratio applies between the codings of a stack, at most 20:1 above 1 MiB, so that `gzip, gzip` cannot multiply two
/// ratios. The bytes up to a limit are delivered; the next byte is the error. A body just at the ratio may pass or fail depending
/// on how its input is divided, because that determines how much has been read.
///
/// The default ratio is just above the 1032:1 that deflate can reach at most (a body of zeros is legitimate), and applies only
/// once the body is large enough to do harm.
public struct ExpansionLimit: Hashable, Sendable {
    /// The maximum decoded size of the body in bytes, or nil for no absolute limit.
    public var bytes: Int?
    /// The maximum number of decoded bytes for each encoded byte read, or nil for no such limit.
    public var ratio: Int?
    /// The number of bytes that may be decoded before `ratio` applies.
    public var ratioFloor: Int

    /// 1100:1 once 16 MiB have been decoded; no absolute limit.
    public static let standard = ExpansionLimit()

    /// Creates limits; the defaults are those of `standard`.
    ///
    /// - Precondition: no value is negative.
    public init(bytes: Int? = nil, ratio: Int? = 1100, ratioFloor: Int = 16 << 20) {
        precondition((bytes ?? 0) >= 0 && (ratio ?? 0) >= 0 && ratioFloor >= 0, "a limit cannot be negative")
        self.bytes = bytes
        self.ratio = ratio
        self.ratioFloor = ratioFloor
    }

    /// The limit between two codings of a stack. An intermediate form may be larger than the body, so only the ratio applies. It
    /// is stricter, because coded data can hardly be compressed again, and reading it costs the next coding time even if it
    /// decodes to nothing.
    var betweenCodings: ExpansionLimit {
        ExpansionLimit(
            bytes: nil, ratio: ratio.map { min($0, Self.ratioBetweenCodings) },
            ratioFloor: min(ratioFloor, Self.floorBetweenCodings))
    }

    private static let ratioBetweenCodings = 20
    private static let floorBetweenCodings = 1 << 20

    /// Returns how many bytes may be decoded in total once `received` encoded bytes have been read: none if a property was set to
    /// a negative number.
    func ceiling(received: Int) -> Int {
        max(0, min(bytes ?? .max, ratioCeiling(received: received)))
    }

    /// The error for decoding byte number `decoded + 1`.
    func error(for coding: ContentCoding, received: Int, decoded: Int) -> CodingError {
        if let bytes, decoded >= bytes { return .outputLimit(coding: coding, limit: bytes) }
        return .ratioLimit(coding: coding, limit: ratio ?? .max, received: received, decoded: decoded)
    }

    private func ratioCeiling(received: Int) -> Int {
        guard let ratio else { return .max }
        let (product, overflow) = received.multipliedReportingOverflow(by: ratio)
        return overflow ? .max : max(product, ratioFloor)
    }
}
