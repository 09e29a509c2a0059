// SPDX-License-Identifier: MIT

/// The chaos origin's behaviour at one attempt of a request.
///
/// `script` and `streamScript` perform it, `verdict` states the permitted results.
package enum Misbehaviour: String, CaseIterable, Sendable {
    // Correct behaviour.
    case none, chunked, untilClose, byteWise, splitWrites, slowDrip, interimHeads, manyFields, closeAfter
    case redirect, gzip
    // Wrong, but tolerated.
    case bareLineFeeds, foldedField, closeSilently, halfCloseAfter, trailingBytes, responseBehind
    case resetAfter
    // Wrong framing and content.
    case shortContent, chunkCut, withoutLastChunk, badChunkSize, hugeChunkSize, badChunkEnd, negativeLength
    case hugeLength, twoLengths, lengthAndChunks, gzipCorrupt, gzipCutShort
    // Invalid heads.
    case garbage, otherProtocol, otherVersion, nulInField, bareReturnInField, colonless, oversizedHead
    case tooManyFields, interimFlood, serverError
    // Early ends.
    case closeBeforeHead, resetBeforeHead, halfCloseBeforeHead, closeInHead, resetInHead, resetInBody
    // Timeouts.
    case lateHead, stallInHead, stallInBody, stallInChunkSize
    // Uploads.
    case slowReading, earlyResponse, resetInUpload, closeInUpload
    // Before the request.
    case refused, unanswered, resetAtOnce, closedAtOnce, silent, babbling
    // TLS.
    case alertInHandshake, stallInHandshake, resetInHandshake, cutInHandshake, expired, foreign, untrusted
    case turningCertificates, oldVersion, renegotiation, keyUpdate, noNotifyBehindContent, noNotifyInContent
    case notifyInContent, noiseInContent, alertInContent, stallInRecord, cutInRecord, resetInRecord
    // HTTP/2: correct.
    case padded, smallFrames, unannounced, idleFrames, resetBehindEnd, earlyWithReset, refusedOnce
    // HTTP/2: the stream ends.
    case streamReset, resetInContent, resetInAnswer, streamRefused, malformedHead, wrongLength, wrongOrder
    case listBomb, keptWindow
    // HTTP/2: the connection is shut down, or its settings change.
    case leaveInSteps, leaveAtOnce, leaveWithError, disclaimed, fewerStreams, otherWindows, otherTable
    // HTTP/2: the connection ends, or may end.
    case cutFrame, endWithoutWord, connectionReset, brokenFrame, pushed, flood, floodWithinLimits
    case silentConnection

    /// Whether it is answered normally, after the request's body.
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

    /// The HTTP version that it needs; nil if both will do.
    package var version: ChaosVersion? {
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

    /// Whether it affects the request's body.
    package var needsUpload: Bool {
        switch self {
        case .slowReading, .earlyResponse, .resetInUpload, .closeInUpload, .earlyWithReset, .resetInContent,
            .keptWindow:
            true
        default: false
        }
    }

    /// Whether the origin states that it has not processed a request, so that the client sends it again by itself.
    package var isDisclaimed: Bool { self == .refusedOnce || self == .streamRefused || self == .disclaimed }

    /// Whether it leaves a connection that the client may take for usable: the next request on it must be sent again.
    package var leavesTrap: Bool {
        switch self {
        case .closeSilently, .halfCloseAfter, .resetAfter, .trailingBytes, .responseBehind,
            .noNotifyBehindContent:
            true
        default: false
        }
    }

    /// The door where it is requested; nil for `main`, `calm` or `streams`.
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

    /// The maximum number of octets of content for which it has its effect, or is still quick.
    package var largestContent: Int {
        switch self {
        case .byteWise: 150
        // The client must receive the bytes after the content together with it.
        case .trailingBytes, .responseBehind: 4_000
        case .slowDrip: 100_000
        case .smallFrames: 2_000
        // These frames ignore the flow-control windows.
        case .padded: 8_000
        default: 1 << 20
        }
    }
}
