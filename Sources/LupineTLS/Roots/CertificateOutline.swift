// SPDX-License-Identifier: MIT

/// Finds the subject's name in a certificate's DER (RFC 5280 §4.1) without parsing the rest.
///
/// The result is only a range; parsing the whole certificate validates it. Returns nil for any input that is not strictly laid
/// out as a certificate; the caller then parses the whole input.
enum CertificateOutline {
    /// The range of the subject's Name including its tag. With `trustSettings`, other data may follow the certificate.
    static func subject(in der: [UInt8], trustSettings: Bool = false) -> Range<Int>? {
        var whole = DERReader(der[...])
        // The fields of TBSCertificate: the optional version, serial number, signature algorithm, issuer, validity, subject.
        guard var certificate = whole.next(DERReader.sequence)?.contentReader, trustSettings || whole.isAtEnd,
            var fields = certificate.next(DERReader.sequence)?.contentReader
        else { return nil }
        guard var field = fields.next() else { return nil }
        if field.tag == version {
            guard let next = fields.next() else { return nil }
            field = next
        }
        guard field.tag == DERReader.integer, fields.next(DERReader.sequence) != nil,
            fields.next(DERReader.sequence) != nil,
            let validity = fields.next(DERReader.sequence), let subject = fields.next(DERReader.sequence)
        else { return nil }
        return validity.content.endIndex..<subject.content.endIndex
    }

    /// The tag of the version: context-specific, constructed, number 0.
    private static let version: UInt8 = 0xA0
}
