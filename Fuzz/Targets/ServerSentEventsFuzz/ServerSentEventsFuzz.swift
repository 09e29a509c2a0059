// SPDX-License-Identifier: MIT
// Invariant: an event stream has the same events and failures for any division, and those of a plain reading of the standard if
// no limit is exceeded.

import Foundation
import FuzzKit
import Lupine

/// The input is the cuts, and the stream.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let cuts = Cuts(&input)
    let octets = input.readRemaining()
    for (lineLimit, eventLimit) in [(1 << 20, 1 << 20), (24, 40)] {
        let whole = read(octets, .none, lineLimit, eventLimit)
        require(whole == read(octets, cuts, lineLimit, eventLimit), "other events when cut")
        require(whole == read(octets, .everywhere, lineLimit, eventLimit), "other events octet by octet")
        let values = whole.compactMap(\.event)
        require(values.allSatisfy { $0.data.utf8.count <= eventLimit * 3 }, "more data than the limit")
        if values.count == whole.count, lineLimit > 24 {
            require(values.map(\.data) == plainReading(octets), "other data than the standard's")
        }
    }
    return 0
}

private struct Outcome: Equatable {
    var event: ServerSentEvent?
    var error: StreamLimitError?
}

private func read(_ octets: [UInt8], _ cuts: Cuts, _ lineLimit: Int, _ eventLimit: Int) -> [Outcome] {
    var reader = ServerSentEventsReader(lineLimit: lineLimit, eventLimit: eventLimit, position: nil)
    let results = cuts.pieces(of: octets).flatMap { reader.read(Data($0)) } + reader.finish()
    return results.map { result in
        switch result {
        case .success(let event): Outcome(event: event)
        case .failure(let error): Outcome(error: error as? StreamLimitError)
        }
    }
}

/// Returns the data of the events, read from the whole text line by line.
private func plainReading(_ octets: [UInt8]) -> [String] {
    var remaining = octets[...]
    if remaining.starts(with: [0xEF, 0xBB, 0xBF]) { remaining = remaining.dropFirst(3) }
    var events: [String] = []
    var data: [[UInt8]] = []
    while let end = remaining.firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) {
        let line = remaining[..<end]
        let isPair = remaining[end] == 0x0D && remaining[(end + 1)...].first == 0x0A
        remaining = remaining[(end + (isPair ? 2 : 1))...]
        if line.isEmpty {
            let joined = Array(data.joined(separator: [0x0A]))
            if !data.isEmpty { events.append(String(decoding: joined, as: UTF8.self)) }
            data = []
            continue
        }
        let name = line.prefix { $0 != 0x3A }
        guard Array(name) == Array("data".utf8) else { continue }
        var value = line.dropFirst(name.count + 1)
        if value.first == 0x20 { value = value.dropFirst() }
        data.append(Array(value))
    }
    return events
}
