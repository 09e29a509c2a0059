// SPDX-License-Identifier: MIT

import LupineTransport
import Testing

@testable import LupineLoading

/// Tests of when written bytes are reported to the delegate, and with which counts.
struct WriteProgressTests {
    private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

    @Test("[U-7.10] the first piece is reported at once") func first() {
        var news = WriteProgress()
        #expect(news.isEmpty)
        #expect(news.countWritten(7, at: at(1_000)) == .reportNow)
        #expect(!news.isEmpty)
        #expect(news.removeUnreported(at: at(1_001)) == 7)
        #expect(news.isEmpty)
    }

    @Test("[U-7.10] pieces that arrive during a call are reported with it") func together() {
        var news = WriteProgress()
        #expect(news.countWritten(7, at: at(0)) == .reportNow)
        #expect(news.countWritten(8, at: at(1)) == .wait)
        #expect(news.countWritten(9, at: at(500)) == .wait)
        #expect(news.removeUnreported(at: at(501)) == 24)
    }

    @Test("[U-7.10] pieces soon after a call are reported after an interval, and no later") func soon() {
        var news = WriteProgress()
        _ = news.countWritten(1, at: at(0))
        _ = news.removeUnreported(at: at(10))
        #expect(news.countWritten(2, at: at(20)) == .report(after: .milliseconds(40)))
        #expect(news.countWritten(3, at: at(30)) == .wait)
        #expect(news.removeUnreported(at: at(60)) == 5)
        #expect(news.countWritten(4, at: at(109)) == .report(after: .milliseconds(1)))
        #expect(news.removeUnreported(at: at(110)) == 4)
        #expect(news.countWritten(5, at: at(160)) == .reportNow)
    }

    @Test("[U-7.10] a late call does not repeat what the end has reported") func late() {
        var news = WriteProgress()
        _ = news.countWritten(1, at: at(0))
        _ = news.removeUnreported(at: at(0))
        #expect(news.countWritten(2, at: at(1)) == .report(after: .milliseconds(49)))
        #expect(news.removeUnreported(at: at(2)) == 2)
        #expect(news.removeUnreported(at: at(50)) == nil)
        #expect(news.isEmpty)
    }

    @Test("[U-7.10] zero bytes are not reported") func nothing() {
        var news = WriteProgress()
        #expect(news.countWritten(0, at: at(0)) == .wait)
        #expect(news.isEmpty)
        #expect(news.removeUnreported(at: at(0)) == nil)
        #expect(news.countWritten(1, at: at(0)) == .reportNow)
    }
}
