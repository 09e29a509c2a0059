// SPDX-License-Identifier: MIT
// Invariant: a Content-Range that was read is consistent, and so are the decisions based on it: a remaining part is appended at
// its offset, and ends at the end of the whole resource.

import Foundation
import FuzzKit
import LupineLoading

private let home = URL(string: "https://files.example/a")

/// The input is the number of received bytes, the length of the whole, the length of the response, and a `Content-Range`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let lines = input.readRemaining().split(separator: 0x0A, maxSplits: 3, omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
    if let range = lines.last.flatMap(ContentRange.init) { check(range) }
    guard lines.count == 4, let home, let received = Int64(lines[0]), received > 0 else { return 0 }
    let first = HTTPURLResponse(
        url: home, statusCode: 200, httpVersion: "HTTP/1.1",
        headerFields: ["ETag": "\"v1\"", "Content-Length": lines[1]])
    guard let first else { return 0 }
    let part = ResumeData(
        url: home, fields: [], validator: .entityTag("\"v1\""), received: received, file: "/part",
        version: DownloadVersion(of: first))
    for status in [206, 416] {
        let answer = HTTPURLResponse(
            url: home, statusCode: status, httpVersion: "HTTP/1.1",
            headerFields: ["Content-Range": lines[3], "Content-Length": lines[2]])
        guard let answer else { continue }
        switch ResumeRule.step(after: answer, part: part) {
        case .append(let addition):
            require(status == 206 && addition.offset == received, "put elsewhere: \(addition)")
            require(addition.completeSizes.lowerBound >= received, "shorter than before: \(addition)")
            require(
                addition.total == -1
                    || addition.completeSizes == addition.total...addition.total,
                "another total: \(addition)")
            require(
                part.version.total.map { addition.completeSizes == $0...$0 } ?? true,
                "another length: \(addition)")
        case .complete:
            require(status == 416 && part.version.total ?? received == received, "not complete")
        case .store, .startOver: break
        }
    }
    return 0
}

private func check(_ range: ContentRange) {
    require((range.start == nil) == (range.end == nil), "half a range: \(range)")
    if let start = range.start, let end = range.end {
        require(
            start >= 0 && end >= start - 1 && max(start, end) <= range.total ?? .max,
            "contradicts itself: \(range)")
    }
    let bytes = range.start.flatMap { start in range.end.map { "\(start)-\($0)" } } ?? "*"
    guard range.end ?? 0 >= 0 else { return }
    let text = "bytes \(bytes)/\(range.total.map(String.init) ?? "*")"
    require(ContentRange(text) == range, "read again from \(text)")
}
