// SPDX-License-Identifier: MIT

internal import Synchronization

/// One trusted certificate, known by its subject's name alone until somebody asks for it: then it is parsed, once. Any thread.
final class RootEntry: Sendable {
    /// Where a certificate comes from.
    struct Origin: Sendable, Hashable {
        let path: String
        /// Counted from 1.
        let number: Int
        /// Whether a certificate that cannot be parsed is passed over, as in a folder, and is no error.
        let isLenient: Bool
    }

    private enum Content: Sendable {
        case parsed(Certificate)
        case der([UInt8], trustSettings: Bool, subject: Range<Int>, Origin)
    }

    private final class Outcome: Sendable {
        let result: Result<Certificate, TrustRootsError>

        init(_ result: Result<Certificate, TrustRootsError>) { self.result = result }
    }

    private let content: Content
    private let outcome = AtomicLazyReference<Outcome>()
    /// `OpenSSLName.hash` of the subject.
    let hash: UInt32

    /// A certificate that is there.
    init(_ certificate: Certificate) {
        content = .parsed(certificate)
        hash = OpenSSLName(subjectOf: certificate)?.hash ?? 0
    }

    /// What a block or a file holds, known by its outline. What has none is parsed at once.
    ///
    /// - Throws: What is wrong with it, as far as it shows now.
    convenience init(der: [UInt8], trustSettings: Bool, _ origin: Origin) throws(CertificateError) {
        guard der.count <= Certificate.largestSize,
            let subject = CertificateOutline.subject(in: der, trustSettings: trustSettings),
            let name = OpenSSLName(der: der[subject])
        else {
            self.init(try Certificate(der: der, trustSettings: trustSettings))
            return
        }
        self.init(.der(der, trustSettings: trustSettings, subject: subject, origin), hash: name.hash)
    }

    private init(_ content: Content, hash: UInt32) {
        self.content = content
        self.hash = hash
    }

    /// Whether it was parsed because somebody asked.
    var isParsed: Bool { outcome.load() != nil }

    /// What a certificate was read from, to find those that are there twice.
    struct Octets: Hashable {
        fileprivate let der: [UInt8]
        fileprivate let trustSettings: Bool

        /// Takes in the end of the signature alone, as `Certificate` does.
        func hash(into hasher: inout Hasher) { hasher.combine(der.suffix(16)) }
    }

    /// Nil for a certificate that was there already.
    var octets: Octets? {
        guard case .der(let der, let trustSettings, _, _) = content else { return nil }
        return Octets(der: der, trustSettings: trustSettings)
    }

    /// Whether that is its subject.
    func isNamed(_ name: OpenSSLName) -> Bool {
        guard hash == name.hash else { return false }
        return switch content {
        case .parsed(let certificate): OpenSSLName(subjectOf: certificate) == name
        case .der(let der, _, let subject, _): OpenSSLName(der: der[subject]) == name
        }
    }

    /// The certificate; nil for one that is passed over.
    ///
    /// - Throws: Where it is, and what is wrong with it.
    func certificate() throws(TrustRootsError) -> Certificate? {
        switch content {
        case .parsed(let certificate): return certificate
        case .der(let der, let trustSettings, _, let origin):
            // Two who come at once parse the same, and one of them is kept.
            let known =
                outcome.load() ?? outcome.storeIfNil(Outcome(Self.parse(der, trustSettings, origin)))
            return origin.isLenient ? try? known.result.get() : try known.result.get()
        }
    }

    private static func parse(
        _ der: [UInt8], _ trustSettings: Bool, _ origin: Origin
    ) -> Result<Certificate, TrustRootsError> {
        do throws(CertificateError) {
            return .success(try Certificate(der: der, trustSettings: trustSettings))
        } catch {
            let place = CertificateError.at(number: origin.number, path: origin.path, error)
            return .failure(.unusable(path: origin.path, place))
        }
    }
}
