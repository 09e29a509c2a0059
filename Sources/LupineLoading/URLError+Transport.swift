// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineCoding
internal import LupineHTTP
internal import LupineTLS
internal import LupineTransport

/// Creates the errors with which tasks fail: from errors of the transport, and for failures of the loader itself (`loading`).
///
/// The user info of each error contains the failing URL under both of its keys (U-6.6), without user and password, because
/// programs print errors. It also contains the transport's error under `NSUnderlyingErrorKey`, and a description of what failed
/// and why.
extension URLError {
    /// The value of `NSURLErrorFailingURLStringErrorKey`, which is deprecated, but which programs still read.
    private static let failingURLStringKey = "NSErrorFailingURLStringKey"

    /// The error of a load that failed in the transport.
    init(_ error: TransportError, url: URL?) {
        self = .loading(error.code, url: url, underlying: error)
    }

    /// An error of the loader itself, with an underlying error.
    ///
    /// - Parameters:
    ///   - code: The code of the error.
    ///   - url: The failing URL; nil if there is none.
    ///   - underlying: The underlying error.
    ///   - reason: What happened; nil to use the description of the underlying error.
    static func loading(
        _ code: URLError.Code, url: URL?, underlying: any Error, reason: String? = nil
    ) -> URLError {
        loading(code, url: url, reason: reason ?? String(describing: underlying), underlying: underlying)
    }

    /// The error of a load that exceeded its resource time-out, `timeoutIntervalForResource`.
    static func resourceTimeout(
        of url: URL?, after timeout: Interval?, underlying: (any Error)? = nil
    ) -> URLError {
        let origin = WebOrigin(url).map { " from \($0.authority)" } ?? ""
        let limit = timeout.map { " (\($0))" } ?? ""
        return .loading(
            .timedOut, url: url,
            reason:
                "the load\(origin) took longer than the whole may: raise timeoutIntervalForResource\(limit)",
            underlying: underlying)
    }

    /// The error of a load that ended without a response. Only a load by a program's `URLProtocol` can end like this (U-17.5).
    static func noResponse(_ url: URL?) -> URLError {
        let origin = url.map { " of \($0.withoutUserInfo.absoluteString)" } ?? ""
        return .loading(
            .badServerResponse, url: url,
            reason: "the load\(origin) ended without a response: a URLProtocol gives one before it finishes")
    }

    /// The error of a cancelled load.
    static func cancelled(url: URL?) -> URLError { loading(.cancelled, url: url, reason: "cancelled") }

    /// An error of the loader itself.
    ///
    /// - Parameters:
    ///   - code: The code of the error.
    ///   - url: The failing URL; nil if there is none.
    ///   - reason: What happened. Ignored for `cancelled`, which always has the same description.
    ///   - underlying: The underlying error, if any.
    static func loading(
        _ code: URLError.Code, url: URL?, reason: String, underlying: (any Error)? = nil
    ) -> URLError {
        let reason = code == .cancelled ? "cancelled" : reason
        // Foundation's `localizedDescription` returns the first of these two texts, its `description` the second.
        var userInfo: [String: Any] = [
            NSLocalizedDescriptionKey: reason, NSLocalizedFailureReasonErrorKey: reason,
        ]
        if let url = url?.withoutUserInfo {
            userInfo[NSURLErrorFailingURLErrorKey] = url
            userInfo[failingURLStringKey] = url.absoluteString
        }
        if let underlying { userInfo[NSUnderlyingErrorKey] = underlying }
        return URLError(code, userInfo: userInfo)
    }

    /// Returns the error with these entries added to its user info; they replace existing entries with the same keys.
    func adding(_ entries: [String: Any]) -> URLError {
        entries.isEmpty
            ? self : URLError(code, userInfo: userInfo.merging(entries) { _, added in added })
    }
}

extension TransportError {
    /// The code of the `URLError` with which a task reports this error. The extensions below define the codes of the errors that
    /// a `TransportError` contains.
    var code: URLError.Code {
        switch self {
        case .url(let error): error.code
        case .resolution(_, let error), .proxyResolution(_, let error): error.code
        case .connect(_, let error): error.codeOfConnecting
        case .unreachable(_, _, let failures), .proxyUnreachable(_, let failures):
            Self.code(of: failures.map(\.error))
        case .tunnel(_, let error): error.code
        case .socks(_, let error): error.code
        case .tls(_, _, let error): error.code
        case .connectionLost(_, _, let error): error == .timedOut ? .timedOut : .networkConnectionLost
        case .http(_, _, let error): error.code
        case .http2(_, _, let failure): failure.code
        case .coding(_, _, let error): error.code
        case .proxy: .cannotConnectToHost
        case .content: .requestBodyStreamExhausted
        case .file(let error): error.codeOfFile
        case .outOfDescriptors, .system: .unknown
        case .timedOut: .timedOut
        case .contentTooLong: .dataLengthExceedsMaximum
        case .tooManyRedirects: .httpTooManyRedirects
        case .insecureRedirect: .appTransportSecurityRequiresSecureConnection
        case .redirect(.unsupportedScheme): .unsupportedURL
        case .redirect: .redirectToNonExistentLocation
        case .unsupported: .unsupportedURL
        case .cancelled, .shutDown: .cancelled
        }
    }

    /// Returns the code for the failed attempts to connect to all addresses of a host: `notConnectedToInternet` if no address had
    /// a route, `timedOut` if no address that had a route answered, otherwise `cannotConnectToHost`.
    private static func code(of errors: [Errno]) -> URLError.Code {
        let codes = Set(errors.map(\.codeOfConnecting))
        if codes == [.notConnectedToInternet] { return .notConnectedToInternet }
        let noAddressAnswered =
            !codes.isEmpty && codes.isSubset(of: [.notConnectedToInternet, .timedOut])
        return noAddressAnswered ? .timedOut : .cannotConnectToHost
    }
}

extension TransportURLError {
    fileprivate var code: URLError.Code {
        switch self {
        case .missingScheme, .unsupportedScheme: .unsupportedURL
        case .tooLong, .illegalByte, .missingAuthority, .userinfo, .emptyHost, .malformedIPLiteral,
            .malformedZone, .malformedPercentEncoding, .percentEncodedHost, .malformedPort,
            .malformedSocketPath, .socketPathTooLong:
            .badURL
        }
    }
}

extension ResolutionError {
    fileprivate var code: URLError.Code {
        switch self {
        case .nameNotFound, .noAddress, .invalidName: .cannotFindHost
        case .resolverUnavailable, .resolverFailed, .tooManyHungLookUps, .timedOut: .dnsLookupFailed
        case .shutDown: .cancelled
        }
    }
}

extension Errno {
    /// The code for a failed attempt to connect to one address.
    fileprivate var codeOfConnecting: URLError.Code {
        switch POSIXErrorCode(rawValue: rawValue) {
        case .ETIMEDOUT?: .timedOut
        case .ENETUNREACH?, .ENETDOWN?: .notConnectedToInternet
        default: .cannotConnectToHost
        }
    }

    /// The code for an error of a file that content is read from or written to.
    fileprivate var codeOfFile: URLError.Code {
        switch POSIXErrorCode(rawValue: rawValue) {
        case .ENOENT?, .ENOTDIR?: .fileDoesNotExist
        case .EISDIR?: .fileIsDirectory
        case .EACCES?, .EPERM?: .noPermissionsToReadFile
        case .ENOSPC?, .EDQUOT?, .EFBIG?, .EROFS?: .cannotWriteToFile
        default: .unknown
        }
    }
}

extension TunnelError {
    fileprivate var code: URLError.Code {
        switch self {
        case .authenticationRequired, .refused, .colonInUser: .cannotConnectToHost
        case .http(let error): error.code
        }
    }
}

extension SocksError {
    fileprivate var code: URLError.Code {
        switch self {
        case .generalFailure, .notAllowed, .networkUnreachable, .hostUnreachable, .connectionRefused,
            .timeToLiveExpired, .commandNotSupported, .addressTypeNotSupported, .unknownReply,
            .noAcceptableMethod, .authenticationRefused, .unusableHost, .unusableCredentials:
            .cannotConnectToHost
        case .unexpectedVersion, .unofferedMethod, .reservedByteSet, .unknownAddressType, .unsolicitedBytes:
            .badServerResponse
        case .closed: .networkConnectionLost
        }
    }
}

extension TLSError {
    fileprivate var code: URLError.Code {
        switch self {
        case .untrusted: .serverCertificateUntrusted
        case .clientCertificateRequired: .clientCertificateRequired
        case .clientCertificateRejected: .clientCertificateRejected
        case .truncated, .wireFailed: .networkConnectionLost
        // `answersNotRead`: the peer does not read the TLS replies that its messages require.
        case .configuration, .credentials, .alert, .versionNotShared, .cipherNotShared, .notTLS,
            .protocolNotOffered, .http2NotChosen, .closedInHandshake, .renegotiation, .protocolViolation,
            .onlyControlMessages,
            .tooManyMessages, .answersNotRead:
            .secureConnectionFailed
        }
    }
}

extension HTTP2Failure {
    fileprivate var code: URLError.Code {
        switch self {
        case .reset, .refused, .goAway, .silent: .networkConnectionLost
        case .stream, .connection: .badServerResponse
        case .requestTooLarge: .dataLengthExceedsMaximum
        case .noWebSockets: .badServerResponse
        }
    }
}

extension HTTPError {
    fileprivate var code: URLError.Code {
        switch self {
        case .notHTTP, .http2Preface, .unsupportedVersion, .malformedStartLine, .malformedTarget,
            .invalidStatusCode, .missingReason, .bareLineFeed, .bareCarriageReturn, .foldedLine,
            .invalidFieldName, .whitespaceBeforeColon, .invalidFieldValue, .invalidContentLength,
            .conflictingContentLengths, .invalidTransferEncoding, .ambiguousFraming,
            .transferEncodingInHTTP10,
            .invalidHost, .malformedChunkSize, .chunkSizeOverflow, .malformedChunkExtension,
            .malformedChunkEnd, .unexpectedBytes, .unexpectedUpgrade:
            .badServerResponse
        case .limitExceeded(let limit, _):
            switch limit {
            case .headBytes, .fieldCount, .lineBytes, .trailerBytes: .dataLengthExceedsMaximum
            case .interimHeads, .chunkExtensionBytes: .badServerResponse
            }
        case .truncated: .networkConnectionLost
        case .invalidMethod, .invalidTarget, .invalidAuthority, .invalidNameToSend, .invalidValueToSend,
            .framingFieldToSend, .missingHostToSend, .repeatedHostToSend, .trailerWithoutChunks,
            .forbiddenTrailerToSend:
            .badURL
        case .unknownLengthInHTTP10, .bodyLengthMismatch: .requestBodyStreamExhausted
        }
    }
}

extension CodingError {
    fileprivate var code: URLError.Code {
        switch self {
        case .unknownCoding, .tooManyCodings, .corrupt, .outputLimit, .ratioLimit, .memoryLimit:
            .cannotDecodeRawData
        case .cutShort: .cannotDecodeContentData
        }
    }
}
