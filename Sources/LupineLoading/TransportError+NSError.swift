// SPDX-License-Identifier: MIT

public import Foundation
public import LupineTransport

/// The transport's errors as Foundation sees them: with a description, and with the system's error beneath where there is
/// one (U-16.1).
extension TransportError: CustomNSError, LocalizedError {
    public static var errorDomain: String { "LupineTransport.TransportError" }

    /// The number of the code that the URL loading system reports it under.
    public var errorCode: Int { code.rawValue }

    public var errorUserInfo: [String: Any] {
        var information: [String: Any] = [NSLocalizedDescriptionKey: description]
        if let cause = systemError {
            information[NSUnderlyingErrorKey] = NSError(
                domain: NSPOSIXErrorDomain, code: Int(cause.rawValue),
                userInfo: [NSLocalizedDescriptionKey: cause.text])
        }
        return information
    }

    public var errorDescription: String? { description }

    /// What the kernel said; of several attempts, to the last of them (U-9.16).
    private var systemError: Errno? {
        switch self {
        case .connect(_, let error), .connectionLost(_, _, let error), .outOfDescriptors(let error),
            .file(let error), .system(let error), .resolution(_, .resolverFailed(_, let error?)),
            .proxyResolution(_, .resolverFailed(_, let error?)):
            error
        case .unreachable(_, _, let failures), .proxyUnreachable(_, let failures): failures.last?.error
        case .url, .resolution, .proxyResolution, .tunnel, .socks, .tls, .http, .http2, .coding, .proxy,
            .content,
            .timedOut,
            .contentTooLong, .tooManyRedirects, .insecureRedirect, .redirect, .unsupported, .cancelled,
            .shutDown:
            nil
        }
    }
}
