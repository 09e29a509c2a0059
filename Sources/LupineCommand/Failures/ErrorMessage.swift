// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine
internal import LupineTransport

/// Translates an error of the library into a message and an exit code. No other code does that.
enum ErrorMessage {
    /// Returns the failure to report for a load of `url`.
    static func failure(of error: AFError, url: URL, invocation: Invocation) -> CommandFailure {
        if let report = error.pinningReport { return pinning(report) }
        let place = ShownAddress.text(url)
        if case .serverTrustEvaluationFailed = error {
            let said = reason(error)
            return CommandFailure(
                .untrusted, "Cannot trust \(place): \(said)\(said.hasSuffix(".") ? "" : ".") \(adviceOfTrust)"
            )
        }
        guard let underlying = loading(error) else {
            return CommandFailure(.failure, "Cannot load \(place): \(reason(error))")
        }
        if let error = underlying as? CommandFailure { return error }
        guard let loading = underlying as? URLError else {
            return CommandFailure(.failure, "Cannot load \(place): \(text(underlying)).")
        }
        if loading.code == .cannotWriteToFile || loading.code == .cannotOpenFile {
            return CommandFailure(
                .write,
                "Cannot save \(place): \(text(loading)). Look for room on the disk, and whether the file may be written."
            )
        }
        let transport = loading.userInfo[NSUnderlyingErrorKey] as? TransportError
        let (code, advice) =
            transport.flatMap { verdict(of: $0, invocation) } ?? verdict(of: loading, invocation)
        let said = transport.map(words) ?? text(loading)
        return CommandFailure(
            code, "Cannot load \(place): \(said).\(advice.isEmpty ? "" : " \(advice)")")
    }

    private static let adviceOfTrust =
        "Look at the chain with --certs, give its root with --cacert, or, on a test server, leave the check out with -k."

    private static let adviceOfProxy =
        "Check -x, or the variables https_proxy and no_proxy; --noproxy '*' goes without."

    private static func pinning(_ report: PinningReport) -> CommandFailure {
        let found = report.presented.map { "\($0.pin ?? "no key") (\($0.subject ?? "no name"))" }
        return CommandFailure(
            .pin,
            "The keys of \(report.host) are not the pinned ones: it has \(found.joined(separator: ", ")), and \(report.expected.joined(separator: ", ")) is wanted. Either its key was replaced, or somebody else answers; ask its operator, and do not paste the new pin unseen."
        )
    }

    /// Returns the first underlying error that is not an `AFError`.
    private static func loading(_ error: AFError) -> (any Error)? {
        var error: any Error = error
        while let next = (error as? AFError)?.underlyingError { error = next }
        return error is AFError ? nil : error
    }

    private static func reason(_ error: AFError) -> String {
        error.localizedDescription
    }

    private static func text(_ error: any Error) -> String {
        let said = (error as NSError).localizedDescription
        return said.hasSuffix(".") ? String(said.dropLast()) : said
    }

    /// Returns the transport's description, and for a refused tunnel only the status.
    private static func words(_ error: TransportError) -> String {
        switch error {
        case .tunnel(let proxy, .refused(let head)):
            "the proxy \(proxy) opened no tunnel: it answered \(head.status.code) \(head.reason)"
        case .tunnel(let proxy, .authenticationRequired):
            "the proxy \(proxy) opened no tunnel: it wants a name and a password, as in -x http://NAME:PASSWORD@HOST"
        default: "\(error)"
        }
    }

    /// Returns the advice to resume with -C; empty for a range and for a file that begins with a head, which cannot be resumed.
    private static func resumeAdvice(_ link: String, _ invocation: Invocation) -> String {
        invocation.savesHead || invocation.range != nil ? "" : "\(link)-C - goes on with a download"
    }

    /// The advice for a command line that insists on HTTP/2.
    private static func http11Advice(_ invocation: Invocation) -> String {
        invocation.versions == .http2 ? " Without --http2-prior-knowledge it is spoken to in HTTP/1.1." : ""
    }

    private static func verdict(of error: TransportError, _ invocation: Invocation) -> (ExitCode, String)? {
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
            (.proxy, adviceOfProxy)
        case .proxyUnreachable: (.connect, adviceOfProxy)
        case .tls(_, _, .http2NotChosen), .tls(_, _, .alert(.noApplicationProtocol)):
            (
                .tls,
                invocation.versions == .http2 ? "--http2 takes HTTP/1.1 where the server has no HTTP/2." : ""
            )
        case .tls(_, _, let error): verdict(of: error)
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

    private static func verdict(of error: TLSError) -> (ExitCode, String) {
        switch error {
        case .untrusted: (.untrusted, adviceOfTrust)
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

    private static func verdict(of error: URLError, _ invocation: Invocation) -> (ExitCode, String) {
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
        case .serverCertificateUntrusted: return (.untrusted, adviceOfTrust)
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
