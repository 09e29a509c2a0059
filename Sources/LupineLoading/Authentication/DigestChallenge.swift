// SPDX-License-Identifier: MIT

internal import LupineTLS

/// The algorithm of a Digest challenge: hash function and session form (RFC 7616 §3.4).
struct DigestAlgorithm: Hashable, Sendable {
    /// The hash function.
    let hash: MessageDigest
    /// Whether the key is bound to the first nonces of a session: the `-sess` forms.
    let isSession: Bool

    /// The algorithm with this name, compared without case; nil for an unknown one.
    init?(name: String) {
        var base = name.lowercased()
        isSession = base.hasSuffix("-sess")
        if isSession { base.removeLast(5) }
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
    /// The parts of a message that are protected.
    enum Protection: String, Hashable, Sendable {
        /// Method and target.
        case auth
        /// The content too.
        case authInt = "auth-int"
    }

    let realm: String
    var nonce: String
    let opaque: String?
    let algorithm: DigestAlgorithm
    /// The algorithm's name as received, to be sent back; nil when the challenge has none.
    let algorithmName: String?
    /// Nil for a server of RFC 2069, which has neither `nc` nor `cnonce`.
    let protection: Protection?
    /// Whether the credential was good and only the nonce was too old.
    let isStale: Bool
    /// Whether the user's name is to be sent as a hash.
    let hashesUser: Bool
    /// Whether the server reads names as UTF-8.
    let takesUTF8: Bool
    /// The URIs for which the credential is valid too, as received; empty for the whole origin.
    let domain: [String]

    /// The most entries of `domain` and of `qop` that are read. URIs beyond it are not authenticated to preemptively.
    static let mostPlaces = 64

    /// Fails when the challenge cannot be answered: a required parameter is missing, a value is not supported (U-11.9), or the
    /// hash function is disabled on this machine.
    init?(_ challenge: ChallengeSyntax) {
        guard challenge.scheme == "digest", let nonce = challenge["nonce"], let realm = challenge["realm"],
            let algorithm = DigestAlgorithm(name: challenge["algorithm"] ?? "MD5"),
            algorithm.hash.digest(of: []) != nil
        else { return nil }
        let offered = challenge["qop"].map { list in
            list.split(maxSplits: Self.mostPlaces) { $0 == "," || $0 == " " || $0 == "\t" }
                .map { $0.lowercased() }
        }
        switch offered {
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
        hashesUser = challenge["userhash"]?.lowercased() == "true"
        takesUTF8 = challenge["charset"]?.lowercased() == "utf-8"
        domain =
            challenge["domain"]?.split(maxSplits: Self.mostPlaces) { $0 == " " || $0 == "\t" }
            .prefix(Self.mostPlaces).map(String.init) ?? []
    }
}
