// SPDX-License-Identifier: MIT

internal import Synchronization

/// A trusted certificate of which only the subject is read at first. It is parsed once, when a chain needs it. May be used on any
/// thread.
final class RootEntry: Sendable {
    /// The source of a certificate.
    struct Location: Sendable, Hashable {
        let path: String
        /// The position of the certificate in the file, starting at 1.
        let number: Int
        /// Whether a certificate that cannot be parsed is skipped, as in a folder, instead of being an error.
        let skipsMalformed: Bool
    }

    private enum Content: Sendable {
        case parsed(Certificate)
        case der([UInt8], trustSettings: Bool, subject: Range<Int>, Location)
    }

    /// The result of parsing. A class, because `AtomicLazyReference` stores objects.
    private final class ParseResult: Sendable {
        let result: Result<Certificate, TrustRootsError>

        init(_ result: Result<Certificate, TrustRootsError>) { self.result = result }
    }

    private let content: Content
    private let parseResult = AtomicLazyReference<ParseResult>()
    /// `OpenSSLName.hash` of the subject.
    let hash: UInt32

    /// Creates an entry for a parsed certificate.
    init(_ certificate: Certificate) {
        content = .parsed(certificate)
        hash = OpenSSLName(subjectOf: certificate)?.hash ?? 0
    }

    /// Creates an entry for the DER of a block or a file, reading only the subject. If that is not possible, parses the
    /// certificate.
    ///
    /// - Throws: The error of a certificate that is parsed now.
    convenience init(der: [UInt8], trustSettings: Bool, _ location: Location) throws(CertificateError) {
        guard der.count <= Certificate.largestSize,
            let subject = CertificateOutline.subject(in: der, trustSettings: trustSettings),
            let name = OpenSSLName(der: der[subject])
        else {
            self.init(try Certificate(der: der, trustSettings: trustSettings))
            return
        }
        self.init(.der(der, trustSettings: trustSettings, subject: subject, location), hash: name.hash)
    }

    private init(_ content: Content, hash: UInt32) {
        self.content = content
        self.hash = hash
    }

    /// Whether the certificate was parsed on demand.
    var isParsed: Bool { parseResult.load() != nil }

    /// The input that a certificate was read from, to find duplicates.
    struct DuplicateKey: Hashable {
        fileprivate let der: [UInt8]
        fileprivate let trustSettings: Bool

        /// Hashes only the end of the signature, as `Certificate` does.
        func hash(into hasher: inout Hasher) { hasher.combine(der.suffix(16)) }
    }

    /// The input of the certificate; nil for a certificate that was given in parsed form.
    var duplicateKey: DuplicateKey? {
        guard case .der(let der, let trustSettings, _, _) = content else { return nil }
        return DuplicateKey(der: der, trustSettings: trustSettings)
    }

    /// Whether the certificate has this subject.
    func hasSubject(_ name: OpenSSLName) -> Bool {
        guard hash == name.hash else { return false }
        return switch content {
        case .parsed(let certificate): OpenSSLName(subjectOf: certificate) == name
        case .der(let der, _, let subject, _): OpenSSLName(der: der[subject]) == name
        }
    }

    /// Returns the certificate; nil if it cannot be parsed and its location is lenient.
    ///
    /// - Throws: The error of the certificate, with its location.
    func certificate() throws(TrustRootsError) -> Certificate? {
        switch content {
        case .parsed(let certificate): return certificate
        case .der(let der, let trustSettings, _, let location):
            // Two threads may both parse it; `parseResult` stores one result.
            let parsed =
                parseResult.load() ?? parseResult.storeIfNil(ParseResult(Self.parse(der, trustSettings, location)))
            return location.skipsMalformed ? try? parsed.result.get() : try parsed.result.get()
        }
    }

    private static func parse(
        _ der: [UInt8], _ trustSettings: Bool, _ location: Location
    ) -> Result<Certificate, TrustRootsError> {
        do throws(CertificateError) {
            return .success(try Certificate(der: der, trustSettings: trustSettings))
        } catch {
            let located = CertificateError.at(number: location.number, path: location.path, error)
            return .failure(.unusable(path: location.path, located))
        }
    }
}
