// SPDX-License-Identifier: MIT

import LupineHTTP

/// Makes valid and invalid frames by hand, without any code of the encoder.
enum WebSocketFrames {
    /// The number of octets that encode a payload length: in the second octet, or in two or eight octets after it.
    enum Width { case one, two, eight }

    /// Returns a frame. `first` is its first octet: FIN, the reserved bits and the opcode.
    static func frame(
        _ first: UInt8, _ payload: [UInt8] = [], width: Width? = nil, mask: [UInt8]? = nil
    ) -> [UInt8] {
        let count = payload.count
        let masked: UInt8 = mask == nil ? 0 : 0x80
        var octets = [first]
        switch width ?? narrowest(for: count) {
        case .one: octets.append(masked | UInt8(count))
        case .two: octets += [masked | 126, UInt8(count >> 8), UInt8(count & 255)]
        case .eight:
            octets.append(masked | 127)
            for index in 0..<8 { octets.append(UInt8(count >> (56 - index * 8) & 255)) }
        }
        guard let mask else { return octets + payload }
        octets += mask
        for (index, octet) in payload.enumerated() { octets.append(octet ^ mask[index % 4]) }
        return octets
    }

    /// Returns the fewest octets that encode the length.
    private static func narrowest(for count: Int) -> Width {
        if count < 126 { return .one }
        return count < 65536 ? .two : .eight
    }

    static func text(_ text: String, isFinal: Bool = true) -> [UInt8] {
        frame(isFinal ? 0x81 : 0x01, Array(text.utf8))
    }

    /// Returns a close frame with any code and reason.
    static func close(_ code: UInt16, _ reason: [UInt8] = []) -> [UInt8] {
        frame(0x88, [UInt8(code >> 8), UInt8(code & 255)] + reason)
    }

    /// Returns descriptions of the events that `codec` reads from pieces of input, and of its error if it throws one.
    static func log(of pieces: [[UInt8]], by codec: WebSocketCodec) -> [String] {
        var codec = codec
        var log: [String] = []
        for piece in pieces {
            var unread = piece[...]
            reading: while true {
                do throws(WebSocketError) {
                    let (event, consumed) = try codec.next(unread.span)
                    unread = unread.dropFirst(consumed)
                    if case .needMore = event {
                        if !unread.isEmpty { log.append("\(unread.count) octets left over") }
                        break reading
                    }
                    log.append(description(of: event))
                } catch {
                    return log + ["\(error)"]
                }
            }
        }
        return log
    }

    /// Returns the distinct logs of the whole input, of the input cut in two at every offset, and of single octets. If all agree,
    /// the array has one element.
    static func logsAtEveryCut(of wire: [UInt8], by codec: WebSocketCodec) -> [[String]] {
        var all: Set<[String]> = [log(of: [wire], by: codec), log(of: wire.map { [$0] }, by: codec)]
        for cut in 0...wire.count {
            all.insert(log(of: [Array(wire[..<cut]), Array(wire[cut...])], by: codec))
        }
        return Array(all)
    }

    private static func description(of event: WebSocketEvent) -> String {
        switch event {
        case .needMore: return "nothing"
        case .message(let message):
            let kind = "\(message.isCompressed ? "compressed " : "")\(message.kind)"
            return "\(kind) \(excerpt(message.octets))"
        case .ping(let payload): return "ping \(excerpt(payload))"
        case .pong(let payload): return "pong \(excerpt(payload))"
        case .close(let closure):
            guard let code = closure.code else { return "close" }
            return "close \(code.rawValue) \(excerpt(closure.reason))"
        }
    }

    private static func excerpt(_ octets: [UInt8]) -> String {
        guard octets.count <= 40 else { return "of \(octets.count)" }
        return String(validating: octets, as: UTF8.self).map { "'\($0)'" } ?? "\(octets)"
    }
}
