// SPDX-License-Identifier: MIT

internal import LupineTLS

/// Describes the connection's TLS session: `/tls`.
enum TLSRoutes {
    static func add(to router: inout Router) {
        router.get("/tls") { request throws(Refusal) in
            guard let handshake = request.tls, case .success(let info) = handshake.outcome else {
                return try OriginResponse(json: .object([("tls", .bool(false))]))
            }
            return try OriginResponse(
                json: .object([
                    ("tls", .bool(true)), ("version", .string(info.version.description)),
                    ("cipher", .string(info.cipherSuite)), ("sni", .optional(info.serverName)),
                    ("alpn", .optional(info.applicationProtocol)), ("resumed", .bool(info.isResumed)),
                    // The first certificate is the client's own.
                    ("client-certificate", handshake.clientCertificates.first.map(description) ?? .null),
                ]))
        }
    }

    /// Returns the subject, the issuer and the fingerprint of a certificate as a JSON object.
    private static func description(_ certificate: Certificate) -> JSON {
        .object([
            ("subject", .string(certificate.subject.description)),
            ("issuer", .string(certificate.issuer.description)),
            ("sha256", .string(certificate.fingerprint.description)),
        ])
    }
}
