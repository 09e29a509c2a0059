// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Trusts for the tests of the security functions: the fixtures' chains, at a time when all valid certificates are valid.
enum SecurityFixture {
    /// 2026-11-21.
    static let now = Date(timeIntervalSince1970: 1_795_219_200)
    /// 2024-01-01, when the validity of the prepared revocation responses begins.
    static let answersBegin = Date(timeIntervalSince1970: 1_704_067_200)

    /// Returns the certificates of a PEM file.
    static func certificates(_ file: String) throws -> [SecCertificate] {
        try SecCertificate.certificates(pem: PKI.text("\(file).pem"))
    }

    /// Returns the first certificate of a PEM file.
    static func certificate(_ name: String) throws -> SecCertificate {
        try #require(try certificates(name).first)
    }

    /// Returns a trust of the chain that a server with this leaf presents, created as a program does.
    static func trust(
        _ leaf: String, _ policies: Any? = SecPolicyCreateBasicX509(), roots: [String]? = ["root"],
        at date: Date = now
    ) throws -> SecTrust {
        var made: SecTrust?
        let status = SecTrustCreateWithCertificates(
            try certificates("\(leaf)-chain"), policies, &made)
        #expect(status == errSecSuccess)
        let trust = try #require(made)
        if let roots {
            let anchors = try roots.map { try certificate($0) }
            #expect(SecTrustSetAnchorCertificates(trust, anchors) == errSecSuccess)
        }
        #expect(SecTrustSetVerifyDate(trust, date) == errSecSuccess)
        return trust
    }

    /// Evaluates, and returns the code of the error, or success.
    static func code(_ trust: SecTrust) -> OSStatus {
        error(trust).map { OSStatus($0.code) } ?? errSecSuccess
    }

    /// Evaluates, and returns the error, if any.
    static func error(_ trust: SecTrust) -> NSError? {
        var error: CFError?
        let isTrusted = SecTrustEvaluateWithError(trust, &error)
        #expect(isTrusted == (error == nil))
        return error.map { $0 as NSError }
    }

    /// Returns the result of the last evaluation.
    static func result(_ trust: SecTrust) -> SecTrustResultType {
        var result = SecTrustResultType.otherError
        #expect(SecTrustGetTrustResult(trust, &result) == errSecSuccess)
        return result
    }

    /// Returns the common names of the chain, without the fixtures' common prefix.
    static func chain(_ trust: SecTrust) -> [String] {
        let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []
        return chain.map { certificate in
            let name = SecCertificateCopySubjectSummary(certificate) ?? ""
            return name.hasPrefix("Lupine ") ? String(name.dropFirst(7)) : name
        }
    }
}

/// Answers fetches of revocation responses from files, and records the URLs.
final class FileFetcher: RevocationFetcher {
    private let answers: [String: String]
    let requestedURLs = Lock<[String]>([])

    /// - Parameter answers: The file for each last path component of a URL.
    init(_ answers: [String: String]) { self.answers = answers }

    func fetch(
        _ query: RevocationQuery, deadline: ContinuousClock.Instant
    ) throws(RevocationFetchError) -> [UInt8] {
        requestedURLs.withLock { $0.append(query.url) }
        guard let last = query.url.split(separator: "/").last, let file = answers[String(last)],
            let bytes = try? PKI.bytes(file)
        else { throw .status(404) }
        return bytes
    }
}
