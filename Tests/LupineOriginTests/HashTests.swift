// SPDX-License-Identifier: MIT

import Testing

@testable import LupineOrigin

@Suite struct HashTests {
    /// RFC 1321 appendix A.5.
    @Test(arguments: [
        ("", "d41d8cd98f00b204e9800998ecf8427e"), ("a", "0cc175b9c0f1b6a831c399e269772661"),
        ("abc", "900150983cd24fb0d6963f7d28e17f72"), ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
        (
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
            "d174ab98d277d9f5a5611c2c9f419d9f"
        ),
        (String(repeating: "1234567890", count: 8), "57edf4a22be3c955ac49da2e2107b67a"),
    ])
    func md5(_ text: String, _ digest: String) { #expect(MD5.hexadecimal(of: text) == digest) }

    /// RFC 6234 section 8.5.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func sha256(_ text: String, _ digest: String) { #expect(SHA256.hexadecimal(of: text) == digest) }

    @Test func aMillionLetters() {
        var hash = SHA256()
        let piece = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000)
        for _ in 0..<1_000 { hash.update(piece.span) }
        #expect(
            Hexadecimal.text(hash.finish())
                == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    /// FIPS 180-4's examples.
    @Test func sha512() {
        #expect(
            SHA512.hexadecimal(of: "abc")
                == "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f")
        #expect(
            SHA512Cut.hexadecimal(of: "abc")
                == "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23")
    }

    @Test(arguments: [0, 1, 55, 56, 63, 64, 65, 111, 112, 127, 128, 129, 300])
    func everyCutGivesTheSameDigest(_ length: Int) {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        func check<Hash: HashFunction>(_: Hash.Type) {
            let whole = Hash.hexadecimal(of: bytes)
            for cut in 0...length {
                var hash = Hash()
                hash.update(bytes.span.extracting(..<cut))
                hash.update(bytes.span.extracting(cut...))
                #expect(Hexadecimal.text(hash.finish()) == whole, "cut at \(cut)")
            }
        }
        check(MD5.self)
        check(SHA256.self)
        check(SHA512.self)
    }
}
