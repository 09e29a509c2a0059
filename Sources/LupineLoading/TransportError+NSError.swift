// SPDX-License-Identifier: MIT

public import Foundation
public import LupineTransport

/// Converts the transport's errors to `NSError`: with a code, a description and, if there is one, the underlying system error
/// (U-16.1).
extension TransportError: CustomNSError, LocalizedError {
    public static var errorDomain: String { "LupineTransport.TransportError" }

    /// The raw value of the `URLError.Code` with which a task reports this error.
    public var errorCode: Int { code.rawValue }

    /// The description and, if there is one, the system error as the underlying error.
    public var errorUserInfo: [String: Any] {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: description]
        if let cause = systemError {
            userInfo[NSUnderlyingErrorKey] = NSError(
                domain: NSPOSIXErrorDomain, code: Int(cause.rawValue),
                userInfo: [NSLocalizedDescriptionKey: cause.text])
        }
        return userInfo
    }

    public var errorDescription: String? { description }

    /// The `errno` that the kernel or the resolver has reported; nil if the error has another cause. If several connection
    /// attempts have failed, this is the error of the last one (U-9.16).
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
