// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

extension UnixTime {
    /// Converts an ASN.1 time; nil for a null pointer and for a malformed time.
    init?(asn1 time: UnsafePointer<ASN1_TIME>?) {
        guard let time = unsafe OpenSSLHandle<X509Object>.time(time) else { return nil }
        self = time
    }

    /// Returns the time this many seconds later, clamped to the range of the type.
    func adding(_ seconds: Int64) -> UnixTime {
        let (sum, overflow) = self.seconds.addingReportingOverflow(seconds)
        if overflow { return UnixTime(seconds: seconds < 0 ? .min : .max) }
        return UnixTime(seconds: sum)
    }
}
