// SPDX-License-Identifier: MIT

/// Where the subject's name stands in a certificate's DER (RFC 5280 §4.1), found without reading the rest.
///
/// What it finds is no more than a place: whether the certificate is one shows when it is read as a whole. Nil for whatever is not laid
/// out as a certificate, strictly; whoever gets nil reads the whole instead.
enum CertificateOutline {
    /// The range of the subject's Name with its tag. With `trustSettings`, something may follow the certificate.
    static func subject(in der: [UInt8], trustSettings: Bool = false) -> Range<Int>? {
        var whole = DERReader(der[...])
        guard var certificate = whole.next(DERReader.sequence)?.inside, trustSettings || whole.isAtEnd,
            var fields = certificate.next(DERReader.sequence)?.inside
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

    private static let version: UInt8 = 0xA0
}
