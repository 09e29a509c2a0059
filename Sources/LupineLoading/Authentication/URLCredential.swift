// SPDX-License-Identifier: MIT

public import Foundation

/// Who asks: a user's name and password, and how long they may be remembered.
///
/// Immutable, and any thread's. A password is never written to a disk here, whatever the persistence says; an archive
/// that the program itself makes does hold it.
public final class URLCredential: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// How long a credential is remembered.
    public enum Persistence: UInt, Sendable {
        /// For the challenge that it answers.
        case none = 0
        /// For the session, in its storage.
        case forSession = 1
        /// For the life of the process, in the storage: there is no key chain here.
        case permanent = 2
        /// On all of the user's devices: no storage here takes it.
        case synchronizable = 3
    }

    private struct Contents: Hashable, Sendable {
        var user: String
        var password: String
        var persistence: Persistence
    }

    private let contents: Contents

    /// A name and a password.
    public init(user: String, password: String, persistence: Persistence) {
        contents = Contents(user: user, password: password, persistence: persistence)
    }

    /// Reads a credential that was archived; nil when the archive holds something else.
    public init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding,
            let user = coder.decodeObject(of: NSString.self, forKey: "user"),
            let password = coder.decodeObject(of: NSString.self, forKey: "password"),
            let stored = UInt(exactly: coder.decodeInt64(forKey: "persistence")),
            let persistence = Persistence(rawValue: stored)
        else { return nil }
        contents = Contents(user: user as String, password: password as String, persistence: persistence)
    }

    /// Archives all values, the password too.
    public func encode(with coder: NSCoder) {
        coder.encode(contents.user as NSString, forKey: "user")
        coder.encode(contents.password as NSString, forKey: "password")
        coder.encode(Int64(contents.persistence.rawValue), forKey: "persistence")
    }

    /// Whether archives are checked as they are read: yes.
    public static var supportsSecureCoding: Bool { true }

    /// The user's name.
    public var user: String? { contents.user }

    /// The password.
    public var password: String? { contents.password }

    /// Whether there is a password.
    public var hasPassword: Bool { true }

    /// How long the credential may be remembered.
    public var persistence: Persistence { contents.persistence }

    /// The credential itself: it is immutable.
    public override func copy() -> Any { self }

    /// The credential itself: it is immutable.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether the other is a credential of the same values.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? URLCredential)?.contents == contents
    }

    /// Goes with `isEqual(_:)`.
    public override var hash: Int { contents.hashValue }

    /// The user's name.
    public override var description: String { "<URLCredential for \(contents.user)>" }
}
