// SPDX-License-Identifier: MIT

/// How far a body may grow while its content codings are undone: what stops a compression bomb.
///
/// Two limits: an absolute one on what the caller gets, exact to the byte, and a ratio to the encoded bytes that have
/// been read by then, which also holds between the codings of a stack, there at 20:1 at most above 1 MiB, so that
/// `gzip, gzip` cannot multiply its way past it. What was decoded up to a limit is delivered; the byte after it is the error. A body at the very edge of
/// the ratio may pass in one division and not in another, since how much has been read is a matter of the division.
///
/// The default ratio lies just above the 1032:1 that deflate can reach at most (a body of zeros is legitimate), and
/// only counts once the body is large enough to hurt.
public struct ExpansionLimit: Hashable, Sendable {
    /// Most bytes the whole body may decode to, or nil for no absolute limit.
    public var bytes: Int?
    /// Most decoded bytes for each encoded byte read, or nil for no such limit.
    public var ratio: Int?
    /// So many bytes may be decoded before `ratio` counts.
    public var ratioFloor: Int

    /// 1100:1 once 16 MiB have been decoded; no absolute limit.
    public static let standard = ExpansionLimit()

    /// - Precondition: no value is negative.
    public init(bytes: Int? = nil, ratio: Int? = 1100, ratioFloor: Int = 16 << 20) {
        precondition((bytes ?? 0) >= 0 && (ratio ?? 0) >= 0 && ratioFloor >= 0, "a limit cannot be negative")
        self.bytes = bytes
        self.ratio = ratio
        self.ratioFloor = ratioFloor
    }

    /// The limit between two codings of a stack: an intermediate form may be larger than the body it wraps, so only
    /// the ratio holds there. A stricter one: what is coded already can hardly be made smaller, and what the next coding has to
    /// read costs time even if nothing comes of it.
    var betweenCodings: ExpansionLimit {
        ExpansionLimit(
            bytes: nil, ratio: ratio.map { min($0, Self.ratioBetweenCodings) },
            ratioFloor: min(ratioFloor, Self.floorBetweenCodings))
    }

    private static let ratioBetweenCodings = 20
    private static let floorBetweenCodings = 1 << 20

    /// How many bytes may stand decoded when `received` encoded bytes have been read. A limit that was set below zero
    /// allows nothing.
    func ceiling(received: Int) -> Int {
        max(0, min(bytes ?? .max, ratioCeiling(received: received)))
    }

    /// The error for wanting byte number `decoded + 1`.
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
