// SPDX-License-Identifier: MIT

package import LupineTLS

/// The tests' certificates and the signed parts of their prepared revocation responses. A fuzzer, which lacks the issuer's key,
/// can produce no other valid responses.
package struct SignedAnswers: Sendable {
    /// The certificate that the responses are about, issued by the anchor.
    package let leaf: Certificate
    private let anchor: TrustStore
    private let signed: [[UInt8]]

    /// The evaluation times: within the validity of most responses, within that of the short-lived ones, before that of all
    /// responses, and after it.
    package static let times: [UnixTime] = [1_795_219_200, 1_704_153_600, 1_600_000_000, 4_200_000_000]
        .map { UnixTime(seconds: $0) }

    /// Reads the responses from files; `path` has the tags from the outermost element to the signed one.
    package init(about leaf: String, files: [String], path: [UInt8]) throws(CertificateError) {
        self.leaf = try SignedAnswers.certificate(leaf)
        anchor = TrustStore(anchors: [try SignedAnswers.certificate("intermediate.pem")])
        signed = files.map { Array(SignedAnswers.element(path[...], in: SignedAnswers.bytes($0)[...])) }
        precondition(signed.allSatisfy { $0.count > 40 }, "a fixture is not what it was")
    }

    /// Returns the certificates and the stapled response that the leaf's server presents.
    package func trust(stapled: [UInt8]?) -> PeerTrust {
        PeerTrust(certificates: [leaf], stapledResponse: stapled, host: "localhost", store: anchor)
    }

    /// Returns whether the input contains the signed part of one of the responses, unchanged.
    package func signedPartOccurs(in input: [UInt8]) -> Bool {
        signed.contains { signed in
            input.indices.contains { start in input[start...].starts(with: signed) }
        }
    }

    /// Returns whether the verdict is based on a response: good and revoked are, if a positive response is required.
    package static func isDefinite(_ verdict: Result<TrustVerdict, TrustFailure>) -> Bool {
        switch verdict {
        case .success, .failure(.revoked): true
        case .failure: false
        }
    }

    static let fixtures =
        #filePath.split(separator: "/", omittingEmptySubsequences: false)
        .dropLast(4).joined(separator: "/") + "/Tests/Fixtures/PKI/"

    private static func certificate(_ name: String) throws(CertificateError) -> Certificate {
        let found = try Certificate.bundle(file: fixtures + name)
        guard let first = found.first else { throw .missing(.certificate) }
        return first
    }

    /// Returns the element at the end of a path of tags, with its header.
    private static func element(_ path: ArraySlice<UInt8>, in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let tag = path.first else { return bytes }
        var remaining = bytes
        while let (header, length) = header(of: remaining) {
            if remaining.first == tag {
                if path.count == 1 { return remaining.prefix(header + length) }
                return element(path.dropFirst(), in: remaining.dropFirst(header).prefix(length))
            }
            remaining = remaining.dropFirst(header + length)
        }
        return []
    }

    /// Returns the lengths of the header and of the contents of a DER element.
    private static func header(of bytes: ArraySlice<UInt8>) -> (Int, Int)? {
        guard bytes.count >= 2 else { return nil }
        let first = bytes[bytes.startIndex + 1]
        guard first >= 0x80 else { return (2, Int(first)) }
        let octets = bytes.dropFirst(2).prefix(Int(first & 0x7F))
        return (2 + octets.count, octets.reduce(0) { $0 << 8 | Int($1) })
    }
}
