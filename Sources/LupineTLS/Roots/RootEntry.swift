// SPDX-License-Identifier: MIT

internal import Synchronization

/// A trusted certificate of which only the subject is read at first. The whole certificate is parsed once, when a chain needs it.
/// May be used on any thread.
final class RootEntry: Sendable {
    /// The file and the position in it that a certificate was read from.
    struct Location: Sendable, Hashable {
        let path: String
        /// The position of the certificate in the file, starting at 1.
        let number: Int
        /// Whether a certificate that cannot be parsed is skipped, as in a folder. Otherwise it is an error.
        let skipsMalformed: Bool
    }

    private enum Content: Sendable {
        /// A certificate that was already parsed when the entry was created.
        case parsed(Certificate)
        /// The DER of a certificate, with the range of its subject in it. `trustSettings` is true for a PEM block TRUSTED
        /// CERTIFICATE, in which other data follows the certificate.
        case der([UInt8], trustSettings: Bool, subject: Range<Int>, Location)
    }

    /// The certificate or the error that parsing has returned. A class, because `AtomicLazyReference` stores objects.
    private final class ParseResult: Sendable {
        let result: Result<Certificate, TrustRootsError>

        init(_ result: Result<Certificate, TrustRootsError>) { self.result = result }
    }

    private let content: Content
    /// The result of parsing the content's DER, once a chain has needed it.
    private let parseResult = AtomicLazyReference<ParseResult>()
    /// `OpenSSLName.hash` of the subject.
    let hash: UInt32

    /// Creates an entry for a parsed certificate.
    init(_ certificate: Certificate) {
        content = .parsed(certificate)
        hash = OpenSSLName(subjectOf: certificate)?.hash ?? 0
    }

    /// Creates an entry for the DER of a PEM block or a file, reading only the subject. If the subject cannot be found, parses
    /// the whole certificate.
    ///
    /// - Throws: The error of parsing the whole certificate.
    convenience init(der: [UInt8], trustSettings: Bool, _ location: Location) throws(CertificateError) {
        guard der.count <= Certificate.largestSize,
            let subject = CertificateOutline.subjectRange(in: der, trustSettings: trustSettings),
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

    /// Whether the certificate has been parsed on demand. False for one that was already parsed when the entry was created.
    var isParsedOnDemand: Bool { parseResult.load() != nil }

    /// The bytes that a certificate was read from. Duplicate entries have equal keys.
    struct DuplicateKey: Hashable {
        fileprivate let der: [UInt8]
        fileprivate let trustSettings: Bool

        /// Hashes only the last bytes, usually the end of the signature, as `Certificate` does.
        func hash(into hasher: inout Hasher) { hasher.combine(der.suffix(16)) }
    }

    /// The key by which duplicates are found; nil for a certificate that was already parsed when the entry was created.
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

    /// Returns the certificate, which the first call parses. Returns nil if it cannot be parsed and its location skips such
    /// certificates.
    ///
    /// - Throws: The error of parsing, with the certificate's location.
    func certificate() throws(TrustRootsError) -> Certificate? {
        switch content {
        case .parsed(let certificate): return certificate
        case .der(let der, let trustSettings, _, let location):
            // Two threads may both parse the certificate; the first result is stored and returned to both threads.
            let stored =
                parseResult.load()
                ?? parseResult.storeIfNil(ParseResult(Self.parse(der, trustSettings, location)))
            return location.skipsMalformed ? try? stored.result.get() : try stored.result.get()
        }
    }

    /// Parses the certificate, and adds its location to an error.
    private static func parse(
        _ der: [UInt8], _ trustSettings: Bool, _ location: Location
    ) -> Result<Certificate, TrustRootsError> {
        do throws(CertificateError) {
            return .success(try Certificate(der: der, trustSettings: trustSettings))
        } catch {
            let locatedError = CertificateError.at(number: location.number, path: location.path, error)
            return .failure(.unusable(path: location.path, locatedError))
        }
    }
}
