// SPDX-License-Identifier: MIT

/// The kinds of errors that a request can end with, without their associated values.
package enum ChaosFailure: String, CaseIterable, Sendable {
    /// The connection could not be made.
    case cannotConnect
    /// A timeout expired.
    case timedOut
    /// The connection ended too early.
    case lost
    /// The response is not valid HTTP.
    case badResponse
    /// A head exceeds the limits.
    case tooLarge
    /// The handshake, or TLS after it, failed.
    case insecure
    /// The server's certificate is not trusted.
    case untrusted
    /// The content's coding is corrupt.
    case corrupt
    /// The content's coding ends too early.
    case cutShort
    /// Validation refuses the status.
    case refusedStatus
    /// The caller cancelled.
    case cancelled
    /// Any other error, which is always a violation.
    case unexpected
}

/// The permitted results of an attempt.
package struct ChaosVerdict: Hashable, Sendable {
    /// Whether it may succeed.
    package let allowsSuccess: Bool
    /// The errors that are permitted.
    package let failures: Set<ChaosFailure>

    /// It must succeed.
    static let whole = ChaosVerdict(allowsSuccess: true, failures: [])

    /// Returns a verdict that requires one of these errors.
    static func fails(_ failures: ChaosFailure...) -> ChaosVerdict {
        ChaosVerdict(allowsSuccess: false, failures: Set(failures))
    }

    /// Returns a verdict that permits success or one of these errors, depending on how packets cross.
    static func either(_ failures: ChaosFailure...) -> ChaosVerdict { either(Set(failures)) }

    /// Returns a verdict that permits success or one of a set of errors.
    static func either(_ failures: Set<ChaosFailure>) -> ChaosVerdict {
        ChaosVerdict(allowsSuccess: true, failures: failures)
    }
}

extension Misbehaviour {
    /// The permitted results of an attempt that meets it.
    package var verdict: ChaosVerdict {
        switch self {
        case .none, .chunked, .untilClose, .byteWise, .splitWrites, .slowDrip, .interimHeads, .manyFields,
            .closeAfter, .redirect, .gzip, .bareLineFeeds, .foldedField, .closeSilently, .halfCloseAfter,
            .trailingBytes, .responseBehind, .lengthAndChunks, .slowReading, .oldVersion, .keyUpdate,
            .noNotifyBehindContent:
            .whole
        case .padded, .smallFrames, .unannounced, .idleFrames, .resetBehindEnd, .earlyWithReset, .refusedOnce:
            .whole
        // A reset discards data that was not read yet.
        case .resetAfter: .either(.lost)
        case .earlyResponse: .either(.lost)
        case .turningCertificates: .either(.untrusted)
        case .shortContent, .chunkCut, .withoutLastChunk, .closeBeforeHead, .resetBeforeHead,
            .halfCloseBeforeHead, .closeInHead, .resetInHead, .resetInBody, .resetInUpload, .closeInUpload,
            .noNotifyInContent, .notifyInContent, .cutInRecord, .resetInRecord:
            .fails(.lost)
        case .badChunkSize, .hugeChunkSize, .badChunkEnd, .negativeLength, .hugeLength, .twoLengths,
            .garbage, .otherProtocol, .otherVersion, .nulInField, .bareReturnInField,
            .colonless, .interimFlood:
            .fails(.badResponse)
        case .gzipCorrupt: .fails(.corrupt)
        case .gzipCutShort: .fails(.cutShort)
        case .oversizedHead, .tooManyFields, .listBomb: .fails(.tooLarge)
        case .serverError: .fails(.refusedStatus)
        case .lateHead, .stallInHead, .stallInBody, .stallInChunkSize, .unanswered, .silent,
            .stallInHandshake, .stallInRecord:
            .fails(.timedOut)
        case .refused: .fails(.cannotConnect)
        // The client may notice the end or the reset before, during or after writing the request.
        case .resetAtOnce, .closedAtOnce: .fails(.lost, .cannotConnect, .insecure)
        case .babbling: .fails(.badResponse, .lost, .insecure)
        case .alertInHandshake: .fails(.insecure)
        case .resetInHandshake, .cutInHandshake: .fails(.insecure, .lost)
        case .expired, .foreign, .untrusted: .fails(.untrusted)
        case .renegotiation: .fails(.insecure)
        case .noiseInContent, .alertInContent: .fails(.insecure)
        case .streamReset, .resetInContent, .resetInAnswer, .streamRefused: .fails(.lost)
        case .malformedHead, .wrongLength, .wrongOrder: .fails(.badResponse)
        case .keptWindow, .silentConnection: .fails(.timedOut)
        case .leaveInSteps, .leaveAtOnce, .leaveWithError, .disclaimed, .fewerStreams, .otherWindows,
            .otherTable, .floodWithinLimits:
            .either(door?.collateral ?? [])
        case .endWithoutWord, .connectionReset, .cutFrame: .fails(.lost, .badResponse)
        case .brokenFrame, .pushed, .flood: .fails(.lost, .badResponse)
        }
    }

    /// Whether it ends by a timeout, and so needs a short one.
    package var isSilent: Bool { verdict.failures == [.timedOut] }
}
