// SPDX-License-Identifier: MIT

import LupineTLS
import Testing

@Suite struct UnixTimeTests {
    @Test func earlierIsLess() {
        #expect(UnixTime(seconds: -1) < UnixTime(seconds: 0))
    }
}
