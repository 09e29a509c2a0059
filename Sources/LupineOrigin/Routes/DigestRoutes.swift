// SPDX-License-Identifier: MIT

internal import LupineHTTP
internal import LupineTLS

/// Digest authentication (RFC 7616): `/digest-auth/{qop}/{user}/{password}/{algorithm}/{stale_after}`.
///
/// `qop` is `auth`, `auth-int`, both joined by a comma, or `none` for the form without `qop`. `stale_after` is the number of
/// uses after which a nonce is stale. With `?nextnonce=1` each success sends the next nonce and makes the old one stale.
enum DigestRoutes {
    private static let realm = "lupine@origin"

    static func add(to router: inout Router) {
        let nonces = NonceStore()
        for pattern in [
            "/digest-auth/{qop}/{user}/{password}", "/digest-auth/{qop}/{user}/{password}/{algorithm}",
            "/digest-auth/{qop}/{user}/{password}/{algorithm}/{stale_after}",
        ] {
            router.any(pattern) { request throws(Refusal) in try answer(request, nonces) }
        }
    }

    /// An algorithm, by its name in RFC 7616, or SHA-512, which is not standardized.
    private struct Algorithm {
        let name: String
        private let function: MessageDigest
        var isSession: Bool { name.hasSuffix("-SESS") }

        /// Fails for an unknown algorithm, and for one that this machine's OpenSSL disables.
        init?(_ text: String) {
            name = text.uppercased()
            switch name.hasSuffix("-SESS") ? String(name.dropLast(5)) : name {
            case "MD5": function = .md5
            case "SHA-256": function = .sha256
            case "SHA-512-256": function = .sha512Cut256
            case "SHA-512": function = .sha512
            default: return nil
            }
            if function.digest(of: []) == nil { return nil }
        }

        /// Returns the digest of a text in hexadecimal digits.
        func hash(_ text: String) -> String { hash(Array(text.utf8)) }

        /// Returns the digest of these bytes in hexadecimal digits.
        func hash(_ bytes: [UInt8]) -> String { Hexadecimal.lowercase(function.digest(of: bytes) ?? []) }
    }

    private static func answer(
        _ request: OriginRequest, _ nonces: NonceStore
    ) throws(Refusal) -> OriginResponse {
        let parameters = request.parameters
        let name = parameters.count > 3 ? parameters[3] : "MD5"
        guard let algorithm = Algorithm(name) else {
            throw .badRequest("no algorithm, or one that is disabled: \(name)")
        }
        let offered = parameters[0] == "none" ? [] : parameters[0].split(separator: ",").map(String.init)
        guard offered.allSatisfy({ $0 == "auth" || $0 == "auth-int" }) else {
            throw .badRequest("no quality of protection: \(parameters[0])")
        }
        let limit = parameters.count > 4 ? Int(parameters[4]) : nil
        guard let given = BasicAuthRoutes.credentials("digest", request).map(Self.pairs),
            let nonce = given["nonce"], let response = given["response"],
            given["realm"] == realm, given["username"] == parameters[1],
            given["uri"] == request.head.target.description || given["uri"] == request.pathAndQuery,
            (given["algorithm"] ?? "MD5").uppercased() == algorithm.name
        else { return try challenge(offered, algorithm, isStale: false, nonces) }
        let quality = given["qop"]
        guard offered.isEmpty ? quality == nil : offered.contains(quality ?? "") else {
            return try challenge(offered, algorithm, isStale: false, nonces)
        }
        let (expected, mutual) = digests(request, given, algorithm)
        guard response == expected else { return try challenge(offered, algorithm, isStale: false, nonces) }
        // The digest is correct: `stale` tells the client to retry with a new nonce, not to ask for another password.
        guard nonces.check(nonce, uses: limit) == .good else {
            return try challenge(offered, algorithm, isStale: true, nonces)
        }
        guard nonces.use(nonce, count: given["nc"]) else {
            return try challenge(offered, algorithm, isStale: true, nonces)
        }
        return try welcome(request, given, mutual, nonces)
    }

    private static func welcome(
        _ request: OriginRequest, _ given: [String: String], _ mutual: String, _ nonces: NonceStore
    ) throws(Refusal) -> OriginResponse {
        var info: [String] = []
        if let quality = given["qop"], let client = given["cnonce"], let count = given["nc"] {
            info = ["qop=\(quality)", "rspauth=\"\(mutual)\"", "cnonce=\"\(client)\"", "nc=\(count)"]
        }
        if request.arguments["nextnonce"] != nil, let nonce = given["nonce"] {
            nonces.retire(nonce)
            info.append("nextnonce=\"\(nonces.issue())\"")
        }
        var response = try BasicAuthRoutes.welcome(request.parameters[1])
        if !info.isEmpty { try response.add("Authentication-Info", info.joined(separator: ", ")) }
        return response
    }

    /// Returns the digest that the client must have sent, and the one that authenticates the server (RFC 7616 sections 3.4, 3.5).
    private static func digests(
        _ request: OriginRequest, _ given: [String: String], _ algorithm: Algorithm
    ) -> (request: String, mutual: String) {
        let parameters = request.parameters
        let value = { (name: String) in given[name] ?? "" }
        var secret = algorithm.hash("\(parameters[1]):\(realm):\(parameters[2])")
        if algorithm.isSession { secret = algorithm.hash("\(secret):\(value("nonce")):\(value("cnonce"))") }
        let method = request.head.method.rawValue
        let bodyDigest = given["qop"] == "auth-int" ? ":" + algorithm.hash(request.body) : ""
        let middle =
            given["qop"].map { ":\(value("nc")):\(value("cnonce")):\($0)" } ?? ""
        let what = algorithm.hash("\(method):\(value("uri"))\(bodyDigest)")
        let digest = algorithm.hash("\(secret):\(value("nonce"))\(middle):\(what)")
        // For auth-int the response's body is hashed too; it must match what `welcome` writes.
        let answer =
            given["qop"] == "auth-int"
            ? ":"
                + algorithm.hash(
                    JSONWriter.document(
                        .object([("authenticated", .bool(true)), ("user", .string(parameters[1]))]))) : ""
        let back = algorithm.hash(":\(value("uri"))\(answer)")
        return (digest, algorithm.hash("\(secret):\(value("nonce"))\(middle):\(back)"))
    }

    private static func challenge(
        _ offered: [String], _ algorithm: Algorithm, isStale: Bool, _ nonces: NonceStore
    ) throws(Refusal) -> OriginResponse {
        var parts = [
            "realm=\"\(realm)\"", "nonce=\"\(nonces.issue())\"", "opaque=\"origin\"",
            "algorithm=\(algorithm.name.replacing("-SESS", with: "-sess"))", "stale=\(isStale)",
        ]
        if !offered.isEmpty { parts.insert("qop=\"\(offered.joined(separator: ","))\"", at: 1) }
        var response = OriginResponse(401)
        try response.add(.wwwAuthenticate, "Digest " + parts.joined(separator: ", "))
        return response
    }

    /// Returns the parameters of the credentials, with lowercase names.
    private static func pairs(_ text: String) -> [String: String] {
        let octets = Array(text.utf8)
        let bytes = octets.span
        var found: [String: String] = [:]
        ListSyntax.forEachElement(in: bytes) { range in
            guard let equals = range.first(where: { octets[$0] == UInt8(ascii: "=") }) else { return }
            let name = String(decoding: octets[range.lowerBound..<equals], as: UTF8.self)
            found[name.lowercased()] = ListSyntax.unquoted(bytes, (equals + 1)..<range.upperBound)
        }
        return found
    }
}
