// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

enum PeerIdentity {
    static func matches(host: String, certificate: Certificate) -> Bool {
        unsafe X509_check_host(certificate.handle.pointer, host, host.utf8.count, UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT), nil) == 1
            || (unsafe X509_check_ip_asc(certificate.handle.pointer, host, 0) == 1)
    }
    static func names(of certificate: Certificate) -> [String] { ["names"] }
}
