// SPDX-License-Identifier: MIT

/// How a server secures its connections: for the origin of tests, demo and `lupine serve`.
package struct TLSServerConfiguration: Sendable {
    /// Whether clients are asked who they are.
    package enum ClientCertificates: Sendable {
        /// They are not.
        case none
        /// They are; who has no certificate gets in, and one that does not lead to these roots is refused.
        case requested(roots: [Certificate])
        /// They are, and must have a certificate that leads to these roots.
        case required(roots: [Certificate])
    }

    /// Who the server is; the first is shown to clients that ask for no name, or for one that nobody has.
    package var identities: [TLSServerIdentity]
    /// Whether clients are asked who they are.
    package var clientCertificates = ClientCertificates.none
    /// The application protocols, the preferred first. With none, the client's offer is passed over; with some, a client that
    /// offers only others gets `no_application_protocol`.
    package var applicationProtocols = ["http/1.1"]
    /// Whether `h2` is chosen also where RFC 9113 §9.2 forbids HTTP/2, below TLS 1.2 or with a weak cipher suite: for clients to refuse it.
    package var choosesHTTP2Anyhow = false
    /// The lowest version.
    package var minimumVersion = TLSVersion.v1_2
    /// The highest version.
    package var maximumVersion = TLSVersion.v1_3
    /// The ciphers up to TLS 1.2, in OpenSSL's syntax; nil for the system's.
    package var cipherList: String?
    /// The cipher suites of TLS 1.3, separated by colons; nil for the system's.
    package var cipherSuites: String?
    /// Whether clients get tickets to resume with.
    package var issuesTickets = true
    /// The fatal alert that every client gets in answer to its first message.
    package var refusesWith: TLSAlert?

    /// A server of these identities.
    package init(identities: [TLSServerIdentity]) { self.identities = identities }
}

/// One identity of a server, and which names it is for.
package struct TLSServerIdentity: Sendable {
    /// Certificate and key.
    package var identity: TLSIdentity
    /// The names, such as `a.example` or `*.b.example`; letters of either case.
    package var serverNames: [String]
    /// The OCSP response that goes with the certificate to clients that ask for it.
    package var stapledResponse: [UInt8]?

    /// An identity for these names.
    package init(_ identity: TLSIdentity, serverNames: [String] = [], stapledResponse: [UInt8]? = nil) {
        self.identity = identity
        self.serverNames = serverNames
        self.stapledResponse = stapledResponse
    }

    /// Whether a client that asks for `name` gets this one. A wildcard stands for one label.
    func answers(for name: String) -> Bool {
        let asked = name.lowercased()
        return serverNames.contains { candidate in
            let own = candidate.lowercased()
            guard own.hasPrefix("*.") else { return own == asked }
            guard let dot = asked.firstIndex(of: "."), dot != asked.startIndex else { return false }
            return asked[dot...] == own.dropFirst()
        }
    }
}
