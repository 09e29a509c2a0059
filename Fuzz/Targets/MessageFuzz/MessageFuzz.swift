// SPDX-License-Identifier: MIT
// Invariant: no message decompresses to more than its limit, and a compressed message is decompressed to itself, whatever the
// messages before it contain.

import FuzzKit
import LupineCoding

/// Octet 0 selects whether messages are only decompressed or compressed first, and whether the window is kept. The messages
/// follow, each after its length.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let choice = input.readOctet()
    let keepsContext = choice & 1 == 0
    if choice & 2 == 0 {
        decompress(&input, keepsContext: keepsContext)
    } else {
        let windowBits = 9 + Int(choice >> 2) % 7
        do throws(CodingError) {
            try requireRoundTrips(&input, windowBits: windowBits, keepsContext: keepsContext)
        } catch {
            require(false, "what was compressed here does not come back: \(error)")
        }
    }
    return 0
}

/// Decompresses any octets as messages of a peer. A limit equal to the result's length changes nothing.
private func decompress(_ input: inout FuzzInput, keepsContext: Bool) {
    let unlimited = MessageInflater(keepsContext: keepsContext)
    let limited = MessageInflater(keepsContext: keepsContext)
    let limit = 1 << 16
    while !input.isEmpty {
        let message = input.readPiece()
        do throws(CodingError) {
            let octets = try unlimited.inflate(message.span, limit: limit)
            require(octets.count <= limit, "over the limit")
            let again = try? limited.inflate(message.span, limit: octets.count)
            require(again == octets, "a limit that is just kept changes something")
        } catch {
            return
        }
    }
}

/// Requires that each message is decompressed to itself after it was compressed.
private func requireRoundTrips(
    _ input: inout FuzzInput, windowBits: Int, keepsContext: Bool
) throws(CodingError) {
    let deflater = try MessageDeflater(windowBits: windowBits, keepsContext: keepsContext)
    let inflater = MessageInflater(keepsContext: keepsContext)
    var total = 0
    while !input.isEmpty, total < 1 << 20 {
        let times = input.readOctet() & 0x80 == 0 ? 1 : 150
        let piece = input.readPiece()
        let message = Array(repeatElement(piece, count: times).joined())
        total += message.count + 64
        var compressed: [UInt8] = []
        deflater.deflate(message.span, into: &compressed)
        let octets = try inflater.inflate(compressed.span, limit: message.count)
        require(octets == message, "\(message.count) octets come back as \(octets.count)")
    }
}
