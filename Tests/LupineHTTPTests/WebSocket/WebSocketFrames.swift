// SPDX-License-Identifier: MIT

import LupineHTTP

/// Makes valid and invalid frames by hand, without any code of the encoder.
enum WebSocketFrames {
    /// The encoding of a payload length.
    enum Width { case short, two, eight }

    /// Returns a frame. `first` is its first octet: FIN, the reserved bits and the opcode.
    static func frame(
        _ first: UInt8, _ payload: [UInt8] = [], width: Width? = nil, mask: [UInt8]? = nil
    ) -> [UInt8] {
        let count = payload.count
        let masked: UInt8 = mask == nil ? 0 : 0x80
        var octets = [first]
        switch width ?? (count < 126 ? .short : count < 65536 ? .two : .eight) {
        case .short: octets.append(masked | UInt8(count))
        case .two: octets += [masked | 126, UInt8(count >> 8), UInt8(count & 255)]
        case .eight:
            octets.append(masked | 127)
            for place in 0..<8 { octets.append(UInt8(count >> (56 - place * 8) & 255)) }
        }
        guard let mask else { return octets + payload }
        octets += mask
        for (index, octet) in payload.enumerated() { octets.append(octet ^ mask[index % 4]) }
        return octets
    }

    static func text(_ text: String, isFinal: Bool = true) -> [UInt8] {
        frame(isFinal ? 0x81 : 0x01, Array(text.utf8))
    }

    /// Returns a close frame with any code and reason.
    static func close(_ code: UInt16, _ reason: [UInt8] = []) -> [UInt8] {
        frame(0x88, [UInt8(code >> 8), UInt8(code & 255)] + reason)
    }

    /// Returns the events of a codec for pieces of input, as text, with the error if it throws one.
    static func said(of pieces: [[UInt8]], by codec: WebSocketCodec) -> [String] {
        var codec = codec
        var said: [String] = []
        for piece in pieces {
            var rest = piece[...]
            feeding: while true {
                do throws(WebSocketError) {
                    let (event, consumed) = try codec.next(rest.span)
                    rest = rest.dropFirst(consumed)
                    if case .needMore = event {
                        if !rest.isEmpty { said.append("\(rest.count) octets left over") }
                        break feeding
                    }
                    said.append(words(event))
                } catch {
                    return said + ["\(error)"]
                }
            }
        }
        return said
    }

    /// Returns the different results for the input as a whole, cut in two at every place, and octet by octet; a single one if all
    /// agree.
    static func saidAtEveryCut(of wire: [UInt8], by codec: WebSocketCodec) -> [[String]] {
        var all: Set<[String]> = [said(of: [wire], by: codec), said(of: wire.map { [$0] }, by: codec)]
        for cut in 0...wire.count {
            all.insert(said(of: [Array(wire[..<cut]), Array(wire[cut...])], by: codec))
        }
        return Array(all)
    }

    private static func words(_ event: WebSocketEvent) -> String {
        switch event {
        case .needMore: return "nothing"
        case .message(let message):
            let kind = "\(message.isCompressed ? "compressed " : "")\(message.kind)"
            return "\(kind) \(short(message.octets))"
        case .ping(let payload): return "ping \(short(payload))"
        case .pong(let payload): return "pong \(short(payload))"
        case .close(let closure):
            guard let code = closure.code else { return "close" }
            return "close \(code.rawValue) \(short(closure.reason))"
        }
    }

    private static func short(_ octets: [UInt8]) -> String {
        guard octets.count <= 40 else { return "of \(octets.count)" }
        return String(validating: octets, as: UTF8.self).map { "'\($0)'" } ?? "\(octets)"
    }
}
