// SPDX-License-Identifier: MIT

import LupineHTTP2
import Testing

/// Tests of the urgency in a `priority` field (RFC 9218 §4 and §5).
@Suite struct UrgencyTests {
    @Test(
        "[H-9.5] the urgency in a field",
        arguments: [
            ("", 3), ("u=0", 0), ("u=7", 7), ("u=5, i", 5), ("i, u=2", 2), (" \tu=1 ", 1), ("u=1;x=2;y", 1),
            ("u=1,u=6", 6), ("a=\"u=1, b\", u=4", 4), ("a=\"\\\", u=1\", u=4", 4), ("i", 3), ("u=8", 3),
            ("u=-1", 3), ("u=1.0", 3), ("u=10", 3), ("u", 3), ("u=", 3), ("u=2, u=9", 3), ("U=1", 3),
            ("ux=1", 3), ("u =1", 3), (",", 3), ("u=1,", 1), ("a=\"u=1", 3), ("a=\"\\", 3),
        ])
    func parsed(_ text: String, _ urgency: Int) {
        #expect(Urgency(fieldValue: text.utf8.span) == Urgency(UInt8(urgency)))
    }

    @Test("[H-9.5] a written urgency is read back", arguments: 0...7) func roundTrip(_ number: UInt8) {
        let urgency = Urgency(number)
        #expect(urgency.fieldValue == "u=\(number)")
        #expect(Urgency(fieldValue: urgency.fieldValue.utf8.span) == urgency)
        #expect((urgency < .normal) == (number < 3))
    }

    @Test func theUrgencyIsLimited() { #expect(Urgency(200) == Urgency(7)) }
}
