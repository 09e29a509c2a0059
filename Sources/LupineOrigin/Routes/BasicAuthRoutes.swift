// SPDX-License-Identifier: MIT

internal import LupineHTTP
internal import LupineTLS

/// Basic and bearer authentication (RFC 7617, RFC 6750): `/basic-auth`, `/hidden-basic-auth`, `/bearer`.
enum BasicAuthRoutes {
    static func add(to router: inout Router) {
        for pattern in ["/basic-auth/{user}/{password}", "/basic-auth/{user}"] {
            router.any(pattern) { request throws(Refusal) in
                guard isAuthorized(request) else {
                    return try challenge("Basic realm=\"Fake Realm\"")
                }
                return try authenticatedResponse(request.parameters[0])
            }
        }
        router.any("/hidden-basic-auth/{user}/{password}") { request throws(Refusal) in
            guard isAuthorized(request) else { throw Refusal(404, "nothing is here") }
            return try authenticatedResponse(request.parameters[0])
        }
        router.any("/bearer") { request throws(Refusal) in
            guard let token = credentials("bearer", request), !token.isEmpty else {
                return try challenge("Bearer")
            }
            return try OriginResponse(
                json: .object([("authenticated", .bool(true)), ("token", .string(token))]))
        }
    }

    /// Returns the credentials of `Authorization`: its value after the scheme. Returns nil without the field, or if it has
    /// another scheme. `scheme` is in lowercase.
    static func credentials(_ scheme: String, _ request: OriginRequest) -> String? {
        guard let value = request.head.fields[.authorization],
            let space = value.firstIndex(of: " "), value[..<space].lowercased() == scheme
        else { return nil }
        return String(value[space...].drop { $0 == " " })
    }

    /// Returns the response to a request with correct credentials.
    static func authenticatedResponse(_ user: String) throws(Refusal) -> OriginResponse {
        try OriginResponse(json: .object([("authenticated", .bool(true)), ("user", .string(user))]))
    }

    /// Returns whether the request has the user name and the password of its path.
    private static func isAuthorized(_ request: OriginRequest) -> Bool {
        let password = request.parameters.count > 1 ? request.parameters[1] : ""
        let expected = Array("\(request.parameters[0]):\(password)".utf8)
        return credentials("basic", request).flatMap { Base64.decode($0.utf8) } == expected
    }

    /// Returns the response that challenges the client with this value of `WWW-Authenticate`.
    private static func challenge(_ value: String) throws(Refusal) -> OriginResponse {
        var response = OriginResponse(401)
        try response.add(.wwwAuthenticate, value)
        return response
    }
}
