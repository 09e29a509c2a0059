// SPDX-License-Identifier: MIT

internal import Foundation

/// Counts the redirects of a request, and decides whether the options allow the next one. Without `-L` no redirect is allowed;
/// with `-L` at most the number of `--max-redirs`.
struct RedirectAllowance {
    private let followsRedirects: Bool
    /// The number of `--max-redirs`; nil stands for no limit.
    private let limit: Int?
    /// The schemes of `--proto`.
    private let protocols: ProtocolSet
    /// The schemes of `--proto-redir`.
    private let redirectProtocols: ProtocolSet
    /// The number of redirects that were allowed.
    private(set) var followedCount = 0
    /// The failure of a redirect that exceeded the limit or led to a scheme that is not allowed; nil if there was none.
    private(set) var failure: CommandFailure?

    init(_ invocation: Invocation) {
        followsRedirects = invocation.followsRedirects
        limit = invocation.redirectLimit
        protocols = invocation.protocols
        redirectProtocols = invocation.redirectProtocols
    }

    /// Returns whether the next redirect is followed, and counts it. With `-L`, sets `failure` if the redirect is not allowed.
    mutating func allowRedirect(from url: URL, to target: URL?) -> Bool {
        guard followsRedirects else { return false }
        if let target, !protocols.contains(target.scheme) || !redirectProtocols.contains(target.scheme) {
            failure = CommandFailure(
                .redirects,
                "Cannot load \(ShownAddress.text(url)): it redirects to \(ShownAddress.text(target)), whose scheme --proto or --proto-redir does not allow."
            )
            return false
        }
        if let limit, followedCount >= limit {
            failure = CommandFailure(
                .redirects,
                "Cannot load \(ShownAddress.text(url)): more than \(limit) redirects. Look at them with -v, or allow more with --max-redirs."
            )
            return false
        }
        followedCount += 1
        return true
    }
}
