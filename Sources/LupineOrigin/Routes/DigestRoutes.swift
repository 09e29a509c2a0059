// SPDX-License-Identifier: MIT

internal import LupineHTTP
internal import LupineTLS

/// Digest authentication (RFC 7616): `/digest-auth/{qop}/{user}/{password}/{algorithm}/{stale_after}`.
///
/// `qop` (quality of protection) is `auth`, `auth-int`, both joined by a comma, or `none` for challenges without `qop`.
/// `stale_after` is the number of uses after which a nonce is stale. With `?nextnonce=1`, the response to correct credentials has
/// the next nonce, and the old one becomes stale.
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

    /// A digest algorithm of RFC 7616, or SHA-512, which is not standardized.
    private struct Algorithm {
        /// The name in uppercase, such as `SHA-256-SESS`.
        let name: String
        private let function: MessageDigest
        /// Whether this is a `-sess` variant, in which A1 also contains the nonce and the client nonce (RFC 7616 section 3.4.2).
        var isSession: Bool { name.hasSuffix("-SESS") }

        /// Returns nil for an unknown algorithm, and for an algorithm that the installed OpenSSL disables.
        init?(_ text: String) {
            name = text.uppercased()
            switch name.hasSuffix("-SESS") ? String(name.dropLast(5)) : name {
            case "MD5": function = .md5
            case "SHA-256": function = .sha256
            case "SHA-512-256": function = .sha512Cut256
            case "SHA-512": function = .sha512
            default: return nil
            }
            // OpenSSL computes no digest with an algorithm that is disabled.
            if function.digest(of: []) == nil { return nil }
        }

        /// Returns the digest of a text in hexadecimal digits.
        func hash(_ text: String) -> String { hash(Array(text.utf8)) }

        /// Returns the digest of these bytes in hexadecimal digits.
        func hash(_ bytes: [UInt8]) -> String { Hexadecimal.lowercase(function.digest(of: bytes) ?? []) }
    }

    /// Returns the response to a request: the success response for correct credentials, otherwise a challenge.
    private static func answer(
        _ request: OriginRequest, _ nonces: NonceStore
    ) throws(Refusal) -> OriginResponse {
        let parameters = request.parameters
        let name = parameters.count > 3 ? parameters[3] : "MD5"
        guard let algorithm = Algorithm(name) else {
            throw .badRequest("no algorithm, or one that is disabled: \(name)")
        }
        let qopOptions = parameters[0] == "none" ? [] : parameters[0].split(separator: ",").map(String.init)
        guard qopOptions.allSatisfy({ $0 == "auth" || $0 == "auth-int" }) else {
            throw .badRequest("no quality of protection: \(parameters[0])")
        }
        let useLimit = parameters.count > 4 ? Int(parameters[4]) : nil
        // The `uri` of the credentials is the target of the request as received, or its path and query.
        guard let credentials = BasicAuthRoutes.credentials("digest", request).map(Self.parameters(of:)),
            let nonce = credentials["nonce"], let response = credentials["response"],
            credentials["realm"] == realm, credentials["username"] == parameters[1],
            [request.head.target.description, request.pathAndQuery].contains(credentials["uri"]),
            (credentials["algorithm"] ?? "MD5").uppercased() == algorithm.name
        else { return try challenge(qopOptions, algorithm, isStale: false, nonces) }
        let qop = credentials["qop"]
        let isQopAcceptable = qopOptions.isEmpty ? qop == nil : qopOptions.contains(qop ?? "")
        guard isQopAcceptable else { return try challenge(qopOptions, algorithm, isStale: false, nonces) }
        let (expectedResponse, rspauth) = digests(request, credentials, algorithm)
        guard response == expectedResponse else {
            return try challenge(qopOptions, algorithm, isStale: false, nonces)
        }
        // The digest is correct: `stale` tells the client to retry with a new nonce, not to ask for another password.
        guard nonces.validity(of: nonce, useLimit: useLimit) == .valid else {
            return try challenge(qopOptions, algorithm, isStale: true, nonces)
        }
        // False for a replay, or if the nonce has been dropped since the check.
        guard nonces.recordUse(of: nonce, count: credentials["nc"]) else {
            return try challenge(qopOptions, algorithm, isStale: true, nonces)
        }
        return try authenticatedResponse(request, credentials, rspauth, nonces)
    }

    /// Returns the response to correct credentials, with the `Authentication-Info` of RFC 7616 section 3.5.
    private static func authenticatedResponse(
        _ request: OriginRequest, _ credentials: [String: String], _ rspauth: String, _ nonces: NonceStore
    ) throws(Refusal) -> OriginResponse {
        var info: [String] = []
        if let qop = credentials["qop"], let cnonce = credentials["cnonce"], let count = credentials["nc"] {
            info = ["qop=\(qop)", "rspauth=\"\(rspauth)\"", "cnonce=\"\(cnonce)\"", "nc=\(count)"]
        }
        if request.arguments["nextnonce"] != nil, let nonce = credentials["nonce"] {
            nonces.retire(nonce)
            info.append("nextnonce=\"\(nonces.issue())\"")
        }
        var response = try BasicAuthRoutes.authenticatedResponse(request.parameters[1])
        if !info.isEmpty { try response.add("Authentication-Info", info.joined(separator: ", ")) }
        return response
    }

    /// Returns the digest that the client must send (RFC 7616 section 3.4), and the digest that authenticates the server
    /// (`rspauth`, section 3.5). A1 and A2 are the texts of sections 3.4.2 and 3.4.3.
    private static func digests(
        _ request: OriginRequest, _ credentials: [String: String], _ algorithm: Algorithm
    ) -> (request: String, rspauth: String) {
        let parameters = request.parameters
        let value = { (name: String) in credentials[name] ?? "" }
        var a1Digest = algorithm.hash("\(parameters[1]):\(realm):\(parameters[2])")
        if algorithm.isSession {
            a1Digest = algorithm.hash("\(a1Digest):\(value("nonce")):\(value("cnonce"))")
        }
        let method = request.head.method.rawValue
        let requestBodyDigest = credentials["qop"] == "auth-int" ? ":" + algorithm.hash(request.body) : ""
        // Nonce count, client nonce and quality of protection; absent without `qop`.
        let countCnonceAndQop =
            credentials["qop"].map { ":\(value("nc")):\(value("cnonce")):\($0)" } ?? ""
        let a2Digest = algorithm.hash("\(method):\(value("uri"))\(requestBodyDigest)")
        let digest = algorithm.hash("\(a1Digest):\(value("nonce"))\(countCnonceAndQop):\(a2Digest)")
        // For `auth-int`, `rspauth` covers the body of the response: the same document as in
        // `BasicAuthRoutes.authenticatedResponse`.
        var responseBodyDigest = ""
        if credentials["qop"] == "auth-int" {
            let document = JSONWriter.document(
                .object([("authenticated", .bool(true)), ("user", .string(parameters[1]))]))
            responseBodyDigest = ":" + algorithm.hash(document)
        }
        let responseA2Digest = algorithm.hash(":\(value("uri"))\(responseBodyDigest)")
        let rspauth = algorithm.hash("\(a1Digest):\(value("nonce"))\(countCnonceAndQop):\(responseA2Digest)")
        return (digest, rspauth)
    }

    /// Returns the response that challenges the client with a new nonce. `isStale` is its `stale` parameter.
    private static func challenge(
        _ qopOptions: [String], _ algorithm: Algorithm, isStale: Bool, _ nonces: NonceStore
    ) throws(Refusal) -> OriginResponse {
        var parameters = [
            "realm=\"\(realm)\"", "nonce=\"\(nonces.issue())\"", "opaque=\"origin\"",
            "algorithm=\(algorithm.name.replacing("-SESS", with: "-sess"))", "stale=\(isStale)",
        ]
        if !qopOptions.isEmpty { parameters.insert("qop=\"\(qopOptions.joined(separator: ","))\"", at: 1) }
        var response = OriginResponse(401)
        try response.add(.wwwAuthenticate, "Digest " + parameters.joined(separator: ", "))
        return response
    }

    /// Parses the parameters of the credentials. Returns the values by the name in lowercase.
    private static func parameters(of text: String) -> [String: String] {
        let octets = Array(text.utf8)
        let bytes = octets.span
        var parameters: [String: String] = [:]
        ListSyntax.forEachElement(in: bytes) { range in
            guard let equals = range.first(where: { octets[$0] == UInt8(ascii: "=") }) else { return }
            let name = String(decoding: octets[range.lowerBound..<equals], as: UTF8.self)
            parameters[name.lowercased()] = ListSyntax.unquoted(bytes, (equals + 1)..<range.upperBound)
        }
        return parameters
    }
}
