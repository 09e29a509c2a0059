// SPDX-License-Identifier: MIT

package import Foundation

/// The field by which a server says when it is worth coming back (RFC 9110 §10.2.3).
///
/// It only reads; whether to wait is for whoever retries.
package enum RetryAfter {
    /// How many seconds from `now` a value names: seconds, or a date, of which those that are past are 0. Nil for anything
    /// else.
    package static func seconds(of value: String, at now: Date) -> TimeInterval? {
        let text = value.trimmingCharacters(in: .whitespaces)
        guard !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            return TimeInterval(text)
        }
        return HTTPDate.moment(of: text).map { max(0, $0.timeIntervalSince(now)) }
    }
}
