// SPDX-License-Identifier: MIT

import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// Every certificate of the test PKI, presented by nginx and by OpenSSL.
@Suite struct LeafTests {
    @Test(.timeLimit(.minutes(10)), arguments: [TLSVersion.v1_2, .v1_3])
    func nginxIsJudged(_ version: TLSVersion) async throws {
        let cases = LeafCase.all
        // 127.0.0.1 is for the leaf whose host is that address.
        let addresses = cases.indices.map { cases[$0].host == "127.0.0.1" ? 1 : $0 + 2 }
        let hosts = zip(cases, addresses).map { leaf, address in
            NginxTLSServer.Host(address: address, leaf: leaf.name, staple: leaf.staple)
        }
        try await ServerProcess.with(NginxTLSServer(hosts: hosts, protocols: version.description)) { nginx in
            var complaints: [String] = []
            for (leaf, address) in zip(cases, addresses) {
                let place = try #require(SocketAddress(literal: "127.0.0.\(address)", port: nginx.place.port))
                complaints += try await LeafJudge(leaf, version).complaints(at: place)
            }
            try #require(complaints.isEmpty, "\(complaints.joined(separator: "\n"))")
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: [TLSVersion.v1_2, .v1_3])
    func openSSLIsJudged(_ version: TLSVersion) async throws {
        var waiting = LeafCase.all[...]
        let complaints = try await withThrowingTaskGroup(of: [String].self) { group in
            var complaints: [String] = []
            for _ in 0..<4 {
                if let leaf = waiting.popFirst() { group.addTask { try await Self.judge(leaf, version) } }
            }
            while let found = try await group.next() {
                complaints += found
                if let leaf = waiting.popFirst() { group.addTask { try await Self.judge(leaf, version) } }
            }
            return complaints
        }
        try #require(complaints.isEmpty, "\(complaints.joined(separator: "\n"))")
    }

    private static func judge(_ leaf: LeafCase, _ version: TLSVersion) async throws -> [String] {
        let server = OpenSSLServer(
            leaf: leaf.name, staple: leaf.staple, options: [version == .v1_2 ? "-tls1_2" : "-tls1_3"])
        return try await ServerProcess.with(server) { openssl in
            try await LeafJudge(leaf, version).complaints(at: .ipv4(.loopback, port: openssl.place.port))
        }
    }
}
