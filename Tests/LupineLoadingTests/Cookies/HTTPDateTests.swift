// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import Testing

@testable import LupineLoading

struct HTTPDateTests {
    static let dates: [(text: String, seconds: TimeInterval?)] = [
        // The three forms of RFC 9110, and the dashed one.
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Sun, 06-Nov-1994 08:49:37 GMT", 784_111_777),
        ("6 nov 1994 8:49:37", 784_111_777), ("1994 NOVEMBER 6 08:49:37", 784_111_777),
        ("Sun, 06 Nov 1994 08:49:37 +0200", 784_111_777), ("08:49:37x 06th Nov 1994y", 784_111_777),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Mon, 29 Feb 2016 23:59:59 GMT", 1_456_790_399),
        ("1 Jan 70 0:0:0", 0), ("1 Jan 69 0:0:0", 3_124_224_000), ("1 Jan 99 0:0:0", 915_148_800),
        ("1 Jan 00 0:0:0", 946_684_800), ("1 Jan 1601 0:0:0", -11_644_473_600),
        // Texts that are no dates.
        ("", nil), ("0", nil), ("-1", nil), ("now", nil), ("1 Jan 1600 0:0:0", nil), ("1 Jan 100 0:0:0", nil),
        ("30 Feb 2016 0:0:0", nil), ("29 Feb 2015 0:0:0", nil), ("0 Jan 2016 0:0:0", nil),
        ("32 Jan 2016 0:0:0", nil), ("1 Jan 2016 24:0:0", nil), ("1 Jan 2016 0:60:0", nil),
        ("1 Jan 2016 0:0:60", nil), ("1 Jan 2016", nil), ("Jan 2016 0:0:0", nil), ("1 2016 0:0:0", nil),
        ("1 Jan 0:0:0", nil), ("1 Jan 20160 0:0:0", nil), ("1 Jan 2016 000:0:0", nil),
        ("1 Jan 2016 0x:0:0", nil), ("Sun, 06 Nov 1994 9223372036854775807:00:00 GMT", nil),
        ("Sun, 06 Nov 1994 08:-9223372036854775808:37 GMT", nil), ("Thu, 01 Jan 1970 -100:00:00 GMT", nil),
        // Texts of the maximal length, and longer.
        ("6 nov 1994 8:49:37" + String(repeating: " x", count: 55), 784_111_777),
        ("6 nov 1994 8:49:37" + String(repeating: " x", count: 56), nil),
    ]

    @Test("[U-13.4] dates of every form are read", arguments: dates)
    func datesAreRead(text: String, seconds: TimeInterval?) {
        #expect(HTTPDate.date(from: text)?.timeIntervalSince1970 == seconds)
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799), ("Fri, 31 Dec 2100 00:00:00 GMT", 4_133_894_400),
        ] as [(String, Int)])
    func datesAreWritten(text: String, seconds: Int) {
        #expect(HTTPDate.text(of: seconds) == text)
        #expect(HTTPDate.seconds(of: text) == seconds)
    }

    @Test func writtenDatesAreReadAgain() {
        var seconds: TimeInterval = -11_644_473_600
        while seconds < 253_402_300_800 {
            let date = Date(timeIntervalSince1970: seconds)
            #expect(HTTPDate.text(of: date).flatMap(HTTPDate.date(from:)) == date)
            seconds += 12_345_678
        }
        #expect(
            HTTPDate.text(of: Date(timeIntervalSince1970: 784_111_777.9)) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.text(of: Date(timeIntervalSince1970: -1)) == "Wed, 31 Dec 1969 23:59:59 GMT")
        #expect(HTTPDate.text(of: Date(timeIntervalSince1970: 1e300)) == nil)
        #expect(HTTPDate.text(of: .distantPast) == nil && HTTPDate.text(of: .distantFuture) != nil)
    }
}
