// SPDX-License-Identifier: MIT

/// What the chaos origin does to one attempt of a request.
///
/// `steps` says how it is done, `verdict` what may come of it.
package enum Misbehaviour: String, CaseIterable, Sendable {
    // Nothing wrong.
    case none, chunked, untilClose, byteWise, splitWrites, slowDrip, interimHeads, manyFields, closeAfter
    case redirect, gzip
    // Wrong, and to be put up with.
    case bareLineFeeds, foldedField, closeSilently, halfCloseAfter, trailingBytes, responseBehind
    case resetAfter
    // Framing and content that lie.
    case shortContent, chunkCut, withoutLastChunk, badChunkSize, hugeChunkSize, badChunkEnd, negativeLength
    case hugeLength, twoLengths, lengthAndChunks, gzipCorrupt, gzipCutShort
    // Heads that are none.
    case garbage, otherProtocol, otherVersion, nulInField, bareReturnInField, colonless, oversizedHead
    case tooManyFields, interimFlood, serverError
    // Ends too early.
    case closeBeforeHead, resetBeforeHead, halfCloseBeforeHead, closeInHead, resetInHead, resetInBody
    // Comes too late.
    case lateHead, stallInHead, stallInBody, stallInChunkSize
    // Uploads.
    case slowReading, earlyResponse, resetInUpload, closeInUpload
    // Before there is a request.
    case refused, unanswered, resetAtOnce, closedAtOnce, silent, babbling
    // Of TLS.
    case alertInHandshake, stallInHandshake, resetInHandshake, cutInHandshake, expired, foreign, untrusted
    case turningCertificates, oldVersion, renegotiation, keyUpdate, noNotifyBehindContent, noNotifyInContent
    case notifyInContent, noiseInContent, alertInContent, stallInRecord, cutInRecord, resetInRecord

    /// Whether it is answered in the ordinary way, the request's body and all.
    package var isServed: Bool { self == .none }

    /// Whether it needs TLS.
    package var needsTLS: Bool {
        switch self {
        case .alertInHandshake, .stallInHandshake, .resetInHandshake, .cutInHandshake, .expired, .foreign,
            .untrusted, .turningCertificates, .oldVersion, .renegotiation, .keyUpdate, .noNotifyBehindContent,
            .noNotifyInContent, .notifyInContent, .noiseInContent, .alertInContent, .stallInRecord,
            .cutInRecord, .resetInRecord:
            true
        default: false
        }
    }

    /// Whether it is done to a request's body.
    package var needsUpload: Bool {
        switch self {
        case .slowReading, .earlyResponse, .resetInUpload, .closeInUpload: true
        default: false
        }
    }

    /// Whether it leaves a connection that the client may take for usable: the next request on it has to be sent again.
    package var leavesTrap: Bool {
        switch self {
        case .closeSilently, .halfCloseAfter, .resetAfter, .trailingBytes, .responseBehind,
            .noNotifyBehindContent:
            true
        default: false
        }
    }

    /// Where it is asked for; nil: at `main` or `calm`.
    package var door: ChaosDoor? {
        switch self {
        case .refused: .refused
        case .unanswered: .unanswered
        case .resetAtOnce: .resetting
        case .closedAtOnce: .closing
        case .silent: .silent
        case .babbling: .babbling
        case .alertInHandshake: .alerting
        case .stallInHandshake: .stallingHandshake
        case .resetInHandshake: .resettingHandshake
        case .cutInHandshake: .cuttingHandshake
        case .expired: .expired
        case .foreign: .foreign
        case .untrusted: .untrusted
        case .turningCertificates: .turning
        case .oldVersion, .renegotiation: .old
        default: nil
        }
    }

    /// The most octets of content for which it is what it says, or still quick.
    package var largestContent: Int {
        switch self {
        case .byteWise: 150
        // The client has to find what is behind the content together with it.
        case .trailingBytes, .responseBehind: 4_000
        case .slowDrip: 100_000
        default: 1 << 20
        }
    }
}
