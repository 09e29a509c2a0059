// SPDX-License-Identifier: MIT

public import Foundation

extension URLError {
    /// The trust of the server whose certificates were refused.
    public var failureURLPeerTrust: SecTrust? { userInfo[NSURLErrorFailingURLPeerTrustErrorKey] as? SecTrust }
}
