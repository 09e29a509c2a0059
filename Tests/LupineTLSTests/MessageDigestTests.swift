// SPDX-License-Identifier: MIT

import LupineTLS
import Testing

struct MessageDigestTests {
    /// The digests of nothing, of `abc`, and of a million times `a`: RFC 1321, FIPS 180-4.
    static let rows: [(MessageDigest, empty: String, abc: String, million: String)] = [
        (
            .md5, "d41d8cd98f00b204e9800998ecf8427e", "900150983cd24fb0d6963f7d28e17f72",
            "7707d6ae4e027c70eea2a935c2296f21"
        ),
        (
            .sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        ),
        (
            .sha512Cut256, "c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a",
            "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23",
            "9a59a052930187a97038cae692f30708aa6491923ef5194394dc68d56c74fb21"
        ),
    ]

    @Test(arguments: rows)
    func vectors(_ function: MessageDigest, empty: String, abc: String, million: String) {
        #expect(Self.text(function.digest(of: [])) == empty)
        #expect(Self.text(function.digest(of: Array("abc".utf8))) == abc)
        #expect(Self.text(function.digest(of: [UInt8](repeating: 0x61, count: 1_000_000))) == million)
    }

    private static func text(_ digest: [UInt8]?) -> String? {
        digest.map { octets in
            octets.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }
    }
}
