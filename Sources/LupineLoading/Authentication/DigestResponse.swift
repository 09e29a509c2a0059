// SPDX-License-Identifier: MIT

internal import LupineTLS

/// Computes the answers to one Digest challenge, for one request after the other (RFC 7616 §3.4).
///
/// The value contains the nonce count. Tasks that share a nonce share this value behind a lock, so that no count is used twice.
/// Apart from the count, an answer depends only on the arguments of `field`; the client nonce is one of them.
struct DigestResponse: Sendable {
    private let user: String
    private let password: String
    private(set) var challenge: DigestChallenge
    /// The number of requests that have used the nonce.
    private(set) var nonceCount: UInt32 = 0
    /// `H(A1)` of a `-sess` algorithm; nil before the first request. Computed with the first request's nonces, it is valid for
    /// the whole session.
    private var sessionA1: String?

    /// Creates a value that answers a challenge with this name and password.
    init(_ challenge: DigestChallenge, user: String, password: String) {
        self.challenge = challenge
        self.user = user
        self.password = password
    }

    /// Whether the user's name can be sent.
    var canSendUserName: Bool { userParameter() != nil }

    /// Returns a client nonce with at least 128 random bits.
    static func freshClientNonce() -> String {
        var source = SystemRandomNumberGenerator()
        return (0..<3).map { _ in String(source.next(), radix: 36) }.joined()
    }

    /// Returns the value of `Authorization` or `Proxy-Authorization` for the next request, and increments the nonce count.
    ///
    /// - Parameters:
    ///   - method: The method of the request.
    ///   - uri: The target exactly as in the request line.
    ///   - content: The content, which only `auth-int` uses; nil when it is not known in advance.
    ///   - clientNonce: A result of `freshClientNonce()`.
    /// - Returns: The value; nil when `auth-int` is required and the content is not known, when the user's name cannot be sent,
    ///   or when the nonce count has reached its maximum.
    mutating func field(method: String, uri: String, content: [UInt8]?, clientNonce: String) -> String? {
        let hash = challenge.protection == .authInt ? content.flatMap(challenge.algorithm.hash.digest) : nil
        return field(method: method, uri: uri, contentHash: hash, clientNonce: clientNonce)
    }

    /// Does the same as `field(method:uri:content:clientNonce:)`, with a hash in place of the content: `contentHash` is the
    /// content's hash under the challenge's hash function.
    mutating func field(method: String, uri: String, contentHash: [UInt8]?, clientNonce: String) -> String? {
        // RFC 7616 §3.4 defines A1, which contains the password, and A2, which describes the request.
        var a2 = method + ":" + uri
        if challenge.protection == .authInt {
            guard let contentHash else { return nil }
            a2 += ":" + Hexadecimal.lowercase(contentHash)
        }
        let (nextCount, hasOverflowed) = nonceCount.addingReportingOverflow(1)
        guard !hasOverflowed, let hashedA1 = hashedA1(clientNonce), let hashedA2 = hashed(a2) else {
            return nil
        }
        // The parameter `nc`, the nonce count, has eight hexadecimal digits.
        let digits = String(nextCount, radix: 16)
        let countField = String(repeating: "0", count: 8 - digits.count) + digits
        // Without `qop`, as in RFC 2069, there is nothing between the nonce and A2.
        let middle = challenge.protection.map { ":\(countField):\(clientNonce):\($0.rawValue)" } ?? ""
        guard let response = hashed("\(hashedA1):\(challenge.nonce)\(middle):\(hashedA2)"),
            let userParameter = userParameter()
        else { return nil }
        nonceCount = nextCount
        return fieldValue(
            userParameter, uri: uri, response: response, countField: countField, clientNonce: clientNonce)
    }

    /// Switches to the `nextnonce` of an `Authentication-Info` field (RFC 7616 §3.5). Returns false if the field has no
    /// `nextnonce`, or one that a session may not store.
    @discardableResult
    mutating func useNextNonce(in authenticationInfo: String) -> Bool {
        // The field is a list of parameters without a scheme; with a scheme in front it parses as a challenge.
        guard let next = ChallengeSyntax.parse(["info " + authenticationInfo]).first?["nextnonce"],
            PeerText(next).canBeKept
        else { return false }
        challenge.nonce = next
        nonceCount = 0
        return true
    }

    /// Returns `H(A1)` (RFC 7616 §3.4.2); nil if OpenSSL does not offer the hash function.
    private mutating func hashedA1(_ clientNonce: String) -> String? {
        if let sessionA1 { return sessionA1 }
        guard let secret = hashed("\(user):\(challenge.realm):\(password)") else { return nil }
        guard challenge.algorithm.isSession else { return secret }
        sessionA1 = hashed("\(secret):\(challenge.nonce):\(clientNonce)")
        return sessionA1
    }

    /// The function `H` of RFC 7616: the hash in lower-case hexadecimal digits. Nil if OpenSSL does not offer the hash function.
    private func hashed(_ octets: [UInt8]) -> String? {
        challenge.algorithm.hash.digest(of: octets).map(Hexadecimal.lowercase)
    }

    /// The function `H` of a text.
    private func hashed(_ text: String) -> String? { hashed(Array(text.utf8)) }

    /// Returns the field's value: the scheme and its parameters, of which the caller has computed `userParameter`.
    private func fieldValue(
        _ userParameter: String, uri: String, response: String, countField: String, clientNonce: String
    ) -> String {
        var parameters = [userParameter]
        parameters.append("realm=" + Self.quoted(challenge.realm))
        parameters.append("nonce=" + Self.quoted(challenge.nonce))
        parameters.append("uri=" + Self.quoted(uri))
        parameters.append("response=" + Self.quoted(response))
        if let name = challenge.algorithmName { parameters.append("algorithm=" + name) }
        if let protection = challenge.protection {
            parameters.append("qop=" + protection.rawValue)
            parameters.append("nc=" + countField)
        }
        if challenge.protection != nil || challenge.algorithm.isSession {
            parameters.append("cnonce=" + Self.quoted(clientNonce))
        }
        if let opaque = challenge.opaque { parameters.append("opaque=" + Self.quoted(opaque)) }
        if challenge.hashesUserName { parameters.append("userhash=true") }
        return "Digest " + parameters.joined(separator: ", ")
    }

    /// Returns the parameter `username` or `username*`; nil when the name cannot be sent.
    private func userParameter() -> String? {
        if challenge.hashesUserName {
            return hashed("\(user):\(challenge.realm)").map { "username=" + Self.quoted($0) }
        }
        // Only a name with characters outside ASCII needs `username*`.
        if challenge.acceptsUTF8, !user.utf8.allSatisfy({ $0 < 0x80 }) {
            return "username*=UTF-8''" + Self.percentEncoded(user)
        }
        // A quoted string cannot contain control characters such as line breaks.
        if user.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return nil }
        return "username=" + Self.quoted(user)
    }

    /// Returns the text as a quoted string (RFC 9110 §5.6.4).
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }

    /// Encodes a text as `value-chars` of RFC 8187 §3.2.1: percent-encodes all octets except digits, letters, and
    /// ! # $ & + - . ^ _ ` | ~.
    private static func percentEncoded(_ text: String) -> String {
        var octets: [UInt8] = []
        for octet in text.utf8 {
            switch octet {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x21, 0x23, 0x24, 0x26, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F,
                0x60, 0x7C, 0x7E:
                octets.append(octet)
            default: octets += "%\(Hexadecimal.uppercase([octet]))".utf8
            }
        }
        return String(decoding: octets, as: UTF8.self)
    }
}
