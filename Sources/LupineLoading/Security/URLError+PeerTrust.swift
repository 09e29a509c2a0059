// SPDX-License-Identifier: MIT

public import Foundation

extension URLError {
    /// The trust of the server whose certificates were refused; nil for other errors.
    public var failureURLPeerTrust: SecTrust? { userInfo[NSURLErrorFailingURLPeerTrustErrorKey] as? SecTrust }
}
