// SPDX-License-Identifier: MIT

import LupineHTTP

/// A slow reference reader of frames: it reads the complete octets, checks text from its beginning each time with the standard
/// library, and shares nothing with the codec.
struct ReferenceFrames {
    let role: WebSocketRole
    let limit: Int
    let allowsCompression: Bool

    /// The reason why reading stopped.
    private enum Stop: Error {
        case needMore
        case failed(WebSocketError)
    }

    func read(_ wire: [UInt8]) -> Transcript {
        var transcript = Transcript()
        var remaining = wire[...]
        var message: WebSocketMessage?
        do throws(Stop) {
            while try readFrame(&remaining, &message, &transcript.events) {}
        } catch {
            if case .failed(let failure) = error { transcript.failure = failure }
        }
        return transcript
    }

    /// Reads a frame; returns false after a close frame.
    private func readFrame(
        _ remaining: inout ArraySlice<UInt8>, _ message: inout WebSocketMessage?,
        _ events: inout [WebSocketEvent]
    ) throws(Stop) -> Bool {
        let first = try nextOctet(&remaining)
        let opcode = first & 15
        guard [0, 1, 2, 8, 9, 10].contains(opcode) else { throw .failed(.reservedOpcode(opcode)) }
        let bits = first & 0x70
        guard bits == 0 || (bits == 0x40 && allowsCompression && (opcode == 1 || opcode == 2)) else {
            throw .failed(.reservedBits(octet: first))
        }
        let isFinal = first >= 0x80
        if opcode >= 8, !isFinal { throw .failed(.fragmentedControlFrame(opcode: opcode)) }

        let second = try nextOctet(&remaining)
        if role == .client, second >= 0x80 { throw .failed(.maskedFrame) }
        if role == .server, second < 0x80 { throw .failed(.unmaskedFrame) }
        var length = UInt64(second & 0x7F)
        if opcode >= 8, length > 125 { throw .failed(.controlFrameTooLong(opcode: opcode)) }
        if length > 125 {
            let (width, least): (Int, UInt64) = length == 126 ? (2, 126) : (8, 65536)
            length = 0
            for index in 0..<width {
                let next = try nextOctet(&remaining)
                if width == 8, index == 0, next >= 0x80 { throw .failed(.lengthOverflow) }
                length = length * 256 + UInt64(next)
            }
            if length < least { throw .failed(.lengthNotMinimal(length)) }
        }
        var key: [UInt8] = [0, 0, 0, 0]
        if role == .server { for index in 0..<4 { key[index] = try nextOctet(&remaining) } }

        if opcode < 8 {
            if opcode == 0, message == nil { throw .failed(.continuationWithoutMessage) }
            if opcode != 0, message != nil { throw .failed(.messageInsideMessage) }
            if opcode != 0 {
                message = WebSocketMessage(opcode == 1 ? .text : .binary, [], isCompressed: bits != 0)
            }
            let held = UInt64(message?.octets.count ?? 0)
            if held + length > UInt64(limit) { throw .failed(.messageTooBig(limit: limit)) }
        }
        let isComplete = UInt64(remaining.count) >= length
        let payload = remaining.prefix(Int(length)).enumerated().map { $1 ^ key[$0 % 4] }
        remaining = remaining.dropFirst(payload.count)
        if opcode >= 8 {
            guard isComplete else { throw .needMore }
            return try handleControlFrame(opcode, payload, &events)
        }
        message?.octets += payload
        guard let read = message else { return true }
        if read.kind == .text, !read.isCompressed {
            let isEnd = isFinal && isComplete
            if let offset = Self.invalidOffset(in: read.octets, isEnd: isEnd) {
                throw .failed(.invalidUTF8(offset: offset))
            }
        }
        guard isComplete else { throw .needMore }
        if isFinal {
            events.append(.message(read))
            message = nil
        }
        return true
    }

    /// Handles a control frame; returns false after a close frame.
    private func handleControlFrame(
        _ opcode: UInt8, _ payload: [UInt8], _ events: inout [WebSocketEvent]
    ) throws(Stop) -> Bool {
        switch opcode {
        case 9:
            events.append(.ping(payload))
            return true
        case 10:
            events.append(.pong(payload))
            return true
        default:
            guard !payload.isEmpty else {
                events.append(.close(.empty))
                return false
            }
            guard payload.count > 1 else { throw .failed(.closePayloadTooShort) }
            let code = Int(payload[0]) * 256 + Int(payload[1])
            let isRegistered = [1000, 1001, 1002, 1003].contains(code) || (code >= 1007 && code <= 1014)
            guard isRegistered || (code >= 3000 && code < 5000) else {
                throw .failed(.invalidCloseCode(UInt16(code)))
            }
            let reason = Array(payload.dropFirst(2))
            if let offset = Self.invalidOffset(in: reason, isEnd: true) {
                throw .failed(.invalidUTF8(offset: offset + 2))
            }
            do throws(WebSocketError) {
                events.append(
                    .close(
                        try WebSocketCloseFrame(WebSocketCloseCode(rawValue: UInt16(code)), reason: reason)))
            } catch {
                throw .failed(error)
            }
            return false
        }
    }

    /// Removes and returns the next octet.
    private func nextOctet(_ remaining: inout ArraySlice<UInt8>) throws(Stop) -> UInt8 {
        guard let first = remaining.popFirst() else { throw .needMore }
        return first
    }

    /// Returns the first octet after which the text cannot become valid, or the end if the text must not end there.
    private static func invalidOffset(in octets: [UInt8], isEnd: Bool) -> Int? {
        if String(validating: octets, as: UTF8.self) != nil { return nil }
        var decoder = UTF8()
        var source = octets.makeIterator()
        var good = 0
        while case .scalarValue(let scalar) = decoder.decode(&source) { good += UTF8.width(scalar) }
        let ends: [[UInt8]] = [
            [], [0x80], [0xBF], [0x80, 0x80], [0xBF, 0x80], [0x80, 0x80, 0x80], [0xBF, 0x80, 0x80],
        ]
        for last in good..<octets.count {
            let start = Array(octets[good...last])
            if !ends.contains(where: { String(validating: start + $0, as: UTF8.self) != nil }) { return last }
        }
        return isEnd ? octets.count : nil
    }
}
