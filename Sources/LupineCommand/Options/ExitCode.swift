// SPDX-License-Identifier: MIT

/// How the command ends. The numbers are curl's, where curl has one for the same thing.
public enum ExitCode: Int32, CaseIterable, Sendable {
    /// Everything went well.
    case success = 0
    /// Something else went wrong; the message says what.
    case failure = 1
    /// The command line is not understood.
    case usage = 2
    /// The URL cannot be used.
    case malformedURL = 3
    /// The proxy opened no way.
    case proxy = 5
    /// The host's name gives no address.
    case nameResolution = 6
    /// No connection to the host.
    case connect = 7
    /// The answer is not HTTP.
    case notHTTP = 8
    /// A status from 400 to 499, with `--fail`.
    case clientError = 22
    /// What came could not be written.
    case write = 23
    /// A status from 500 on, with `--fail`.
    case serverError = 24
    /// A file to be sent could not be read.
    case read = 26
    /// A time-out passed.
    case timeout = 28
    /// The download cannot be gone on with.
    case resume = 33
    /// The connection could not be secured.
    case tls = 35
    /// Too many redirects, or one to nowhere.
    case redirects = 47
    /// The connection was lost before the end.
    case lost = 56
    /// The server wants another client certificate, or one at all.
    case clientCertificate = 58
    /// The server's certificate is not trusted.
    case untrusted = 60
    /// The content's coding is broken.
    case coding = 61
    /// A head or a body over its limit.
    case tooLarge = 63
    /// None of the pinned keys is there.
    case pin = 90
    /// Ctrl-C.
    case interrupted = 130

    /// What it says, for the manual.
    public var meaning: String {
        switch self {
        case .success: "everything went well"
        case .failure: "something else went wrong; the message says what"
        case .usage: "the command line is not understood"
        case .malformedURL: "the URL cannot be used"
        case .proxy: "the proxy opened no way"
        case .nameResolution: "the host's name gives no address"
        case .connect: "no connection to the host"
        case .notHTTP: "the answer is not HTTP"
        case .clientError: "a status from 400 to 499, with --fail"
        case .write: "what came could not be written"
        case .serverError: "a status from 500 on, with --fail"
        case .read: "a file to be sent could not be read"
        case .timeout: "a time-out passed"
        case .resume: "the download cannot be gone on with"
        case .tls: "the connection could not be secured"
        case .redirects: "too many redirects, or one to nowhere"
        case .lost: "the connection was lost before the end"
        case .clientCertificate: "the server wants another client certificate, or one at all"
        case .untrusted: "the server's certificate is not trusted"
        case .coding: "the content's coding is broken"
        case .tooLarge: "a head or a body over its limit"
        case .pin: "none of the pinned keys is there"
        case .interrupted: "interrupted (Ctrl-C)"
        }
    }
}
