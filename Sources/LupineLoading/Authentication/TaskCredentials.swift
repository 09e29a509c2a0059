// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineTransport

/// The credentials with which one task may answer authentication challenges (U-11.4).
///
/// A task whose program has set a credential acts as that user: the credential answers the server that the task was created for,
/// and the user in a URL answers that URL's server. The task's own credential goes to a proxy only on the way to the task's own
/// server, and only if that reveals no more than the request does. The session's storage supplies credentials only to tasks
/// without their own: a task whose own password is wrong, or that was redirected to another server, must not act as a user of the
/// storage.
struct TaskCredentials: Sendable {
    /// The task's own credential; nil for none.
    var own: URLCredential?
    /// The URL that the task was created for.
    private let url: URL?
    /// Whether `url`, or an `Authorization` field set by the program or the configuration, identifies the user to servers. Once
    /// true, this stays true for the whole task.
    var identifiesUser: Bool
    private let storage: URLCredentialStorage?

    /// Creates the credentials of a task with this request, in a session with this storage.
    ///
    /// - Parameter identifiesUser: Whether the configuration identifies the user to every server.
    init(of request: URLRequest?, storage: URLCredentialStorage?, identifiesUser: Bool = false) {
        url = request?.url
        self.identifiesUser =
            identifiesUser || request?.url?.user(percentEncoded: true) != nil
            || request?.value(forHTTPHeaderField: "Authorization") != nil
        self.storage = storage
    }

    /// Returns the credential with which to answer a challenge of this protection space; nil for none.
    ///
    /// - Parameter hop: The URL of the challenged request, with the user that this URL or a redirect to it names.
    func proposal(for space: URLProtectionSpace, at hop: URL?) -> URLCredential? {
        if space.isProxy() {
            guard let own else { return storage?.proposal(for: space) }
            return own.hasPassword && mayGoToProxy(space, at: hop) ? own : nil
        }
        let isOwnServer = space.isOfServer(at: url)
        if isOwnServer, let own, own.hasPassword { return own }
        // The URL of a redirect within the origin may lack the user, so the task's URL is read too.
        for address in [hop, isOwnServer ? url : nil] {
            // A redirect may name the URL, so a peer may have chosen its length.
            guard let user = address?.user(percentEncoded: false), PeerText(user).canBeKept else { continue }
            if let password = address?.password(percentEncoded: false) {
                guard PeerText(password).canBeKept else { continue }
                return URLCredential(user: user, password: password, persistence: .forSession)
            }
            // The URL names the user; the storage may have the password.
            return own == nil ? storage?.credentials(for: space)?[user] : nil
        }
        return own == nil && !identifiesUser ? storage?.proposal(for: space) : nil
    }

    /// Whether a credential is the task's own and must not be sent to the proxy of this space.
    func isWithheld(_ credential: URLCredential, from space: URLProtectionSpace, at hop: URL?) -> Bool {
        space.isProxy() && credential == own && !mayGoToProxy(space, at: hop)
    }

    /// Whether the task's own credential may be sent to the proxy of this space.
    ///
    /// A 407 to a forwarded request may come from the server behind the proxy, so the server has to be the task's own. Basic
    /// reveals the password to the proxy and to everyone on the way to it, so it is used only where the server would receive it
    /// in the clear too.
    private func mayGoToProxy(_ space: URLProtectionSpace, at hop: URL?) -> Bool {
        guard let origin = WebOrigin(url), origin == WebOrigin(hop) else { return false }
        return !origin.isSecure || space.authenticationMethod == NSURLAuthenticationMethodHTTPDigest
    }
}
