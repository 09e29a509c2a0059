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
/// It holds only what the program puts there. Sessions that have it in their configuration use it for tasks that have no user of
/// their own.
///
/// The first credential of a space becomes its default. A client identity has no user name: a space has at most one, and it can
/// be found only as the default. A credential with persistence `none` is for one challenge and is not stored; neither is one that
/// is `synchronizable`, because there is nowhere to synchronize it to.
public final class URLCredentialStorage: NSObject, Sendable {
    private struct SpaceEntry {
        enum Choice: Equatable {
            case user(String)
            case identity
        }

        var byUser: [String: URLCredential] = [:]
        var identity: URLCredential?
        var choice: Choice?

        var isEmpty: Bool { byUser.isEmpty && identity == nil }

        /// The stored credential for a choice.
        subscript(choice: Choice) -> URLCredential? {
            get {
                switch choice {
                case .user(let name): byUser[name]
                case .identity: identity
                }
            }
            set {
                switch choice {
                case .user(let name): byUser[name] = newValue
                case .identity: identity = newValue
                }
            }
        }

        var chosen: URLCredential? { choice.flatMap { self[$0] } }

        /// The place where a credential is stored; nil for one that has neither a user nor an identity.
        static func place(of credential: URLCredential) -> Choice? {
            credential.user.map(Choice.user) ?? credential.identity.map { _ in .identity }
        }
    }

    private let shelves = Lock<[URLProtectionSpace: SpaceEntry]>([:])

    /// The storage of the process.
    public static let shared = URLCredentialStorage()

    /// An empty storage.
    public override init() { super.init() }

    /// The credentials of a space by user name; nil when there are none.
    public func credentials(for space: URLProtectionSpace) -> [String: URLCredential]? {
        shelves.withLock { $0[space].flatMap { $0.byUser.isEmpty ? nil : $0.byUser } }
    }

    /// All credentials that have a user name.
    public var allCredentials: [URLProtectionSpace: [String: URLCredential]] {
        shelves.withLock { $0.mapValues(\.byUser).filter { !$0.value.isEmpty } }
    }

    /// Stores a credential, replacing the one of the same user, or an identity, replacing the one before.
    public func set(_ credential: URLCredential, for space: URLProtectionSpace) {
        keep(credential, for: space, asDefault: false)
    }

    /// Removes a credential, including as the default.
    public func remove(_ credential: URLCredential, for space: URLProtectionSpace) {
        remove(credential, for: space, options: nil)
    }

    /// Removes a credential, including as the default. The options concern synchronized credentials, which do not exist here.
    public func remove(
        _ credential: URLCredential, for space: URLProtectionSpace, options: [String: AnyObject]? = [:]
    ) {
        let hasChanged = shelves.withLock { shelves in
            guard var shelf = shelves[space], let place = SpaceEntry.place(of: credential),
                shelf[place] == credential
            else {
                return false
            }
            shelf[place] = nil
            if shelf.choice == place { shelf.choice = nil }
            shelves[space] = shelf.isEmpty ? nil : shelf
            return true
        }
        if hasChanged { announce() }
    }

    /// The default credential of a space; nil when there is none.
    public func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
        shelves.withLock { $0[space]?.chosen }
    }

    /// Stores a credential and makes it the default of a space.
    public func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace) {
        keep(credential, for: space, asDefault: true)
    }

    /// The credential to propose when the URL names no user (U-11.4): the default, otherwise the first by user name.
    package func proposal(for space: URLProtectionSpace) -> URLCredential? {
        shelves.withLock { shelves in
            guard let shelf = shelves[space] else { return nil }
            return shelf.chosen ?? shelf.byUser.min { $0.key < $1.key }?.value ?? shelf.identity
        }
    }

    /// Removes everything.
    package func removeAll() {
        let hasChanged = shelves.withLock { shelves in
            defer { shelves = [:] }
            return !shelves.isEmpty
        }
        if hasChanged { announce() }
    }

    private func keep(_ credential: URLCredential, for space: URLProtectionSpace, asDefault: Bool) {
        switch credential.persistence {
        case .none, .synchronizable: return
        case .forSession, .permanent: break
        }
        guard let place = SpaceEntry.place(of: credential) else { return }
        let hasChanged = shelves.withLock { shelves in
            var shelf = shelves[space] ?? SpaceEntry()
            let before = (shelf[place], shelf.choice)
            if asDefault || shelf.isEmpty { shelf.choice = place }
            shelf[place] = credential
            shelves[space] = shelf
            return before.0 != credential || before.1 != shelf.choice
        }
        if hasChanged { announce() }
    }

    private func announce() {
        assertNoLockIsHeld()
        NotificationCenter.default.post(name: .NSURLCredentialStorageChanged, object: self)
    }
}
