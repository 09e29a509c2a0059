// SPDX-License-Identifier: MIT

/// How the command ends. The numbers are curl's, where curl has one for the same thing.
public enum ExitCode: Int32, CaseIterable, Sendable {
    case success = 0
    case failure = 1
    case usage = 2
    case malformedURL = 3
    case proxy = 5
    case nameResolution = 6
    case connect = 7
    case notHTTP = 8
    case clientError = 22
    case write = 23
    case serverError = 24
    case read = 26
    case timeout = 28
    case resume = 33
    case tls = 35
    case redirects = 47
    case lost = 56
    case clientCertificate = 58
    case untrusted = 60
    case coding = 61
    case tooLarge = 63
    case pin = 90
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
