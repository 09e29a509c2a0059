// SPDX-License-Identifier: MIT

/// The limits on the expansion of a body by its content codings: the protection against a compression bomb, a small body that
/// decodes to a huge one.
///
/// There are two limits: `bytes` limits the decoded size, exact to the byte, and `ratio` limits the decoded size in
/// proportion to the encoded bytes read so far. If a body has several codings, a stricter ratio applies to the data between two
/// codings: at most 20:1 above 1 MiB. The ratios of `gzip, gzip` therefore cannot multiply. The bytes up to a limit are
/// delivered, and the next byte is an error. Whether a body exactly at the ratio fails may depend on the pieces in which it
/// arrives, because they determine how many encoded bytes have been read.
///
/// The default ratio is just above 1032:1, the maximum of deflate, which a body of zeros reaches. It applies only to bodies that
/// are large enough to do harm.
public struct ExpansionLimit: Hashable, Sendable {
    /// The maximum decoded size of the body in bytes, or nil for no absolute limit.
    public var bytes: Int?
    /// The maximum number of decoded bytes for each encoded byte, or nil for no such limit.
    public var ratio: Int?
    /// The number of decoded bytes up to which `ratio` does not apply.
    public var ratioFloor: Int

    /// The ratio 1100:1 above 16 MiB of decoded bytes, and no absolute limit.
    public static let standard = ExpansionLimit()

    /// Creates limits. The defaults are those of `standard`.
    ///
    /// - Precondition: No value is negative.
    public init(bytes: Int? = nil, ratio: Int? = 1100, ratioFloor: Int = 16 << 20) {
        precondition((bytes ?? 0) >= 0 && (ratio ?? 0) >= 0 && ratioFloor >= 0, "a limit cannot be negative")
        self.bytes = bytes
        self.ratio = ratio
        self.ratioFloor = ratioFloor
    }

    /// The limit on the data between two codings. That data may be larger than the decoded body, so only the ratio applies. The
    /// ratio is stricter for two reasons: encoded data can hardly be compressed again, and the next decoder needs time to read
    /// the data even if it decodes to nothing.
    var betweenCodings: ExpansionLimit {
        ExpansionLimit(
            bytes: nil, ratio: ratio.map { min($0, Self.ratioBetweenCodings) },
            ratioFloor: min(ratioFloor, Self.floorBetweenCodings))
    }

    private static let ratioBetweenCodings = 20
    private static let floorBetweenCodings = 1 << 20

    /// Returns how many bytes in total may be decoded from the first `received` bytes of the body. Returns 0 if a property is
    /// negative.
    func ceiling(received: Int) -> Int {
        max(0, min(bytes ?? .max, ratioCeiling(received: received)))
    }

    /// Returns the error for a body that decodes to more than the `decoded` bytes that a limit allows. `received` is the number
    /// of encoded bytes that have been read.
    func error(for coding: ContentCoding, received: Int, decoded: Int) -> CodingError {
        if let bytes, decoded >= bytes { return .outputLimit(coding: coding, limit: bytes) }
        return .ratioLimit(coding: coding, limit: ratio ?? .max, received: received, decoded: decoded)
    }

    /// Returns how many bytes in total `ratio` and `ratioFloor` allow to be decoded from the first `received` bytes of the body.
    private func ratioCeiling(received: Int) -> Int {
        guard let ratio else { return .max }
        let (product, overflow) = received.multipliedReportingOverflow(by: ratio)
        return overflow ? .max : max(product, ratioFloor)
    }
}
