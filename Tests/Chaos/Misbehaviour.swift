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
    // Of HTTP/2. Nothing wrong.
    case padded, smallFrames, unannounced, idleFrames, resetBehindEnd, earlyWithReset, refusedOnce
    // The stream ends.
    case streamReset, resetInContent, resetInAnswer, streamRefused, malformedHead, wrongLength, wrongOrder
    case listBomb, keptWindow
    // The connection goes, or changes what it allows.
    case leaveInSteps, leaveAtOnce, leaveWithError, disclaimed, fewerStreams, otherWindows, otherTable
    // The connection ends, or might.
    case cutFrame, endWithoutWord, connectionReset, brokenFrame, pushed, flood, floodWithinLimits
    case silentConnection

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

    /// What has to be spoken for it; nil where it can be done in either.
    package var speech: ChaosSpeech? {
        switch self {
        case .none, .redirect, .gzip, .gzipCorrupt, .gzipCutShort, .interimHeads, .interimFlood, .manyFields,
            .slowDrip, .slowReading, .serverError, .lateHead, .stallInBody, .refused, .unanswered,
            .resetAtOnce, .closedAtOnce, .silent, .babbling, .alertInHandshake, .stallInHandshake,
            .resetInHandshake, .cutInHandshake, .expired, .foreign, .untrusted, .turningCertificates,
            .oldVersion:
            nil
        case .padded, .smallFrames, .unannounced, .idleFrames, .resetBehindEnd, .earlyWithReset, .refusedOnce,
            .streamReset, .resetInContent, .resetInAnswer, .streamRefused, .malformedHead, .wrongLength,
            .wrongOrder, .listBomb, .keptWindow, .leaveInSteps, .leaveAtOnce, .leaveWithError, .disclaimed,
            .fewerStreams, .otherWindows, .otherTable, .cutFrame, .endWithoutWord, .connectionReset,
            .brokenFrame, .pushed, .flood, .floodWithinLimits, .silentConnection:
            .http2
        default: .http1
        }
    }

    /// Whether it is done to a request's body.
    package var needsUpload: Bool {
        switch self {
        case .slowReading, .earlyResponse, .resetInUpload, .closeInUpload, .earlyWithReset, .resetInContent,
            .keptWindow:
            true
        default: false
        }
    }

    /// Whether the origin says that it has done nothing about a request, and is asked again without the caller's doing.
    package var isDisclaimed: Bool { self == .refusedOnce || self == .streamRefused || self == .disclaimed }

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
        case .leaveInSteps, .leaveAtOnce, .fewerStreams, .otherWindows, .otherTable: .leaving
        case .disclaimed: .disclaiming
        case .leaveWithError, .cutFrame, .endWithoutWord, .connectionReset, .brokenFrame, .pushed, .flood,
            .floodWithinLimits:
            .breaking
        case .silentConnection: .stalling
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
        case .smallFrames: 2_000
        // These frames do not ask whether there is room for them.
        case .padded: 8_000
        default: 1 << 20
        }
    }
}
