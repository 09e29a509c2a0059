// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine
internal import LupineTransport

/// Translates errors of the library into the command's failures: messages with advice, and exit codes.
///
/// An `AFError` contains the error that caused it, mostly a `URLError`. The `URLError` of a failed transfer contains a
/// `TransportError`, which is more precise.
enum ErrorMessage {
    /// Returns the failure to report for an error.
    ///
    /// - Parameters:
    ///   - error: The error of the request.
    ///   - url: The URL of the request, which the message names.
    ///   - invocation: The command line, on which the advice depends.
    static func failure(of error: AFError, url: URL, invocation: Invocation) -> CommandFailure {
        // A failed check of pinned keys is also a `serverTrustEvaluationFailed`, so it comes first.
        if let report = error.pinningReport { return pinningFailure(report) }
        let address = ShownAddress.text(url)
        if case .serverTrustEvaluationFailed = error {
            let reason = error.localizedDescription
            return CommandFailure(
                .untrusted,
                "Cannot trust \(address): \(reason)\(reason.hasSuffix(".") ? "" : ".") \(trustAdvice)"
            )
        }
        guard let underlying = underlyingError(of: error) else {
            return CommandFailure(.failure, "Cannot load \(address): \(error.localizedDescription)")
        }
        // A failure that the command's own code has thrown in a callback of the library.
        if let failure = underlying as? CommandFailure { return failure }
        guard let urlError = underlying as? URLError else {
            return CommandFailure(.failure, "Cannot load \(address): \(description(of: underlying)).")
        }
        if urlError.code == .cannotWriteToFile || urlError.code == .cannotOpenFile {
            return CommandFailure(
                .write,
                "Cannot save \(address): \(description(of: urlError)). Look for room on the disk, and whether the file may be written."
            )
        }
        let transportError = urlError.userInfo[NSUnderlyingErrorKey] as? TransportError
        let (code, advice) =
            transportError.flatMap { codeAndAdvice(transport: $0, invocation) }
            ?? codeAndAdvice(url: urlError, invocation)
        let reason = transportError.map { description(transport: $0) } ?? description(of: urlError)
        return CommandFailure(
            code, "Cannot load \(address): \(reason).\(advice.isEmpty ? "" : " \(advice)")")
    }

    /// The advice if the server's certificate is not trusted.
    private static let trustAdvice =
        "Look at the chain with --certs, give its root with --cacert, or, on a test server, leave the check out with -k."

    /// The advice if the proxy cannot be used.
    private static let proxyAdvice =
        "Check -x, or the variables https_proxy and no_proxy; --noproxy '*' goes without."

    /// Returns the failure for a certificate chain without a pinned key. The message has the pins of the chain's certificates.
    private static func pinningFailure(_ report: PinningReport) -> CommandFailure {
        let presented = report.presented.map { "\($0.pin ?? "no key") (\($0.subject ?? "no name"))" }
        return CommandFailure(
            .pin,
            "The keys of \(report.host) are not the pinned ones: it has \(presented.joined(separator: ", ")), and \(report.expected.joined(separator: ", ")) is wanted. Either its key was replaced, or somebody else answers; ask its operator, and do not paste the new pin unseen."
        )
    }

    /// Returns the first underlying error that is not an `AFError`; nil if there is none.
    private static func underlyingError(of error: AFError) -> (any Error)? {
        var error: any Error = error
        while let next = (error as? AFError)?.underlyingError { error = next }
        return error is AFError ? nil : error
    }

    /// Returns the description of an error without a full stop at its end.
    private static func description(of error: any Error) -> String {
        let text = (error as NSError).localizedDescription
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }

    /// Returns the description of a transport error, without a full stop. For a tunnel that the proxy refuses, it names only the
    /// proxy and the status.
    private static func description(transport error: TransportError) -> String {
        switch error {
        case .tunnel(let proxy, .refused(let head)):
            "the proxy \(proxy) opened no tunnel: it answered \(head.status.code) \(head.reason)"
        case .tunnel(let proxy, .authenticationRequired):
            "the proxy \(proxy) opened no tunnel: it wants a name and a password, as in -x http://NAME:PASSWORD@HOST"
        default: "\(error)"
        }
    }

    /// Returns the advice to resume a download with -C, after a prefix such as a comma. Empty if the download cannot be resumed,
    /// because it is a range or its file begins with a head.
    private static func resumeAdvice(_ prefix: String, _ invocation: Invocation) -> String {
        invocation.savesHead || invocation.range != nil ? "" : "\(prefix)-C - goes on with a download"
    }

    /// Returns the advice to use HTTP/1.1, if the command line allows only HTTP/2; empty otherwise.
    private static func http11Advice(_ invocation: Invocation) -> String {
        invocation.httpVersions == .http2
            ? " Without --http2-prior-knowledge it is spoken to in HTTP/1.1." : ""
    }

    /// Returns the exit code and the advice for a transport error. The advice may be empty. Returns nil if the `URLError`
    /// that contains the error decides them.
    private static func codeAndAdvice(
        transport error: TransportError, _ invocation: Invocation
    ) -> (code: ExitCode, advice: String)? {
        switch error {
        case .url, .unsupported: (.malformedURL, "")
        case .resolution:
            (
                .nameResolution,
                "Check the spelling and the network; --resolve HOST:PORT:ADDRESS does without a look-up."
            )
        case .connect, .unreachable, .outOfDescriptors:
            (
                .connect,
                "Check that the server runs, and the port; a firewall or a missing proxy (-x) looks the same."
            )
        case .tunnel, .socks, .proxy, .proxyResolution:
            (.proxy, proxyAdvice)
        case .proxyUnreachable: (.connect, proxyAdvice)
        case .tls(_, _, .http2NotChosen), .tls(_, _, .alert(.noApplicationProtocol)):
            (
                .tls,
                invocation.httpVersions == .http2
                    ? "--http2 takes HTTP/1.1 where the server has no HTTP/2." : ""
            )
        case .tls(_, _, let error): codeAndAdvice(tls: error)
        case .connectionLost: (.lost, "Try again; --retry N does that\(resumeAdvice(", and ", invocation)).")
        case .http(_, _, .truncated):
            (.lost, "The content is not complete. Try again\(resumeAdvice("; ", invocation)).")
        case .http(_, _, .limitExceeded): (.tooLarge, "")
        case .http:
            (
                .notHTTP,
                "Check the port and the scheme: what answers there does not speak HTTP/1.1. With a server that speaks HTTP/2 alone use --http2-prior-knowledge."
            )
        case .http2(_, _, .reset), .http2(_, _, .refused), .http2(_, _, .goAway), .http2(_, _, .silent):
            (.lost, "Try again; --retry N does that\(resumeAdvice(", and ", invocation)).")
        case .http2(_, _, .requestTooLarge): (.tooLarge, "")
        case .http2:
            (
                .notHTTP,
                "Check the port: what answers there does not speak HTTP/2 as it should.\(http11Advice(invocation))"
            )
        case .coding: (.coding, "--raw-encoding takes the content as it comes.")
        case .content, .file: (.read, "")
        case .timedOut(_, _, let timeout, _):
            (
                .timeout,
                timeout == .connect ? "Give it more with --connect-timeout." : "Give it more with --max-time."
            )
        case .contentTooLong: (.tooLarge, "")
        case .tooManyRedirects: (.redirects, "Look at them with -v.")
        case .insecureRedirect: (.redirects, "Leave out --no-downgrade to follow it.")
        case .redirect: (.redirects, "")
        case .system, .cancelled, .shutDown: nil
        }
    }

    /// Returns the exit code and the advice for a TLS error. The advice may be empty.
    private static func codeAndAdvice(tls error: TLSError) -> (code: ExitCode, advice: String) {
        switch error {
        case .untrusted: (.untrusted, trustAdvice)
        case .clientCertificateRequired, .clientCertificateRejected, .credentials:
            (.clientCertificate, "Give one with --cert and --key.")
        case .notTLS: (.tls, "Check the port, or use http:// if that is what it speaks.")
        case .truncated, .wireFailed: (.lost, "Try again.")
        case .configuration, .alert, .versionNotShared, .cipherNotShared, .protocolNotOffered,
            .http2NotChosen, .closedInHandshake,
            .renegotiation, .protocolViolation, .onlyControlMessages, .tooManyMessages, .answersNotRead:
            (.tls, "")
        }
    }

    /// Returns the exit code and the advice for a `URLError`. The advice may be empty.
    private static func codeAndAdvice(
        url error: URLError, _ invocation: Invocation
    ) -> (code: ExitCode, advice: String) {
        switch error.code {
        case .timedOut:
            let limit = invocation.maximumTime.map { " (\($0) s)" } ?? ""
            return (.timeout, "Give it more with --max-time\(limit).")
        case .badURL, .unsupportedURL: return (.malformedURL, "")
        case .httpTooManyRedirects, .redirectToNonExistentLocation:
            return (.redirects, "Look at them with -v.")
        case .cannotFindHost, .dnsLookupFailed: return (.nameResolution, "")
        case .cannotConnectToHost, .notConnectedToInternet: return (.connect, "")
        case .networkConnectionLost: return (.lost, "Try again.")
        case .serverCertificateUntrusted: return (.untrusted, trustAdvice)
        case .secureConnectionFailed: return (.tls, "")
        case .dataLengthExceedsMaximum: return (.tooLarge, "")
        case .cannotDecodeRawData, .cannotDecodeContentData:
            return (.coding, "--raw-encoding takes the content as it comes.")
        case .requestBodyStreamExhausted:
            return (.read, "A body from a pipe cannot be sent twice: use a file.")
        case .fileDoesNotExist, .noPermissionsToReadFile, .fileIsDirectory: return (.read, "")
        default: return (.failure, "")
        }
    }
}
