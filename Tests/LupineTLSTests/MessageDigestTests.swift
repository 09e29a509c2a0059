// SPDX-License-Identifier: MIT

import LupineTLS
import Testing

struct MessageDigestTests {
    /// The digests of no octets, of `abc`, and of a million times `a`: RFC 1321, FIPS 180-4.
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
        (
            .sha512,
            "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
                + "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb"
                + "de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b"
        ),
    ]

    @Test(arguments: rows)
    func vectors(_ function: MessageDigest, empty: String, abc: String, million: String) {
        #expect(Self.text(function.digest(of: [])) == empty)
        #expect(Self.text(function.digest(of: Array("abc".utf8))) == abc)
        #expect(Self.text(function.digest(of: [UInt8](repeating: 0x61, count: 1_000_000))) == million)
    }

    /// The vectors of RFC 1321 appendix A.5 and RFC 6234 §8.5.
    @Test(
        arguments: [
            (.md5, "a", "0cc175b9c0f1b6a831c399e269772661"),
            (.md5, "message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            (.md5, "abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
            (
                .md5, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
                "d174ab98d277d9f5a5611c2c9f419d9f"
            ),
            (.md5, String(repeating: "1234567890", count: 8), "57edf4a22be3c955ac49da2e2107b67a"),
            (
                .sha256, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ] as [(MessageDigest, String, String)])
    func texts(_ function: MessageDigest, _ text: String, _ digest: String) {
        #expect(Self.text(function.digest(of: Array(text.utf8))) == digest)
    }

    @Test(
        "the digest of two pieces is that of the whole, wherever it is cut",
        arguments: [0, 1, 55, 56, 63, 64, 65, 111, 112, 127, 128, 129, 300])
    func pieces(_ length: Int) throws {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        for function in MessageDigest.allCases {
            let whole = function.digest(of: bytes)
            for cut in 0...length {
                let digest = try #require(RunningDigest(function))
                digest.update(bytes.span.extracting(..<cut))
                digest.update(bytes.span.extracting(cut...))
                #expect(digest.finish() == whole, "cut at \(cut)")
            }
        }
    }

    private static func text(_ digest: [UInt8]?) -> String? {
        digest.map { octets in
            octets.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }
    }
}
