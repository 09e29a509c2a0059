// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTLS

@Suite struct PasswordCostTests {
    /// Returns a DER element with a short length.
    private static func element(_ tag: UInt8, _ content: [UInt8]...) -> [UInt8] {
        let content = content.flatMap { $0 }
        return [tag, UInt8(content.count)] + content
    }

    /// Returns an AlgorithmIdentifier whose parameters are a SEQUENCE of `fields`.
    private static func algorithm(_ object: [UInt8], _ fields: [UInt8]...) -> [UInt8] {
        element(0x30, element(0x06, object), element(0x30, fields.flatMap { $0 }))
    }

    private static let pkcs5: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05]
    private static let salt = element(0x04, [1, 2, 3, 4])
    private static let derivation = algorithm(pkcs5 + [12], salt, element(0x02, [0x08, 0x00]))
    private static let scrypt: [UInt8] = [0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x04, 0x0B]

    @Test(
        arguments: [
            ("PBKDF2", derivation, 2048), ("PBES2", algorithm(pkcs5 + [13], derivation), 2048),
            ("PBMAC1", algorithm(pkcs5 + [14], derivation), 2048),
            ("PBES1", algorithm(pkcs5 + [3], salt, element(0x02, [1])), 1),
            (
                "scrypt: the product",
                algorithm(scrypt, salt, element(0x02, [0x40, 0]), element(0x02, [8]), element(0x02, [2])),
                262_144
            ),
            (
                "over 64 bits",
                algorithm(pkcs5 + [12], salt, element(0x02, [1] + [UInt8](repeating: 0, count: 8))), .max
            ),
            ("PBES2 in PBES2", algorithm(pkcs5 + [13], algorithm(pkcs5 + [13], derivation)), nil),
            ("PBMAC1 in PBES2", algorithm(pkcs5 + [13], algorithm(pkcs5 + [14], derivation)), nil),
            (
                "PBES1 in PBES2", algorithm(pkcs5 + [13], algorithm(pkcs5 + [3], salt, element(0x02, [1]))),
                nil
            ),
            ("negative", algorithm(pkcs5 + [12], salt, element(0x02, [0xFF])), nil),
            ("without a salt", algorithm(pkcs5 + [12], element(0x02, [1])), nil),
            ("another algorithm", algorithm([0x2A, 0x03], salt, element(0x02, [1])), nil),
            ("bytes after it", derivation + [0], nil), ("nothing", [], nil),
            ("an indefinite length", [0x30, 0x80, 0, 0], nil),
            ("a length too long", [0x30, 0x81, 0x02, 0x05, 0x00], nil),
        ] as [(String, [UInt8], UInt64?)])
    func rounds(_ name: String, _ algorithm: [UInt8], _ rounds: UInt64?) {
        #expect(PasswordCost.rounds(of: algorithm) == rounds)
        guard rounds != nil else { return }
        for count in algorithm.indices {
            #expect(PasswordCost.rounds(of: Array(algorithm.prefix(count))) == nil)
        }
    }

    /// Checks that nested algorithms are not followed: recursion into 40,000 levels could overflow the stack.
    @Test func nestedAlgorithmsAreNotFollowed() {
        let object = Self.element(0x06, Self.pkcs5 + [14])
        let levels = 40_000
        // From the innermost level outwards. Each level is a SEQUENCE of the object identifier and a SEQUENCE of the next level.
        var heads: [[UInt8]] = []
        var count = 0
        for _ in 0..<levels {
            let parameters = Self.header(0x30, count)
            count += parameters.count
            let algorithm = Self.header(0x30, object.count + count)
            count += object.count + algorithm.count
            heads.append(algorithm + object + parameters)
        }
        let nested = Array(heads.reversed().joined())
        #expect(nested.count == count)
        #expect(PasswordCost.rounds(of: nested) == nil)
        #expect(PasswordCost.macRounds(of: nested) == .max)
    }

    /// Returns the header of an element of that many octets.
    private static func header(_ tag: UInt8, _ count: Int) -> [UInt8] {
        if count < 0x80 { return [tag, UInt8(count)] }
        var octets: [UInt8] = []
        var remaining = count
        while remaining > 0 {
            octets.insert(UInt8(remaining & 0xFF), at: 0)
            remaining >>= 8
        }
        return [tag, 0x80 | UInt8(octets.count)] + octets
    }

    @Test func theTotalOfRoundsIsLimited() throws {
        #expect(try PasswordCost.add(1, to: 4_999_999, of: .pkcs12) == 5_000_000)
        #expect(throws: CertificateError.tooCostly(.pkcs12, rounds: 5_000_001, limit: 5_000_000)) {
            try PasswordCost.add(1, to: 5_000_000, of: .pkcs12)
        }
        #expect(throws: CertificateError.tooCostly(.pkcs12, rounds: .max, limit: 5_000_000)) {
            try PasswordCost.add(.max, to: 1, of: .pkcs12)
        }
    }
}
