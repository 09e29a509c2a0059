// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

struct CredentialTests {
    @Test("[U-11.1] realms that differ in Unicode normalisation are two, and a realm is returned unchanged")
    func realms() {
        func space(_ realm: String?) -> URLProtectionSpace {
            URLProtectionSpace(
                host: "h", port: 443, protocol: NSURLProtectionSpaceHTTPS, realm: realm,
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        }
        #expect(space("a") == space("a") && space("a").hash == space("a").hash)
        #expect(space("\u{E9}") != space("e\u{301}") && space("a") != space(nil))
        let long = String(repeating: "x", count: 100)
        #expect(space(long + "a") != space(long + "b"))
        #expect(Array((space("e\u{301}").realm ?? "").unicodeScalars) == ["e", "\u{301}"])
    }

    static func space(
        _ host: String = "example.org", _ port: Int = 443, _ scheme: String? = "https",
        _ realm: String? = "r",
        _ method: String? = NSURLAuthenticationMethodHTTPBasic
    ) -> URLProtectionSpace {
        URLProtectionSpace(
            host: host, port: port, protocol: scheme, realm: realm, authenticationMethod: method)
    }

    @Test("[U-11.1] spaces are compared by host (in any case), port, protocol, realm, method and proxy")
    func spacesAreEqual() {
        let space = Self.space()
        #expect(space == Self.space("EXAMPLE.org") && space.hash == Self.space("EXAMPLE.org").hash)
        let others = [
            Self.space("example.net"), Self.space("example.org", 80), Self.space("example.org", 443, "http"),
            Self.space("example.org", 443, "https", "R"), Self.space("example.org", 443, "https", nil),
            Self.space("example.org", 443, "https", "r", NSURLAuthenticationMethodHTTPDigest),
            URLProtectionSpace(
                proxyHost: "example.org", port: 443, type: "https", realm: "r",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic),
        ]
        for other in others { #expect(space != other, "\(other)") }
        let proxies = ["http", "https", nil].map { type in
            URLProtectionSpace(
                proxyHost: "p", port: 1, type: type, realm: nil, authenticationMethod: nil)
        }
        #expect(Set(proxies).count == 3)
        #expect(Set([space, Self.space("Example.Org")]).count == 1)
    }

    @Test func spacesKeepTheirValues() throws {
        let space = Self.space("Example.org", 8_080, "http", "x", nil)
        #expect(space.host == "Example.org" && space.port == 8_080 && space.protocol == "http")
        #expect(space.realm == "x" && !space.isProxy() && space.proxyType == nil)
        #expect(space.authenticationMethod == NSURLAuthenticationMethodDefault)
        #expect(!space.receivesCredentialSecurely && Self.space().receivesCredentialSecurely)
        #expect(
            Self.space("h", 80, "http", "r", NSURLAuthenticationMethodHTTPDigest).receivesCredentialSecurely)
        let proxy = URLProtectionSpace(
            proxyHost: "p", port: 1, type: NSURLProtectionSpaceSOCKSProxy, realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        #expect(proxy.isProxy() && proxy.proxyType == "SOCKS" && proxy.protocol == nil)
        #expect(proxy.copy() as AnyObject === proxy)
        for space in [space, proxy] {
            let data = try NSKeyedArchiver.archivedData(withRootObject: space, requiringSecureCoding: true)
            #expect(
                try NSKeyedUnarchiver.unarchivedObject(ofClass: URLProtectionSpace.self, from: data) == space)
        }
    }

    @Test func credentialsAreValues() throws {
        let credential = URLCredential(user: "u", password: "secret", persistence: .forSession)
        #expect(credential.user == "u" && credential.password == "secret" && credential.hasPassword)
        #expect(credential == URLCredential(user: "u", password: "secret", persistence: .forSession))
        for other in [("v", "secret", .forSession), ("u", "x", .forSession), ("u", "secret", .none)]
            as [(String, String, URLCredential.Persistence)]
        {
            #expect(credential != URLCredential(user: other.0, password: other.1, persistence: other.2))
        }
        #expect(!credential.description.contains("secret"))
        let data = try NSKeyedArchiver.archivedData(withRootObject: credential, requiringSecureCoding: true)
        #expect(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: URLCredential.self, from: data) == credential)
        #expect(URLCredential.Persistence.synchronizable.rawValue == 3)
    }

    @Test("[U-11.16] an identity is stored as its space's default, beside the users")
    func aStorageKeepsAnIdentity() throws {
        let storage = URLCredentialStorage()
        let space = Self.space("example.org", 443, "https", nil, NSURLAuthenticationMethodClientCertificate)
        let identities = try ["client-rsa", "client-ecdsa"].map {
            URLCredential(
                identity: try TrustStage.identity($0), certificates: nil, persistence: .forSession)
        }
        storage.set(identities[0], for: space)
        #expect(storage.defaultCredential(for: space) == identities[0])
        #expect(storage.credentials(for: space) == nil && storage.allCredentials.isEmpty)
        let user = URLCredential(user: "a", password: "p", persistence: .forSession)
        storage.set(user, for: space)
        #expect(storage.defaultCredential(for: space) == identities[0])
        #expect(storage.credentials(for: space) == ["a": user])
        storage.setDefaultCredential(user, for: space)
        #expect(storage.defaultCredential(for: space) == user)
        storage.setDefaultCredential(identities[1], for: space)
        #expect(storage.defaultCredential(for: space) == identities[1], "a space has one identity")
        storage.remove(identities[0], for: space)
        #expect(storage.defaultCredential(for: space) == identities[1], "another is not removed in its place")
        storage.remove(identities[1], for: space)
        #expect(
            storage.defaultCredential(for: space) == nil && storage.proposedCredential(for: space) == user)
        storage.remove(user, for: space)
        storage.set(identities[1], for: space)
        #expect(storage.proposedCredential(for: space) == identities[1])
        storage.removeAll()
        #expect(storage.proposedCredential(for: space) == nil)
    }

    @Test func aStorageKeepsTheFirstAsDefault() {
        let storage = URLCredentialStorage()
        let space = Self.space()
        let first = URLCredential(user: "b", password: "1", persistence: .forSession)
        let second = URLCredential(user: "a", password: "2", persistence: .permanent)
        #expect(storage.credentials(for: space) == nil && storage.defaultCredential(for: space) == nil)
        storage.set(first, for: space)
        storage.set(second, for: space)
        #expect(storage.defaultCredential(for: Self.space("EXAMPLE.ORG")) == first)
        #expect(storage.credentials(for: space) == ["a": second, "b": first])
        #expect(storage.allCredentials == [space: ["a": second, "b": first]])
        storage.remove(first, for: space)
        #expect(
            storage.defaultCredential(for: space) == nil && storage.proposedCredential(for: space) == second)
        storage.setDefaultCredential(first, for: space)
        #expect(
            storage.defaultCredential(for: space) == first && storage.proposedCredential(for: space) == first)
        storage.remove(second, for: space, options: nil)
        storage.remove(second, for: space)
        #expect(storage.credentials(for: space) == ["b": first])
        storage.removeAll()
        #expect(storage.allCredentials.isEmpty)
    }

    @Test(arguments: [URLCredential.Persistence.none, .synchronizable])
    func aStorageRefusesOtherPersistences(persistence: URLCredential.Persistence) {
        let storage = URLCredentialStorage()
        let credential = URLCredential(user: "a", password: "1", persistence: persistence)
        storage.set(credential, for: Self.space())
        storage.setDefaultCredential(credential, for: Self.space())
        #expect(storage.allCredentials.isEmpty)
    }

    @Test("[U-11.16] the methods with a task do what those without one do")
    func methodsForTasks() {
        let storage = URLCredentialStorage()
        let space = Self.space()
        let task = URLSessionTask()
        let first = URLCredential(user: "a", password: "1", persistence: .forSession)
        let second = URLCredential(user: "b", password: "2", persistence: .forSession)
        storage.set(first, for: space, task: task)
        storage.setDefaultCredential(second, for: space, task: task)
        var found: [String: URLCredential]?
        var standard: URLCredential?
        storage.getCredentials(for: space, task: task) { found = $0 }
        storage.getDefaultCredential(for: space, task: task) { standard = $0 }
        #expect(found == ["a": first, "b": second] && standard == second)
        storage.remove(second, for: space, options: nil, task: task)
        storage.remove(first, for: space, task: task)
        #expect(storage.credentials(for: space) == nil && storage.defaultCredential(for: space) == nil)
    }

    @Test func aStorageAnnouncesChanges() {
        let storage = URLCredentialStorage()
        let count = Lock(0)
        let observer = NotificationCenter.default.addObserver(
            forName: .NSURLCredentialStorageChanged, object: storage, queue: nil
        ) { _ in count.withLock { $0 += 1 } }
        defer { NotificationCenter.default.removeObserver(observer) }
        let credential = URLCredential(user: "a", password: "1", persistence: .forSession)
        storage.set(credential, for: Self.space())
        storage.set(credential, for: Self.space())
        storage.remove(credential, for: Self.space())
        storage.remove(credential, for: Self.space())
        #expect(count.withLock { $0 } == 2)
    }
}

/// A sender that records its calls.
private final class NotingSender: NSObject, URLAuthenticationChallengeSender {
    let notes = Lock<[String]>([])

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
        notes.withLock { $0.append("use \(credential.user ?? "")") }
    }

    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {
        notes.withLock { $0.append("continue") }
    }

    func cancel(_ challenge: URLAuthenticationChallenge) { notes.withLock { $0.append("cancel") } }
}

struct AuthenticationChallengeTests {
    @Test func aChallengeCanBeCopiedForAnotherSender() {
        let credential = URLCredential(user: "u", password: "secret", persistence: .none)
        let first = NotingSender()
        let second = NotingSender()
        let challenge = URLAuthenticationChallenge(
            protectionSpace: CredentialTests.space(), proposedCredential: credential, previousFailureCount: 2,
            failureResponse: nil, error: URLError(.badURL), sender: first)
        #expect(challenge.sender === first && challenge.previousFailureCount == 2)
        #expect((challenge.error as? URLError)?.code == .badURL && challenge.failureResponse == nil)
        let other = URLAuthenticationChallenge(authenticationChallenge: challenge, sender: second)
        #expect(other.sender === second && other.previousFailureCount == 2)
        #expect(other.proposedCredential == credential && other.protectionSpace == CredentialTests.space())
        #expect(!challenge.description.contains("secret"))
    }

    @Test func sendersMayOmitOptionalMethods() {
        let sender = NotingSender()
        let credential = URLCredential(user: "u", password: "p", persistence: .none)
        for proposed in [credential, nil] {
            let challenge = URLAuthenticationChallenge(
                space: CredentialTests.space(), credential: proposed, failures: 0, response: nil,
                sender: sender)
            challenge.sender?.performDefaultHandling(for: challenge)
            challenge.sender?.rejectProtectionSpaceAndContinue(with: challenge)
        }
        #expect(sender.notes.withLock { $0 } == ["use u", "continue", "continue", "continue"])
    }
}
