// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineTLS

/// A user's name and password, a client's identity, or a `SecTrust` that the program accepts. Its `persistence` is the time for
/// which it may be remembered.
///
/// Immutable; may be used on any thread. Only names and passwords can be archived. The library never writes a password to a disk,
/// whatever the persistence is; an archive that the program makes does contain the password.
public final class URLCredential: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// The time for which a credential is remembered.
    ///
    /// A session remembers the credential of a request, of a URL or of a delegate's answer until the session ends, and sends it
    /// only for requests with the same credential. A `URLCredentialStorage` stores the credentials that the program adds.
    public enum Persistence: UInt, Sendable {
        /// The credential is for one challenge only.
        case none = 0
        /// The session remembers the credential until it ends; a storage keeps it as long as the storage exists.
        case forSession = 1
        /// The same as `forSession`: there is no keychain here.
        case permanent = 2
        /// The credential is for all of the user's devices. No storage accepts it, because there is nothing to synchronize with.
        case synchronizable = 3
    }

    /// The three forms of a credential.
    private enum Contents: Hashable, Sendable {
        /// A name and a password. They are compared by their octets, because the URL of a redirect may contain them.
        case password(user: PeerText, password: PeerText)
        case identity(SecIdentity, certificates: [SecCertificate])
        case trust(SecTrust)
    }

    private let contents: Contents
    /// The time for which the credential may be remembered.
    public let persistence: Persistence

    /// Creates a credential with a name and a password.
    public init(user: String, password: String, persistence: Persistence) {
        contents = .password(user: PeerText(user), password: PeerText(password))
        self.persistence = persistence
    }

    /// Creates an answer to a server-trust challenge: the server is trusted, whatever its certificates say.
    public init(trust: SecTrust) {
        contents = .trust(trust)
        persistence = .forSession
    }

    /// Creates an answer to a client-certificate challenge.
    ///
    /// - Parameters:
    ///   - identity: The certificate and its key.
    ///   - certificates: The `SecCertificate`s of issuers to send along, in place of the issuers that came with the identity.
    ///     Objects of other types are ignored.
    ///   - persistence: The time for which the credential may be remembered.
    public init(identity: SecIdentity, certificates: [Any]?, persistence: Persistence) {
        contents = .identity(
            identity, certificates: (certificates ?? []).compactMap { $0 as? SecCertificate })
        self.persistence = persistence
    }

    /// Reads an archived credential; nil when the archive contains something else.
    public init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding,
            let user = coder.decodeObject(of: NSString.self, forKey: "user"),
            let password = coder.decodeObject(of: NSString.self, forKey: "password"),
            let rawPersistence = UInt(exactly: coder.decodeInt64(forKey: "persistence")),
            let persistence = Persistence(rawValue: rawPersistence)
        else { return nil }
        contents = .password(user: PeerText(user as String), password: PeerText(password as String))
        self.persistence = persistence
    }

    /// Archives a name and password. The archive of an identity or a trust is empty.
    public func encode(with coder: NSCoder) {
        guard case .password(let user, let password) = contents else { return }
        coder.encode(user.text as NSString, forKey: "user")
        coder.encode(password.text as NSString, forKey: "password")
        coder.encode(Int64(persistence.rawValue), forKey: "persistence")
    }

    /// Always true.
    public static var supportsSecureCoding: Bool { true }

    /// The user's name.
    public var user: String? { if case .password(let user, _) = contents { user.text } else { nil } }

    /// The password.
    public var password: String? {
        if case .password(_, let password) = contents { password.text } else { nil }
    }

    /// Whether there is a password.
    public var hasPassword: Bool { password != nil }

    /// The client's identity.
    public var identity: SecIdentity? {
        if case .identity(let identity, _) = contents { identity } else { nil }
    }

    /// The `SecCertificate`s of issuers to send along with the identity.
    public var certificates: [Any] {
        if case .identity(_, let certificates) = contents { certificates } else { [] }
    }

    /// The server trust that the program accepts.
    var trust: SecTrust? { if case .trust(let trust) = contents { trust } else { nil } }

    /// The identity to send to a server that requests a certificate; nil for other credentials.
    var presentedIdentity: TLSIdentity? {
        guard case .identity(let identity, let certificates) = contents else { return nil }
        return identity.replacingIssuers(with: certificates)
    }

    /// The credential itself: it is immutable.
    public override func copy() -> Any { self }

    /// The credential itself: it is immutable.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether the other object is a credential with the same values.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? URLCredential else { return false }
        return other.contents == contents && other.persistence == persistence
    }

    /// Consistent with `isEqual(_:)`.
    public override var hash: Int { contents.hashValue }

    /// Contains the user's name, or the subject of the certificate.
    public override var description: String {
        switch contents {
        case .password(let user, _): "<URLCredential for \(user.text)>"
        case .identity(let identity, _): "<URLCredential of \(identity)>"
        case .trust: "<URLCredential of a server's trust>"
        }
    }
}
