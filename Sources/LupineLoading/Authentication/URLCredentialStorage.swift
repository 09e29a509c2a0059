// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineTransport

extension NSNotification.Name {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Posted when the credentials of a storage change, on the thread that changed them. The object is the storage.
    public static let NSURLCredentialStorageChanged = NSNotification.Name(
        "NSURLCredentialStorageChangedNotification")
}

/// Credentials by protection space, in memory only (U-11.16). May be used on any thread.
///
/// A storage contains only the credentials that the program adds. Sessions that have the storage in their configuration use it
/// for tasks without their own credential.
///
/// The first credential of a space becomes its default. A client identity has no user name: a space has at most one, which only
/// `defaultCredential(for:)` returns. A storage ignores credentials with persistence `none`, which are for one challenge, and
/// `synchronizable` ones, because there are no other devices to synchronize with.
public final class URLCredentialStorage: NSObject, Sendable {
    /// The credentials of one protection space.
    private struct SpaceEntry {
        /// Identifies a credential within its space.
        enum Key: Equatable {
            case user(String)
            case identity
        }

        var credentialsByUser: [String: URLCredential] = [:]
        /// The credential with a client identity; nil for none.
        var identity: URLCredential?
        /// The key of the default credential; nil after the default credential was removed.
        var defaultKey: Key?

        var isEmpty: Bool { credentialsByUser.isEmpty && identity == nil }

        /// The credential that is stored under a key.
        subscript(key: Key) -> URLCredential? {
            get {
                switch key {
                case .user(let name): credentialsByUser[name]
                case .identity: identity
                }
            }
            set {
                switch key {
                case .user(let name): credentialsByUser[name] = newValue
                case .identity: identity = newValue
                }
            }
        }

        var defaultCredential: URLCredential? { defaultKey.flatMap { self[$0] } }

        /// Returns the key under which a credential is stored; nil for a credential with neither a user nor an identity.
        static func key(of credential: URLCredential) -> Key? {
            credential.user.map(Key.user) ?? credential.identity.map { _ in .identity }
        }
    }

    private let entries = Lock<[URLProtectionSpace: SpaceEntry]>([:])

    /// The storage of the process.
    public static let shared = URLCredentialStorage()

    /// Creates an empty storage.
    public override init() { super.init() }

    /// The credentials of a space by user name; nil when there are none.
    public func credentials(for space: URLProtectionSpace) -> [String: URLCredential]? {
        entries.withLock { $0[space].flatMap { $0.credentialsByUser.isEmpty ? nil : $0.credentialsByUser } }
    }

    /// All credentials that have a user name.
    public var allCredentials: [URLProtectionSpace: [String: URLCredential]] {
        entries.withLock { $0.mapValues(\.credentialsByUser).filter { !$0.value.isEmpty } }
    }

    /// Stores a credential. It replaces the credential of the same user or, if it has a client identity, the space's identity.
    public func set(_ credential: URLCredential, for space: URLProtectionSpace) {
        store(credential, for: space, asDefault: false)
    }

    /// Removes a credential, even the default one.
    public func remove(_ credential: URLCredential, for space: URLProtectionSpace) {
        remove(credential, for: space, options: nil)
    }

    /// Removes a credential, even the default one. The options concern synchronized credentials, which do not exist here.
    public func remove(
        _ credential: URLCredential, for space: URLProtectionSpace, options: [String: AnyObject]? = [:]
    ) {
        let hasChanged = entries.withLock { entries in
            guard var entry = entries[space], let key = SpaceEntry.key(of: credential),
                entry[key] == credential
            else {
                return false
            }
            entry[key] = nil
            if entry.defaultKey == key { entry.defaultKey = nil }
            entries[space] = entry.isEmpty ? nil : entry
            return true
        }
        if hasChanged { postChange() }
    }

    /// The default credential of a space; nil when there is none.
    public func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
        entries.withLock { $0[space]?.defaultCredential }
    }

    /// Stores a credential and makes it the default of a space.
    public func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace) {
        store(credential, for: space, asDefault: true)
    }

    /// Returns the credential to propose when the URL names no user (U-11.4): the default credential, otherwise that of the
    /// first user in the order of the names, otherwise that with the client identity.
    package func proposedCredential(for space: URLProtectionSpace) -> URLCredential? {
        entries.withLock { entries in
            guard let entry = entries[space] else { return nil }
            return entry.defaultCredential ?? entry.credentialsByUser.min { $0.key < $1.key }?.value
                ?? entry.identity
        }
    }

    /// Removes everything.
    package func removeAll() {
        let hasChanged = entries.withLock { entries in
            // The result tells whether there were entries before this call removes them.
            defer { entries = [:] }
            return !entries.isEmpty
        }
        if hasChanged { postChange() }
    }

    /// Stores a credential, unless its persistence forbids that. The first credential of a space becomes the default one.
    private func store(_ credential: URLCredential, for space: URLProtectionSpace, asDefault: Bool) {
        switch credential.persistence {
        case .none, .synchronizable: return
        case .forSession, .permanent: break
        }
        guard let key = SpaceEntry.key(of: credential) else { return }
        let hasChanged = entries.withLock { entries in
            var entry = entries[space] ?? SpaceEntry()
            let (oldCredential, oldDefaultKey) = (entry[key], entry.defaultKey)
            if asDefault || entry.isEmpty { entry.defaultKey = key }
            entry[key] = credential
            entries[space] = entry
            return oldCredential != credential || oldDefaultKey != entry.defaultKey
        }
        if hasChanged { postChange() }
    }

    /// Posts the notification, whose observers are the program's code: no lock may be held.
    private func postChange() {
        assertNoLockIsHeld()
        NotificationCenter.default.post(name: .NSURLCredentialStorageChanged, object: self)
    }
}
