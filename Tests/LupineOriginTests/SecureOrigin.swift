// SPDX-License-Identifier: MIT

import LupineOrigin
import LupineTLS
import LupineTestKit

/// The configurations and contexts for tests of the origin over TLS.
enum SecureOrigin {
    /// Returns an identity of the fixtures, with its chain.
    static func identity(_ name: String) throws -> TLSIdentity {
        try TLSIdentity(pemChain: PKI.bytes("\(name)-chain.pem"), pemKey: PKI.bytes("\(name).key"))
    }

    /// Returns the first certificate in a file of the fixtures.
    static func certificate(_ name: String) throws -> Certificate {
        try Certificate(der: Certificate.pem(PKI.bytes("\(name).pem"))[0].der)
    }

    /// Returns a configuration with the identities of these names.
    static func configuration(
        _ names: [String] = ["good"], _ change: (inout TLSServerConfiguration) throws -> Void = { _ in }
    ) throws -> OriginConfiguration {
        var tls = TLSServerConfiguration(
            identities: try names.map { try TLSServerIdentity(identity($0), serverNames: ["\($0).test"]) })
        try change(&tls)
        var configuration = OriginConfiguration()
        configuration.tls = tls
        configuration.recordedBytes = 1 << 20
        return configuration
    }

    /// Returns a configuration whose connections follow the plan.
    static func scripted(
        _ plan: ScriptPlan, _ change: (inout TLSServerConfiguration) throws -> Void = { _ in }
    ) throws -> OriginConfiguration {
        var configuration = try configuration(["good"], change)
        configuration.script = plan
        return configuration
    }

    /// Returns a client's context; the test decides about the server's certificate.
    static func client(
        _ configuration: TLSConfiguration = TLSConfiguration(roots: TrustRoots(includesSystem: false))
    ) throws -> TLSClientContext {
        try TLSClientContext(configuration)
    }

    /// Returns a client's context for one version.
    static func client(_ version: TLSVersion) throws -> TLSClientContext {
        try client(
            TLSConfiguration(
                minimumVersion: version, maximumVersion: version, roots: TrustRoots(includesSystem: false)))
    }
}

/// Calls `body` with an origin over TLS and a client that has completed its handshake.
func withSecureClient<Result>(
    _ configuration: OriginConfiguration? = nil, _ context: TLSClientContext? = nil,
    host: String = "good.test", _ body: (RawClient, Origin) async throws -> Result
) async throws -> Result {
    try await withOrigin(configuration ?? SecureOrigin.configuration()) { origin in
        let client = try RawClient(port: origin.port)
        try client.startTLS(context ?? SecureOrigin.client(), host: host)
        return try await body(client, origin)
    }
}
