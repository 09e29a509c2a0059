// SPDX-License-Identifier: MIT

/// Finds the subject's name in a certificate's DER (RFC 5280 §4.1) without parsing the rest.
///
/// It does not validate the certificate, which happens when the whole certificate is parsed.
enum CertificateOutline {
    /// Returns the range of the subject's Name, including its tag. Returns nil for any input that does not have the structure of
    /// a certificate; the caller then parses the whole input.
    ///
    /// - Parameters:
    ///   - der: The certificate.
    ///   - trustSettings: Whether other data may follow the certificate, as in a PEM block TRUSTED CERTIFICATE.
    static func subjectRange(in der: [UInt8], trustSettings: Bool = false) -> Range<Int>? {
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
        // `field` is the serial number. The next two fields are the signature algorithm and the issuer.
        guard field.tag == DERReader.integer, fields.next(DERReader.sequence) != nil,
            fields.next(DERReader.sequence) != nil,
            let validity = fields.next(DERReader.sequence), let subject = fields.next(DERReader.sequence)
        else { return nil }
        // The subject's tag follows the end of the validity.
        return validity.content.endIndex..<subject.content.endIndex
    }

    /// The tag of the version: context-specific, constructed, number 0.
    private static let version: UInt8 = 0xA0
}
