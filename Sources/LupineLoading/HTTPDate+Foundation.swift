// SPDX-License-Identifier: MIT

package import Foundation
package import LupineHTTP

extension HTTPDate {
    /// Parses a date in one of the three formats of RFC 9110 §5.6.7; returns nil for any other text.
    static func date(from text: String) -> Date? {
        seconds(of: text).map { Date(timeIntervalSince1970: TimeInterval($0)) }
    }

    /// Returns the date as an IMF-fixdate, as in `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7); nil before the year 1 and
    /// after 9999.
    package static func text(of date: Date) -> String? {
        Int(exactly: date.timeIntervalSince1970.rounded(.down)).flatMap { text(of: $0) }
    }
}
