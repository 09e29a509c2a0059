// SPDX-License-Identifier: MIT

/// The exit codes of the command. They are curl's where curl has one for the same failure.
public enum ExitCode: Int32, CaseIterable, Sendable {
    /// Success.
    case success = 0
    /// A failure without a code of its own; the message has the reason.
    case failure = 1
    /// The command line is invalid.
    case usage = 2
    /// The URL is invalid or unsupported.
    case malformedURL = 3
    /// The proxy did not open a connection to the server.
    case proxy = 5
    /// The host's name could not be resolved.
    case nameResolution = 6
    /// No connection to the host could be made.
    case connect = 7
    /// The response is not HTTP.
    case notHTTP = 8
    /// A status from 400 to 499, with `--fail`.
    case clientError = 22
    /// The content could not be written.
    case write = 23
    /// A status from 500 on, with `--fail`.
    case serverError = 24
    /// A file to be sent could not be read.
    case read = 26
    /// A timeout expired.
    case timeout = 28
    /// The download cannot be resumed.
    case resume = 33
    /// The TLS connection could not be established.
    case tls = 35
    /// Too many redirects, or an invalid one.
    case redirects = 47
    /// The connection was lost.
    case lost = 56
    /// The server requires a client certificate, or rejected the one sent.
    case clientCertificate = 58
    /// The server's certificate is not trusted.
    case untrusted = 60
    /// The content coding is malformed.
    case coding = 61
    /// A head or a body exceeds its limit.
    case tooLarge = 63
    /// The server's certificate chain has none of the pinned keys.
    case pin = 90
    /// The user interrupted the command (Ctrl-C): 128 and the number of SIGINT, as shells report it.
    case interrupted = 130

    /// A description for the manual and for messages, without a full stop.
    public var meaning: String {
        switch self {
        case .success: "success"
        case .failure: "another failure; the message has the reason"
        case .usage: "the command line is invalid"
        case .malformedURL: "the URL is invalid or unsupported"
        case .proxy: "the proxy did not connect to the server"
        case .nameResolution: "the host's name could not be resolved"
        case .connect: "no connection to the host"
        case .notHTTP: "the response is not HTTP"
        case .clientError: "a status from 400 to 499, with --fail"
        case .write: "the content could not be written"
        case .serverError: "a status from 500 on, with --fail"
        case .read: "a file to be sent could not be read"
        case .timeout: "a time limit expired"
        case .resume: "the download cannot be continued"
        case .tls: "the connection could not be secured"
        case .redirects: "too many redirects, or an invalid one"
        case .lost: "the connection was lost before the end"
        case .clientCertificate: "the server requires a client certificate, or another one"
        case .untrusted: "the server's certificate is not trusted"
        case .coding: "the content coding is malformed"
        case .tooLarge: "a head or a body exceeds its limit"
        case .pin: "no key of the server matches a pin"
        case .interrupted: "interrupted (Ctrl-C)"
        }
    }
}
