// SPDX-License-Identifier: MIT
// Invariant: the output on a terminal does not depend on the cuts of the content. It has at most 70 times the length of the
// content plus 4 KiB, and no control sequences other than colours. Formatted JSON is equal to the received JSON.

import Foundation
import FuzzKit

@testable import LupineCommand

/// The input is the style of presentation, the cuts, and the content.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let choice = input.readOctet()
    let cuts = Cuts(&input)
    let octets = input.readRemaining()
    let breaks = choice & 1 == 0
    let manner: BodyPresenter.Manner =
        choice & 2 == 0 ? .pretty(breaksLines: breaks) : .lines(breaksLines: breaks)
    let isTerminal = choice & 4 == 0
    let isColored = choice & 8 == 0
    let whole = show(octets, .none, manner, isTerminal, isColored)
    // Binary content is not shown on a terminal, as decided by its first piece.
    if !isTerminal || !BodyPresenter.isBinary(Data(octets)) {
        let first = cuts.pieces(of: octets).first ?? []
        if !isTerminal || !BodyPresenter.isBinary(Data(first)) {
            require(whole == show(octets, cuts, manner, isTerminal, isColored), "shown otherwise when cut")
        }
    }
    require(whole.count <= 70 * octets.count + 4096, "\(whole.count) octets for \(octets.count)")
    if isTerminal { require(isHarmless(whole, isColored), "commands the terminal") }
    if case .pretty = manner, !isTerminal, !isColored, JSONText.isValid(octets) {
        require(JSONText.isValid(whole), "no JSON any more")
        require(withoutWhitespace(whole) == withoutWhitespace(octets), "other JSON")
    }
    return 0
}

private func show(
    _ octets: [UInt8], _ cuts: Cuts, _ manner: BodyPresenter.Manner, _ isTerminal: Bool, _ isColored: Bool
) -> [UInt8] {
    let output = Guarded<[UInt8]>([])
    let sink = ProcessContext.Sink(isTerminal: isTerminal) { data in output.withLock { $0 += data } }
    var presenter = BodyPresenter(
        sink: sink, manner: manner, style: Style(isOn: isColored), type: "application/json")
    do {
        for piece in cuts.pieces(of: octets) { try presenter.write(Data(piece)) }
        try presenter.finish()
    } catch { fatalError("a sink that takes all was refused: \(error)") }
    return output.withLock { $0 }
}

/// Returns whether the text has only printable characters, line ends, tabs, and, if permitted, colours.
private func isHarmless(_ shown: [UInt8], _ isColored: Bool) -> Bool {
    guard let text = String(validating: shown, as: UTF8.self) else { return false }
    var scalars = text.unicodeScalars[...]
    while let scalar = scalars.popFirst() {
        switch scalar.value {
        case 0x09, 0x0A: break
        case 0x0D: guard scalars.first == "\n" else { return false }
        case 0x1B:
            guard isColored, let colourEnd = scalars.firstIndex(of: "m"),
                ["[36", "[32", "[33", "[35", "[2", "[0"].contains(String(scalars[..<colourEnd]))
            else { return false }
            scalars = scalars[scalars.index(after: colourEnd)...]
        case 0x00..<0x20, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069: return false
        default: break
        }
    }
    return true
}

/// Returns JSON without the white space between its tokens.
private func withoutWhitespace(_ json: [UInt8]) -> [UInt8] {
    var scanner = JSONScanner()
    return json.filter { scanner.scan($0) != .blank }
}
