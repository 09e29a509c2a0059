// SPDX-License-Identifier: MIT

internal import LupineTLS

/// The algorithm of a Digest challenge: a hash function, with or without `-sess` (RFC 7616 §3.4).
struct DigestAlgorithm: Hashable, Sendable {
    /// The hash function.
    let hash: MessageDigest
    /// Whether the algorithm's name ends with `-sess`: the hash of the password, `H(A1)`, then also contains the nonces of the
    /// first request.
    let isSession: Bool

    /// Creates the algorithm with this name, in any case. Fails for an unknown name.
    init?(name: String) {
        var base = name.lowercased()
        isSession = base.hasSuffix("-sess")
        if isSession { base.removeLast("-sess".count) }
        switch base {
        case "md5": hash = .md5
        case "sha-256": hash = .sha256
        case "sha-512-256": hash = .sha512Cut256
        default: return nil
        }
    }
}

/// A parsed Digest challenge (RFC 7616 §3.3, RFC 2617, RFC 2069).
struct DigestChallenge: Hashable, Sendable {
    /// The quality of protection (`qop`): the parts of a request that the answer protects.
    enum Protection: String, Hashable, Sendable {
        /// Method and target.
        case auth
        /// Method, target and content.
        case authInt = "auth-int"
    }

    let realm: String
    /// The server's nonce; a later `nextnonce` replaces it.
    var nonce: String
    /// A text that the client sends back unchanged; nil for none.
    let opaque: String?
    let algorithm: DigestAlgorithm
    /// The algorithm's name as received, which the client sends back; nil when the challenge has none.
    let algorithmName: String?
    /// The selected `qop`; nil for a server of RFC 2069, which knows neither `qop`, nor the nonce count, nor the client nonce.
    let protection: Protection?
    /// Whether the server refused only the nonce, as too old, and not the credential (`stale`).
    let isStale: Bool
    /// Whether the server wants the user's name as a hash (`userhash`).
    let hashesUserName: Bool
    /// Whether the server reads user names as UTF-8 (`charset`).
    let acceptsUTF8: Bool
    /// The URIs for which the credential is valid too, as received; empty for the whole origin.
    let domain: [String]

    /// The most elements of `domain` and of `qop` that are read. Requests to the URIs of later `domain` elements carry no
    /// preemptive answer.
    static let maxListElements = 64

    /// Reads a challenge. Fails when the library cannot answer it: a required parameter is missing, a value is not supported
    /// (U-11.9), or OpenSSL does not offer the hash function.
    init?(_ challenge: ChallengeSyntax) {
        guard challenge.scheme == "digest", let nonce = challenge["nonce"], let realm = challenge["realm"],
            let algorithm = DigestAlgorithm(name: challenge["algorithm"] ?? "MD5"),
            // The hash of no octets is nil if OpenSSL does not offer the function.
            algorithm.hash.digest(of: []) != nil
        else { return nil }
        let offeredProtections = challenge["qop"].map { list in
            list.split(maxSplits: Self.maxListElements) { $0 == "," || $0 == " " || $0 == "\t" }
                .map { $0.lowercased() }
        }
        // Prefers `auth`, for which the content need not be hashed.
        switch offeredProtections {
        case nil: protection = nil
        case let list? where list.contains("auth"): protection = .auth
        case let list? where list.contains("auth-int"): protection = .authInt
        default: return nil
        }
        self.realm = realm
        self.nonce = nonce
        self.algorithm = algorithm
        algorithmName = challenge["algorithm"]
        opaque = challenge["opaque"]
        isStale = challenge["stale"]?.lowercased() == "true"
        hashesUserName = challenge["userhash"]?.lowercased() == "true"
        acceptsUTF8 = challenge["charset"]?.lowercased() == "utf-8"
        // `split` returns the text after the last split as one more element, which `prefix` removes.
        domain =
            challenge["domain"]?.split(maxSplits: Self.maxListElements) { $0 == " " || $0 == "\t" }
            .prefix(Self.maxListElements).map(String.init) ?? []
    }
}
