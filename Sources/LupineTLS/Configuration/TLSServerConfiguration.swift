// SPDX-License-Identifier: MIT

/// The TLS settings of a server: the servers that the tests start, the demo and `lupine serve`.
package struct TLSServerConfiguration: Sendable {
    /// Whether the server requests client certificates.
    package enum ClientCertificates: Sendable {
        /// The server requests no certificate.
        case none
        /// The server requests a certificate. It accepts clients without one, and refuses a certificate whose chain does not end
        /// at one of these roots.
        case requested(roots: [Certificate])
        /// The server requires a certificate whose chain ends at one of these roots.
        case required(roots: [Certificate])
    }

    /// The server's identities. The first is used for clients that request no server name (SNI), or an unknown one.
    package var identities: [TLSServerIdentity]
    /// Whether the server requests client certificates.
    package var clientCertificates = ClientCertificates.none
    /// The application protocols in order of preference. If empty, the client's offer is ignored; otherwise a client that offers
    /// only other protocols gets `no_application_protocol`.
    package var applicationProtocols = ["http/1.1"]
    /// Whether the server chooses `h2` even if RFC 9113 §9.2 forbids it, below TLS 1.2 or with a weak cipher suite. Tests use it
    /// to check that clients refuse the connection.
    package var ignoresHTTP2Requirements = false
    /// The lowest version.
    package var minimumVersion = TLSVersion.v1_2
    /// The highest version.
    package var maximumVersion = TLSVersion.v1_3
    /// The ciphers up to TLS 1.2, in OpenSSL's syntax; nil for the system's default.
    package var cipherList: String?
    /// The cipher suites of TLS 1.3, separated by colons; nil for the system's default.
    package var cipherSuites: String?
    /// Whether clients get tickets for resumption.
    package var issuesTickets = true
    /// A fatal alert with which the server answers every ClientHello; nil for an ordinary server.
    package var refusalAlert: TLSAlert?

    /// Creates a configuration with these identities.
    package init(identities: [TLSServerIdentity]) { self.identities = identities }
}

/// An identity of a server, with the server names for which it is used.
package struct TLSServerIdentity: Sendable {
    /// The certificate and key.
    package var identity: TLSIdentity
    /// The names, such as `a.example` or `*.b.example`. Upper and lower case count as equal.
    package var serverNames: [String]
    /// The OCSP response that is stapled for clients that request one.
    package var stapledResponse: [UInt8]?

    /// Creates an identity for these names.
    package init(_ identity: TLSIdentity, serverNames: [String] = [], stapledResponse: [UInt8]? = nil) {
        self.identity = identity
        self.serverNames = serverNames
        self.stapledResponse = stapledResponse
    }

    /// Whether the server uses this identity for a client that requests the server name `name`. A wildcard stands for one label.
    func matches(_ name: String) -> Bool {
        let name = name.lowercased()
        return serverNames.contains { serverName in
            let pattern = serverName.lowercased()
            guard pattern.hasPrefix("*.") else { return pattern == name }
            guard let dot = name.firstIndex(of: "."), dot != name.startIndex else { return false }
            return name[dot...] == pattern.dropFirst()
        }
    }
}
