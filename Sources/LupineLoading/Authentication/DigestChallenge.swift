// SPDX-License-Identifier: MIT

internal import LupineTLS

/// How a Digest challenge wants to be answered: hash and session form (RFC 7616 §3.4).
struct DigestAlgorithm: Hashable, Sendable {
    /// What everything is hashed with.
    let hash: MessageDigest
    /// Whether the secret is bound to the first nonces of a session: the `-sess` forms.
    let isSession: Bool

    /// The algorithm of that name, in any mix of cases; nil when it is not known.
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

/// What a server says in a Digest challenge, read (RFC 7616 §3.3, RFC 2617, RFC 2069).
struct DigestChallenge: Hashable, Sendable {
    /// What of a message is protected.
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
    /// The algorithm's name as it was given, to be given back; nil when it was not.
    let algorithmName: String?
    /// Nil for a server of RFC 2069, which knows neither counts nor nonces of the client's.
    let protection: Protection?
    /// The credential was good, only the nonce was too old.
    let isStale: Bool
    /// The user's name is to be sent as a hash.
    let hashesUser: Bool
    /// The server reads names as UTF-8.
    let takesUTF8: Bool
    /// Where the credential is good too, as given; empty for the whole origin.
    let domain: [String]

    /// So many places, and kinds of protection, are noted at most: behind those places the credential waits to be asked for.
    static let mostPlaces = 64

    /// Nil when the challenge cannot be answered: what it needs is missing, is not known here
    /// (U-11.9), or is forbidden on this machine.
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
