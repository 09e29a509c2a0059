// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineTransport

/// The credentials with which one task may answer authentication challenges (U-11.4).
///
/// A task's own credential is the one that the program has set for it. It answers the server for which the task was created; the
/// user and password in a URL answer that URL's server. The own credential is sent to a proxy only for requests to the task's own
/// server, and only if that reveals no more than the request itself. The session's storage supplies credentials only to tasks
/// without their own: a task whose own password is wrong, or that was redirected to another server, must not act as a user of the
/// storage.
struct TaskCredentials: Sendable {
    /// The task's own credential; nil for none.
    var ownCredential: URLCredential?
    /// The URL for which the task was created.
    private let taskURL: URL?
    /// Whether `taskURL`, or an `Authorization` field set by the program or the configuration, identifies the user to servers.
    /// Once true, this stays true for the whole task.
    var identifiesUser: Bool
    private let storage: URLCredentialStorage?

    /// Creates the credentials of a task with this request, in a session with this storage.
    ///
    /// - Parameters:
    ///   - request: The request for which the task was created.
    ///   - storage: The session's credential storage.
    ///   - identifiesUser: Whether the configuration identifies the user to every server, by an `Authorization` field.
    init(of request: URLRequest?, storage: URLCredentialStorage?, identifiesUser: Bool = false) {
        taskURL = request?.url
        self.identifiesUser =
            identifiesUser || request?.url?.user(percentEncoded: true) != nil
            || request?.value(forHTTPHeaderField: "Authorization") != nil
        self.storage = storage
    }

    /// Returns the credential with which to answer a challenge of this protection space; nil for none.
    ///
    /// - Parameters:
    ///   - space: The protection space of the challenge.
    ///   - hopURL: The URL of the challenged request, with the user and password in that URL or in a redirect to it.
    func proposedCredential(for space: URLProtectionSpace, at hopURL: URL?) -> URLCredential? {
        if space.isProxy() {
            guard let ownCredential else { return storage?.proposedCredential(for: space) }
            return ownCredential.hasPassword && mayBeSentToProxy(space, at: hopURL) ? ownCredential : nil
        }
        let isOwnServer = space.isOfServer(at: taskURL)
        if isOwnServer, let ownCredential, ownCredential.hasPassword { return ownCredential }
        // After a redirect within the origin, `hopURL` may lack the user that the task's URL has.
        for url in [hopURL, isOwnServer ? taskURL : nil] {
            // The URL may come from a redirect, so a peer may have chosen a text that a session may not store.
            guard let user = url?.user(percentEncoded: false), PeerText(user).canBeKept else { continue }
            if let password = url?.password(percentEncoded: false) {
                guard PeerText(password).canBeKept else { continue }
                return URLCredential(user: user, password: password, persistence: .forSession)
            }
            // The URL names the user; the storage may have the password.
            return ownCredential == nil ? storage?.credentials(for: space)?[user] : nil
        }
        return ownCredential == nil && !identifiesUser ? storage?.proposedCredential(for: space) : nil
    }

    /// Whether a credential is the task's own and must not be sent to the proxy of this space with a request to `hopURL`.
    func isWithheld(_ credential: URLCredential, from space: URLProtectionSpace, at hopURL: URL?) -> Bool {
        space.isProxy() && credential == ownCredential && !mayBeSentToProxy(space, at: hopURL)
    }

    /// Whether the task's own credential may be sent to the proxy of this space.
    ///
    /// A 407 response to a forwarded request may come from the server behind the proxy. Therefore that server must be the task's
    /// own. Basic reveals the password to the proxy and to everyone on the way to it. It is allowed only for `http` requests, for
    /// which the server, too, would receive the password in the clear.
    private func mayBeSentToProxy(_ space: URLProtectionSpace, at hopURL: URL?) -> Bool {
        guard let origin = WebOrigin(taskURL), origin == WebOrigin(hopURL) else { return false }
        // Digest does not reveal the password.
        return !origin.isSecure || space.authenticationMethod == NSURLAuthenticationMethodHTTPDigest
    }
}
