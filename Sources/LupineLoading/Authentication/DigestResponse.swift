// SPDX-License-Identifier: MIT

internal import LupineTLS

/// Produces the answers to one Digest challenge, request after request (RFC 7616 §3.4).
///
/// A value that contains the nonce count: tasks that share a nonce have to share this value behind a lock, so that no count is
/// used twice. Otherwise pure; the client nonce is an argument.
struct DigestResponse: Sendable {
    private let user: String
    private let password: String
    private(set) var challenge: DigestChallenge
    /// How often the nonce was used.
    private(set) var count: UInt32 = 0
    /// `H(A1)` of a `-sess` algorithm: computed with the nonces of the first use, valid for the whole session.
    private var sessionKey: String?

    /// Creates the answers of a user to a challenge.
    init(_ challenge: DigestChallenge, user: String, password: String) {
        self.challenge = challenge
        self.user = user
        self.password = password
    }

    /// Whether the user's name can be sent.
    var canName: Bool { userParameter() != nil }

    /// Returns a client nonce with at least 128 random bits.
    static func freshClientNonce() -> String {
        var source = SystemRandomNumberGenerator()
        return (0..<3).map { _ in String(source.next(), radix: 36) }.joined()
    }

    /// Returns the value of `Authorization` or `Proxy-Authorization` for the next request.
    ///
    /// - Parameters:
    ///   - method: The method of the request.
    ///   - uri: The target exactly as in the request line.
    ///   - content: The content, which `auth-int` protects; nil when it is not known in advance.
    ///   - clientNonce: A result of `freshClientNonce()`.
    /// - Returns: Nil when `auth-int` is required and the content is not known, when the user's name cannot be sent, or when
    ///   every count of the nonce is used.
    mutating func field(method: String, uri: String, content: [UInt8]?, clientNonce: String) -> String? {
        let hash = challenge.protection == .authInt ? content.flatMap(challenge.algorithm.hash.digest) : nil
        return field(method: method, uri: uri, contentHash: hash, clientNonce: clientNonce)
    }

    /// The same with the content's hash under the challenge's function instead of the content.
    mutating func field(method: String, uri: String, contentHash: [UInt8]?, clientNonce: String) -> String? {
        var tail = method + ":" + uri
        if challenge.protection == .authInt {
            guard let contentHash else { return nil }
            tail += ":" + Self.digits(of: contentHash)
        }
        let (next, isOver) = count.addingReportingOverflow(1)
        guard !isOver, let key = key(clientNonce), let target = hashed(tail) else { return nil }
        let digits = String(next, radix: 16)
        let nc = String(repeating: "0", count: 8 - digits.count) + digits
        let middle = challenge.protection.map { ":\(nc):\(clientNonce):\($0.rawValue)" } ?? ""
        guard let response = hashed("\(key):\(challenge.nonce)\(middle):\(target)"),
            let name = userParameter()
        else { return nil }
        count = next
        return text(name: name, uri: uri, response: response, nc: nc, clientNonce: clientNonce)
    }

    /// Switches to the `nextnonce` of an `Authentication-Info` field (RFC 7616 §3.5). Returns whether the field has one.
    @discardableResult
    mutating func take(authenticationInfo: String) -> Bool {
        // The field is a bare list of parameters; with a scheme in front it parses as a challenge.
        guard let next = ChallengeSyntax.parse(["info " + authenticationInfo]).first?["nextnonce"],
            PeerText(next).canBeKept
        else { return false }
        challenge.nonce = next
        count = 0
        return true
    }

    /// `H(A1)`.
    private mutating func key(_ clientNonce: String) -> String? {
        if let sessionKey { return sessionKey }
        guard let secret = hashed("\(user):\(challenge.realm):\(password)") else { return nil }
        guard challenge.algorithm.isSession else { return secret }
        sessionKey = hashed("\(secret):\(challenge.nonce):\(clientNonce)")
        return sessionKey
    }

    /// `H()` of RFC 7616, in lower-case hexadecimal digits.
    private func hashed(_ octets: [UInt8]) -> String? {
        challenge.algorithm.hash.digest(of: octets).map(Self.digits)
    }

    private static func digits(of digest: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private func hashed(_ text: String) -> String? { hashed(Array(text.utf8)) }

    private func text(name: String, uri: String, response: String, nc: String, clientNonce: String) -> String
    {
        var parts = [name]
        parts.append("realm=" + Self.quoted(challenge.realm))
        parts.append("nonce=" + Self.quoted(challenge.nonce))
        parts.append("uri=" + Self.quoted(uri))
        parts.append("response=" + Self.quoted(response))
        if let name = challenge.algorithmName { parts.append("algorithm=" + name) }
        if let protection = challenge.protection {
            parts.append("qop=" + protection.rawValue)
            parts.append("nc=" + nc)
        }
        if challenge.protection != nil || challenge.algorithm.isSession {
            parts.append("cnonce=" + Self.quoted(clientNonce))
        }
        if let opaque = challenge.opaque { parts.append("opaque=" + Self.quoted(opaque)) }
        if challenge.hashesUser { parts.append("userhash=true") }
        return "Digest " + parts.joined(separator: ", ")
    }

    private func userParameter() -> String? {
        if challenge.hashesUser {
            return hashed("\(user):\(challenge.realm)").map { "username=" + Self.quoted($0) }
        }
        if challenge.takesUTF8, !user.utf8.allSatisfy({ $0 < 0x80 }) {
            return "username*=UTF-8''" + Self.percentEncoded(user)
        }
        // A quoted string cannot contain control characters such as line breaks.
        if user.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return nil }
        return "username=" + Self.quoted(user)
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }

    /// `value-chars` of RFC 8187 §3.2.1.
    private static func percentEncoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var octets: [UInt8] = []
        for octet in text.utf8 {
            switch octet {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x21, 0x23, 0x24, 0x26, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F,
                0x60, 0x7C, 0x7E:
                octets.append(octet)
            default: octets += [0x25, digits[Int(octet >> 4)], digits[Int(octet & 15)]]
            }
        }
        return String(decoding: octets, as: UTF8.self)
    }
}
