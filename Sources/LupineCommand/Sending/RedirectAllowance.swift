// SPDX-License-Identifier: MIT

internal import Foundation

/// The redirects that the command line allows a request: none without `-L`, with it the number of `--max-redirs`.
struct RedirectAllowance {
    private let follows: Bool
    private let limit: Int?
    private let protocols: (ProtocolSet, ProtocolSet)
    /// The number of redirects followed.
    private(set) var followed = 0
    /// Set when a redirect exceeded the limit or led to a scheme that is not allowed.
    private(set) var failure: CommandFailure?

    init(_ invocation: Invocation) {
        follows = invocation.followsRedirects
        limit = invocation.redirectLimit
        protocols = (invocation.protocols, invocation.redirectProtocols)
    }

    /// Returns whether the next redirect is followed. Counts it if so, and sets `failure` if it is not allowed.
    mutating func allowRedirect(from url: URL, to target: URL?) -> Bool {
        guard follows else { return false }
        if let target, !protocols.0.contains(target.scheme) || !protocols.1.contains(target.scheme) {
            failure = CommandFailure(
                .redirects,
                "Cannot load \(ShownAddress.text(url)): it redirects to \(ShownAddress.text(target)), whose scheme --proto or --proto-redir does not allow."
            )
            return false
        }
        if let limit, followed >= limit {
            failure = CommandFailure(
                .redirects,
                "Cannot load \(ShownAddress.text(url)): more than \(limit) redirects. Look at them with -v, or allow more with --max-redirs."
            )
            return false
        }
        followed += 1
        return true
    }
}
