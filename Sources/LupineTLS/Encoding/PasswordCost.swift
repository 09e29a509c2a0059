// SPDX-License-Identifier: MIT

/// Counts the rounds of key derivation that an encrypted key or PKCS#12 file requires, and limits them: a file of a hundred bytes
/// can require 2^31, which takes an hour.
///
/// Unknown algorithms are refused. Supported are PBES2 with PBKDF2 and scrypt (RFC 8018, RFC 7914), PBMAC1, and the schemes of
/// PBES1 and PKCS#12 (RFC 7292 appendix B). The parameters of those schemes end with the number of rounds.
package enum PasswordCost {
    /// The most rounds for one file; OpenSSL writes 2048, and the advice of 2023 for PBKDF2 is 600,000.
    static let roundLimit: UInt64 = 5_000_000

    /// Adds the rounds of an algorithm to those that the input has required so far, and returns the sum.
    ///
    /// - Parameters:
    ///   - algorithm: A DER-encoded AlgorithmIdentifier.
    ///   - previousRounds: The rounds that the input has required so far.
    ///   - input: The kind of the input, for the error.
    /// - Throws: `tooCostly` if the sum is over the limit, `unsupported` for an unknown algorithm.
    @discardableResult
    static func addRounds(
        of algorithm: [UInt8], to previousRounds: UInt64 = 0, input: CertificateInput
    ) throws(CertificateError) -> UInt64 {
        guard let rounds = rounds(of: algorithm) else {
            throw .unsupported(input, reason: "an encryption with unknown parameters")
        }
        return try add(rounds, to: previousRounds, of: input)
    }

    /// Returns the sum of the rounds; throws `tooCostly` if it is over the limit.
    static func add(
        _ rounds: UInt64, to previousRounds: UInt64, of input: CertificateInput
    ) throws(CertificateError) -> UInt64 {
        let (sum, overflow) = previousRounds.addingReportingOverflow(rounds)
        guard !overflow, sum <= roundLimit else {
            throw .tooCostly(input, rounds: overflow ? .max : sum, limit: roundLimit)
        }
        return sum
    }

    /// Returns the rounds of a DER-encoded AlgorithmIdentifier; nil for an unknown one.
    package static func rounds(of algorithm: [UInt8]) -> UInt64? {
        var reader = DERReader(algorithm[...])
        guard let identifier = reader.next(DERReader.sequence), reader.isAtEnd else { return nil }
        return rounds(identifier)
    }

    /// Returns the rounds in the parameters of a MAC's algorithm: 0 except for PBMAC1, because a PKCS#12 file stores the count of
    /// other MACs in another field.
    static func macRounds(of algorithm: [UInt8]) -> UInt64 {
        var reader = DERReader(algorithm[...])
        var fields = reader.next(DERReader.sequence)?.contentReader
        guard let object = fields?.next(DERReader.objectIdentifier), Array(object.content) == pbmac1 else {
            return 0
        }
        // Unknown parameters count as too costly.
        return rounds(of: algorithm) ?? .max
    }

    /// Returns the rounds of an AlgorithmIdentifier; nil for an unknown one.
    private static func rounds(_ identifier: DERReader.Element) -> UInt64? {
        guard case (let object, var fields)? = objectAndParameters(of: identifier) else { return nil }
        switch object {
        case pbes2, pbmac1:
            guard let derivation = fields.next(DERReader.sequence) else { return nil }
            return derivationRounds(derivation)
        case pbkdf2, scrypt: return derivationRounds(identifier)
        // The schemes of PBES1 and PKCS #12.
        case let other where other.starts(with: pkcs5) || other.starts(with: pkcs12):
            // The parameters are the salt and the number of rounds.
            guard fields.next(DERReader.octetString) != nil, let count = fields.next()?.unsignedValue,
                fields.isAtEnd
            else { return nil }
            return count
        default:
            return nil
        }
    }

    /// Returns the rounds of a key derivation function, which contains no nested algorithm.
    private static func derivationRounds(_ identifier: DERReader.Element) -> UInt64? {
        guard case (let object, var fields)? = objectAndParameters(of: identifier) else { return nil }
        // The first parameter of both functions is the salt.
        switch object {
        case scrypt:
            guard fields.next(DERReader.octetString) != nil, let cost = fields.next()?.unsignedValue,
                let blockSize = fields.next()?.unsignedValue,
                let parallelization = fields.next()?.unsignedValue
            else { return nil }
            return product(product(cost, blockSize), parallelization)
        case pbkdf2:
            guard fields.next(DERReader.octetString) != nil else { return nil }
            return fields.next()?.unsignedValue
        default:
            return nil
        }
    }

    /// Returns the object identifier of an AlgorithmIdentifier, and a reader for its parameters; nil if it is malformed.
    private static func objectAndParameters(
        of identifier: DERReader.Element
    ) -> (object: [UInt8], fields: DERReader)? {
        var reader = identifier.contentReader
        guard let object = reader.next(DERReader.objectIdentifier),
            let parameters = reader.next(DERReader.sequence)
        else { return nil }
        return (Array(object.content), parameters.contentReader)
    }

    /// Returns the product; `UInt64.max` if it does not fit.
    private static func product(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let (product, overflow) = left.multipliedReportingOverflow(by: right)
        return overflow ? .max : product
    }

    // Object identifiers, as the content of their DER.
    /// 1.2.840.113549.1.5, the prefix of the algorithms of PKCS #5.
    private static let pkcs5: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05]
    private static let pbkdf2 = pkcs5 + [12]
    private static let pbes2 = pkcs5 + [13]
    private static let pbmac1 = pkcs5 + [14]
    /// 1.2.840.113549.1.12.1, the prefix of the encryption schemes of PKCS #12.
    private static let pkcs12: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x01]
    /// 1.3.6.1.4.1.11591.4.11
    private static let scrypt: [UInt8] = [0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x04, 0x0B]
}
