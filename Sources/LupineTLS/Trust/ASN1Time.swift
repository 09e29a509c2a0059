// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

extension UnixTime {
    /// The moment that an ASN.1 time names; nil for none and for a malformed one.
    init?(asn1 time: UnsafePointer<ASN1_TIME>?) {
        var days: Int32 = 0
        var rest: Int32 = 0
        guard let time = unsafe time, let epoch = unsafe ASN1_TIME_set(nil, 0) else { return nil }
        defer { unsafe ASN1_STRING_free(epoch) }
        guard unsafe ASN1_TIME_diff(&days, &rest, epoch, time) == 1 else { return nil }
        self.init(seconds: Int64(days) * 86_400 + Int64(rest))
    }

    /// This time and so many seconds; the ends of the scale stop it.
    func adding(_ seconds: Int64) -> UnixTime {
        let (sum, overflow) = self.seconds.addingReportingOverflow(seconds)
        if overflow { return UnixTime(seconds: seconds < 0 ? .min : .max) }
        return UnixTime(seconds: sum)
    }
}
