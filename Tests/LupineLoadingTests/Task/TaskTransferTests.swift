// SPDX-License-Identifier: MIT
import Testing

@testable import LupineLoading

/// Tests of the byte counts of a task, and of the reports of sent bytes.
struct TaskTransferTests {
    /// The totals between two reports each, and the new bytes of the reports.
    @Test(
        "[U-7.7] a report has the bytes since the last one, or all if the body is sent again",
        arguments: [
            ([[10]], [10]), ([[10, 25], [40]], [25, 15]), ([[40], [15]], [40, 15]),
            ([[40], [15, 60]], [40, 20]),
            ([[40], [40]], [40, 0]),
        ] as [([[Int64]], [Int64])])
    func reportsOfSentBytes(_ totals: [[Int64]], _ newBytes: [Int64]) {
        var transfer = TaskTransfer(bodyLength: 100)
        var reports: [TaskTransfer.SentReport?] = [transfer.takeReport()]
        #expect(reports[0] == nil)
        for batch in totals {
            let needsReport = batch.map { transfer.sent($0, of: 100).needsReport }
            // One report is queued at a time.
            #expect(needsReport == batch.indices.map { $0 == 0 })
            reports.append(transfer.takeReport())
            let another = transfer.takeReport()
            #expect(another == nil)
        }
        #expect(reports.compactMap { $0?.newBytes } == newBytes)
        #expect(reports.compactMap { $0?.total } == totals.compactMap(\.last))
        #expect(transfer.counts.sent == totals.last?.last && transfer.counts.expectedToSend == 100)
    }
}
