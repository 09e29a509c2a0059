// SPDX-License-Identifier: MIT

import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// Requests a page from one server under each evaluator, and reports verdicts that are not the expected ones.
struct LeafJudge {
    /// An evaluator, and its expected verdict.
    struct Row {
        let name: String
        let evaluator: TrustEvaluator
        let verdict: LeafCase.Verdict
    }

    let leaf: LeafCase
    let rows: [Row]

    /// Makes the rows of `leaf`: by chain and host, by chain alone, disabled, with pins that match and pins that do not.
    init(_ leaf: LeafCase, _ version: TLSVersion) throws {
        self.leaf = leaf
        func unless(_ verdict: LeafCase.Verdict) -> LeafCase.Verdict {
            leaf.hasHandshake(version) ? verdict : .noHandshake
        }
        let own = try Certificate.pem(PKI.text("\(leaf.name).pem"))
        let other = try Certificate.pem(PKI.text("second.pem"))
        let keys = own.compactMap { $0.publicKey }
        rows = [
            Row(name: "by chain and host", evaluator: .default, verdict: unless(leaf.standard)),
            Row(name: "by chain", evaluator: .system(checksHost: false), verdict: unless(leaf.anyHost)),
            Row(name: "disabled", evaluator: .disabled, verdict: unless(.accepted)),
            Row(
                name: "pinned, validated", evaluator: .pinnedCertificates(own), verdict: unless(leaf.standard)
            ),
            Row(
                name: "pinned, not validated",
                evaluator: .pinnedCertificates(own, validatesChain: false, checksHost: false),
                verdict: unless(.accepted)),
            Row(
                name: "another one pinned",
                evaluator: .pinnedCertificates(other, validatesChain: false, checksHost: false),
                verdict: unless(.refused(.certificateNotPinned))),
            Row(
                name: "key pinned, not validated",
                evaluator: .pinnedKeys(keys.map(\.pin), validatesChain: false, checksHost: false),
                verdict: unless(.accepted)),
        ]
    }

    /// Sends a request to the server at `address` under every row; returns the unexpected results.
    func complaints(at address: SocketAddress, _ change: (inout TLSConfiguration) -> Void = { _ in })
        async throws
        -> [String]
    {
        var complaints: [String] = []
        let root = try Certificate.pem(PKI.text("root.pem"))
        let port = address.port ?? 0
        for row in rows {
            var configuration = HTTPClient.Configuration()
            configuration.tls.roots = TrustRoots(includesSystem: false, certificates: root)
            change(&configuration.tls)
            configuration.trust = row.evaluator
            configuration.timeout = .seconds(50)
            configuration.overrides[.init(host: leaf.host, port: port)] = [address]
            let client = HTTPClient(configuration: configuration)
            let found = await Self.verdict(of: client, "https://\(leaf.host):\(port)/")
            await client.shutdown()
            if found != .success(row.verdict) {
                complaints.append("\(leaf.testDescription), \(row.name): \(found), not \(row.verdict)")
            }
        }
        return complaints
    }

    private static func verdict(
        of client: HTTPClient, _ url: String
    ) async -> Result<LeafCase.Verdict, TransportError> {
        do throws(TransportError) {
            _ = try await client.get(url).body.collect()
            return .success(.accepted)
        } catch {
            switch error {
            case .tls(_, _, .untrusted(let failure)): return .success(.refused(failure.caseName))
            case .tls(_, _, .alert), .tls(_, _, .cipherNotShared), .tls(_, _, .versionNotShared):
                return .success(.noHandshake)
            default: return .failure(error)
            }
        }
    }
}
