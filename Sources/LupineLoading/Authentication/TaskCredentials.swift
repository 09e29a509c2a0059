// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineTransport

/// Which user names and passwords one task may answer with (U-11.4).
///
/// A task that brings its own is that user's: what it was handed speaks for it to the server that it was made for, the user in
/// its address to the server. What it was handed is no proxy's: a proxy on the way to that server is answered with it where it
/// learns no more than the way would show anyway, and none on the way to another server. The session's storage speaks for those
/// that bring nothing: a user whose password is wrong, or who was led to another server, is not served as the session.
struct TaskCredentials: Sendable {
    /// What the task was handed; nil for nothing.
    var own: URLCredential?
    /// The address that the task was made for.
    private let url: URL?
    /// Whether that address, or a field of the program's or the configuration's, says to servers who the user is: once said, it
    /// holds for the whole task.
    var isNamed: Bool
    private let storage: URLCredentialStorage?

    /// Those of a task with this request, in a session with this storage.
    ///
    /// - Parameter isNamed: Whether the configuration says to every server who the user is.
    init(of request: URLRequest?, storage: URLCredentialStorage?, isNamed: Bool = false) {
        url = request?.url
        self.isNamed =
            isNamed || request?.url?.user(percentEncoded: true) != nil
            || request?.value(forHTTPHeaderField: "Authorization") != nil
        self.storage = storage
    }

    /// What would be answered in a space; nil for nothing.
    ///
    /// - Parameter hop: The address of the request that is answered, with the user whom it, or a redirect to it, names.
    func proposal(for space: URLProtectionSpace, at hop: URL?) -> URLCredential? {
        if space.isProxy() {
            guard let own else { return storage?.proposal(for: space) }
            return own.hasPassword && isForProxy(space, at: hop) ? own : nil
        }
        let isMeant = space.isOfServer(at: url)
        if isMeant, let own, own.hasPassword { return own }
        // A redirect within the origin need not repeat the name.
        for address in [hop, isMeant ? url : nil] {
            // Whoever redirects writes it, too.
            guard let user = address?.user(percentEncoded: false), PeerText(user).canBeKept else { continue }
            if let password = address?.password(percentEncoded: false) {
                guard PeerText(password).canBeKept else { continue }
                return URLCredential(user: user, password: password, persistence: .forSession)
            }
            // The address says who, the storage may know the rest.
            return own == nil ? storage?.credentials(for: space)?[user] : nil
        }
        return own == nil && !isNamed ? storage?.proposal(for: space) : nil
    }

    /// Whether this was handed to the task, and is not for who asks there.
    func isWithheld(_ credential: URLCredential, from space: URLProtectionSpace, at hop: URL?) -> Bool {
        space.isProxy() && credential == own && !isForProxy(space, at: hop)
    }

    /// Whether a proxy is answered with what the task was handed.
    ///
    /// A 407 to a request that is forwarded may come from the server behind the proxy, so the server has to be the task's own. Basic
    /// tells the password to the proxy, and to everybody between here and there: only where the server would be told it in the
    /// clear, too.
    private func isForProxy(_ space: URLProtectionSpace, at hop: URL?) -> Bool {
        guard let origin = WebOrigin(url), origin == WebOrigin(hop) else { return false }
        return !origin.isSecure || space.authenticationMethod == NSURLAuthenticationMethodHTTPDigest
    }
}
