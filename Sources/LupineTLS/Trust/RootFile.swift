// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// A PEM file of trusted certificates, as `SSL_CERT_FILE` and the distributions' bundles are.
///
/// OpenSSL's TRUSTED CERTIFICATE blocks keep their settings, other kinds of block are passed over.
struct RootFile {
    /// Where it is.
    let path: String

    /// Every certificate of the file; throws for a file without one and for a broken one.
    func read() throws(TrustRootsError) -> [Certificate] {
        OpenSSLErrors.clear()
        guard let file = unsafe BIO_new_file(path, "r") else {
            throw .unreadable(path: path, reason: RootFile.reason(OpenSSLErrors.take()))
        }
        defer { unsafe _ = BIO_free(file) }
        var found: [Certificate] = []
        while let pointer = unsafe PEM_read_bio_X509_AUX(file, nil, nil, nil) {
            unsafe found.append(Certificate(OpenSSLHandle(owning: pointer)))
        }
        let failures = OpenSSLErrors.take()
        let isEnd = failures.last.map { $0.library == ERR_LIB_PEM && $0.reason == PEM_R_NO_START_LINE } ?? true
        guard isEnd else {
            throw .malformed(path: path, certificate: found.count + 1, reason: RootFile.reason(failures))
        }
        guard !found.isEmpty else { throw .empty(path: path) }
        return found
    }

    private static func reason(_ failures: [OpenSSLFailure]) -> String {
        failures.first?.description ?? "unknown reason"
    }
}
