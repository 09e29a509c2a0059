// SPDX-License-Identifier: MIT

import LupineTLS
import Testing

@Suite struct UnixTimeTests {
    @Test func earlierTimesAreLess() {
        #expect(UnixTime(seconds: -1) < UnixTime(seconds: 0))
        #expect(UnixTime.now > UnixTime(seconds: 1_700_000_000))
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
            (4_102_444_799, "2099-12-31T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"), (951_868_800, "2000-03-01T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"), (-62_135_596_800, "0001-01-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"), (253_402_300_800, "10000-01-01T00:00:00Z"),
            (.max, "292277026596-12-04T15:30:07Z"), (.min, "-292277022657-01-27T08:29:52Z"),
        ] as [(Int64, String)])
    func descriptions(_ seconds: Int64, _ text: String) {
        #expect(UnixTime(seconds: seconds).description == text)
    }
}
