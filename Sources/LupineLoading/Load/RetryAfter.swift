// SPDX-License-Identifier: MIT

package import Foundation
internal import LupineHTTP

/// Parses the `Retry-After` field (RFC 9110 §10.2.3), in which a server says how long a client should wait before it retries.
package enum RetryAfter {
    /// Returns the number of seconds to wait from `now`. The field's value is a number of seconds or a date. Returns 0 for a past
    /// date, and nil for any other value.
    package static func seconds(of value: String, at now: Date) -> TimeInterval? {
        let text = value.trimmingCharacters(in: .whitespaces)
        guard !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            return TimeInterval(text)
        }
        return HTTPDate.date(from: text).map { max(0, $0.timeIntervalSince(now)) }
    }
}
