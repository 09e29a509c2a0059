// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

extension UnixTime {
    /// The moment that an ASN.1 time of an answer names; nil for none and for what is no time.
    init?(asn1 time: UnsafePointer<ASN1_TIME>?) {
        guard let time = unsafe OpenSSLHandle<X509Object>.time(time) else { return nil }
        self = time
    }

    /// This time and so many seconds; the ends of the scale stop it.
    func adding(_ seconds: Int64) -> UnixTime {
        let (sum, overflow) = self.seconds.addingReportingOverflow(seconds)
        if overflow { return UnixTime(seconds: seconds < 0 ? .min : .max) }
        return UnixTime(seconds: sum)
    }
}
