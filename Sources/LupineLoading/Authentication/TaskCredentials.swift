// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineTransport

/// The credentials with which one task may answer authentication challenges (U-11.4).
///
/// A task with a credential of its own acts as that user: its own credential is used for the server that the task was created
/// for, and the user in a URL for that URL's server. The task's own credential is sent to a proxy only on the way to the task's
/// own server, and only if that reveals no more than the request would anyway. The credentials of the session's storage are used
/// only for tasks without a credential of their own: a task whose own password is wrong, or that was redirected to another
/// server, must not act as a user of the storage.
struct TaskCredentials: Sendable {
    /// The task's own credential; nil for none.
    var own: URLCredential?
    /// The URL that the task was created for.
    private let url: URL?
    /// Whether that URL, or a header field set by the program or the configuration, identifies the user to servers. Once true, it
    /// stays true for the whole task.
    var isNamed: Bool
    private let storage: URLCredentialStorage?

    /// Creates the credentials of a task with this request, in a session with this storage.
    ///
    /// - Parameter isNamed: Whether the configuration identifies the user to every server.
    init(of request: URLRequest?, storage: URLCredentialStorage?, isNamed: Bool = false) {
        url = request?.url
        self.isNamed =
            isNamed || request?.url?.user(percentEncoded: true) != nil
            || request?.value(forHTTPHeaderField: "Authorization") != nil
        self.storage = storage
    }

    /// Returns the credential with which to answer a challenge of this protection space; nil for none.
    ///
    /// - Parameter hop: The URL of the request that is answered, with the user that it, or a redirect to it, names.
    func proposal(for space: URLProtectionSpace, at hop: URL?) -> URLCredential? {
        if space.isProxy() {
            guard let own else { return storage?.proposal(for: space) }
            return own.hasPassword && isForProxy(space, at: hop) ? own : nil
        }
        let isMeant = space.isOfServer(at: url)
        if isMeant, let own, own.hasPassword { return own }
        // A redirect within the origin need not repeat the user.
        for address in [hop, isMeant ? url : nil] {
            // The URL may come from a redirect, so the peer may have chosen its length.
            guard let user = address?.user(percentEncoded: false), PeerText(user).canBeKept else { continue }
            if let password = address?.password(percentEncoded: false) {
                guard PeerText(password).canBeKept else { continue }
                return URLCredential(user: user, password: password, persistence: .forSession)
            }
            // The URL names the user; the storage may have the password.
            return own == nil ? storage?.credentials(for: space)?[user] : nil
        }
        return own == nil && !isNamed ? storage?.proposal(for: space) : nil
    }

    /// Whether a credential is the task's own and must not be sent to the proxy of this space.
    func isWithheld(_ credential: URLCredential, from space: URLProtectionSpace, at hop: URL?) -> Bool {
        space.isProxy() && credential == own && !isForProxy(space, at: hop)
    }

    /// Whether the task's own credential may be sent to the proxy of this space.
    ///
    /// A 407 to a forwarded request may come from the server behind the proxy, so the server has to be the task's own. Basic
    /// reveals the password to the proxy and to everyone on the way to it, so it is used only where the server would receive it
    /// in the clear too.
    private func isForProxy(_ space: URLProtectionSpace, at hop: URL?) -> Bool {
        guard let origin = WebOrigin(url), origin == WebOrigin(hop) else { return false }
        return !origin.isSecure || space.authenticationMethod == NSURLAuthenticationMethodHTTPDigest
    }
}
