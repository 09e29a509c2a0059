// SPDX-License-Identifier: MIT

/// The kinds of errors that a request can end with, without what they carry.
package enum ChaosFailure: String, CaseIterable, Sendable {
    /// The connection could not be made.
    case cannotConnect
    /// Time ran out.
    case timedOut
    /// The connection ended too early.
    case lost
    /// That was no HTTP.
    case badResponse
    /// A head over the limits.
    case tooLarge
    /// The handshake, or TLS behind it, failed.
    case insecure
    /// The server's certificate is not trusted.
    case untrusted
    /// The content's coding is corrupt.
    case corrupt
    /// The content's coding ends too early.
    case cutShort
    /// A status that validation refuses.
    case refusedStatus
    /// The caller has cancelled.
    case cancelled
    /// None of these: always wrong.
    case unexpected
}

/// What may come of an attempt.
package struct ChaosVerdict: Hashable, Sendable {
    /// Whether it may end well.
    package let allowsSuccess: Bool
    /// The errors that it may end with.
    package let failures: Set<ChaosFailure>

    /// It has to end well.
    static let whole = ChaosVerdict(allowsSuccess: true, failures: [])

    /// It has to end with one of these.
    static func fails(_ failures: ChaosFailure...) -> ChaosVerdict {
        ChaosVerdict(allowsSuccess: false, failures: Set(failures))
    }

    /// It ends well or with one of these: how the peers' packets cross decides.
    static func either(_ failures: ChaosFailure...) -> ChaosVerdict { either(Set(failures)) }

    /// The same of a set.
    static func either(_ failures: Set<ChaosFailure>) -> ChaosVerdict {
        ChaosVerdict(allowsSuccess: true, failures: failures)
    }
}

extension Misbehaviour {
    /// What may come of it.
    package var verdict: ChaosVerdict {
        switch self {
        case .none, .chunked, .untilClose, .byteWise, .splitWrites, .slowDrip, .interimHeads, .manyFields,
            .closeAfter, .redirect, .gzip, .bareLineFeeds, .foldedField, .closeSilently, .halfCloseAfter,
            .trailingBytes, .responseBehind, .lengthAndChunks, .slowReading, .oldVersion, .keyUpdate,
            .noNotifyBehindContent:
            .whole
        case .padded, .smallFrames, .unannounced, .idleFrames, .resetBehindEnd, .earlyWithReset, .refusedOnce:
            .whole
        // A reset overtakes what was not read yet.
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
        // Whether the end or the reset is met before, in or behind the request's writing.
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

    /// Whether it ends by time running out, and so needs a short time.
    package var isSilent: Bool { verdict.failures == [.timedOut] }
}
