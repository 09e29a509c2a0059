// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineTransport

extension NSNotification.Name {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The credentials of the storage that is the object have changed. Posted on the thread that changed them.
    public static let NSURLCredentialStorageChanged = NSNotification.Name(
        "NSURLCredentialStorageChangedNotification")
}

/// Credentials by protection space, in memory only (U-11.16). Any thread may use it.
///
/// It holds what the program puts there, and nothing else. Of the sessions that have it in their configuration it answers for
/// the tasks that bring no user name of their own.
///
/// The first credential of a space becomes its default. A client's identity has no user's name: a space has one of them,
/// which is found as its default alone. A credential with persistence `none` is for one challenge and is not kept; neither
/// is one that is `synchronizable`, since there is nothing to keep it in.
public final class URLCredentialStorage: NSObject, Sendable {
    private struct Shelf {
        enum Choice: Equatable {
            case user(String)
            case identity
        }

        var byUser: [String: URLCredential] = [:]
        var identity: URLCredential?
        var choice: Choice?

        var isEmpty: Bool { byUser.isEmpty && identity == nil }

        /// What there is of that choice.
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

        /// Where a credential belongs; nil for one that is nobody's.
        static func place(of credential: URLCredential) -> Choice? {
            credential.user.map(Choice.user) ?? credential.identity.map { _ in .identity }
        }
    }

    private let shelves = Lock<[URLProtectionSpace: Shelf]>([:])

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

    /// Keeps a credential in place of the one of that user, or an identity in place of the one before.
    public func set(_ credential: URLCredential, for space: URLProtectionSpace) {
        keep(credential, for: space, asDefault: false)
    }

    /// Removes a credential; as a default too.
    public func remove(_ credential: URLCredential, for space: URLProtectionSpace) {
        remove(credential, for: space, options: nil)
    }

    /// Removes a credential; as a default too. The options are about credentials that are synchronised, of which there are
    /// none.
    public func remove(
        _ credential: URLCredential, for space: URLProtectionSpace, options: [String: AnyObject]? = [:]
    ) {
        let hasChanged = shelves.withLock { shelves in
            guard var shelf = shelves[space], let place = Shelf.place(of: credential),
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

    /// The credential to try first in a space; nil when there is none.
    public func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
        shelves.withLock { $0[space]?.chosen }
    }

    /// Makes a credential the one to try first in a space, and keeps it.
    public func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace) {
        keep(credential, for: space, asDefault: true)
    }

    /// What is proposed to a challenge when the address names nobody (U-11.4): the default, else the first by name.
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
        guard let place = Shelf.place(of: credential) else { return }
        let hasChanged = shelves.withLock { shelves in
            var shelf = shelves[space] ?? Shelf()
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
