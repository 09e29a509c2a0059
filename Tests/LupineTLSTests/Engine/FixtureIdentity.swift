// SPDX-License-Identifier: MIT

import LupineTLS
import LupineTestKit

/// Certificates and identities of the tests' PKI.
enum FixtureIdentity {
    /// Returns the certificates of a PEM file.
    static func certificates(_ name: String) throws -> [Certificate] {
        try Certificate.pem(try PKI.bytes(name))
    }

    /// Returns an identity: leaf, chain and key.
    static func load(_ name: String) throws -> TLSIdentity {
        try TLSIdentity(pemChain: try PKI.text("\(name)-chain.pem"), pemKey: try PKI.text("\(name).key"))
    }

    /// Returns the DER encoding of a certificate.
    static func der(_ certificate: Certificate) -> [UInt8] { certificate.der }
}
