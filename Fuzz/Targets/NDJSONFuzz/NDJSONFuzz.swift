// SPDX-License-Identifier: MIT
// Invariant: a stream of lines has the same values and failures for any division: one for each line that is not blank.

import Foundation
import FuzzKit
import Lupine

/// The input is the cuts and the stream.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let cuts = Cuts(&input)
    let octets = input.readRemaining()
    for limit in [1 << 20, 16] {
        let whole = read(octets, .none, limit)
        require(whole == read(octets, cuts, limit), "other values when cut")
        require(whole == read(octets, .everywhere, limit), "other values octet by octet")
        require(whole == plainReading(octets, limit), "other values than the lines'")
    }
    return 0
}

private enum Outcome: Equatable {
    case line([UInt8])
    case tooLong
    case other
}

/// Returns a line as it is, because JSON is not tested here.
private struct LineDecoder: DataDecoder {
    func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D {
        guard let line = Array(data) as? D else { throw CocoaError(.coderInvalidValue) }
        return line
    }
}

private func read(_ octets: [UInt8], _ cuts: Cuts, _ limit: Int) -> [Outcome] {
    let serializer = NDJSONSerializer<[UInt8]>(decoder: LineDecoder(), maximumLineLength: limit)
    var reader = NDJSONReader(serializer)
    let results = cuts.pieces(of: octets).flatMap { reader.read(Data($0)) } + reader.finish()
    return results.map { result in
        switch result {
        case .success(let line): return .line(line)
        case .failure(let error):
            return error as? StreamLimitError == .lineTooLong(limit: limit) ? .tooLong : .other
        }
    }
}

/// Returns the outcomes, computed from the complete stream.
private func plainReading(_ octets: [UInt8], _ limit: Int) -> [Outcome] {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let content = octets.starts(with: mark) ? octets.dropFirst(mark.count) : octets[...]
    return content.split(separator: 0x0A).compactMap { line in
        if line.count > limit { return .tooLong }
        if line.allSatisfy({ [0x20, 0x09, 0x0D].contains($0) }) { return nil }
        return .line(Array(line))
    }
}
