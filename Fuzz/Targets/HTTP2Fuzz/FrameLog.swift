// SPDX-License-Identifier: MIT

import FuzzKit
import LupineHTTP2

/// The log of an input, and the octets that the machine has sent.
struct Transcript: Equatable {
    var lines: [String]
    var sent: [UInt8] = []
}

/// The events of a frame reader: a line for each event, with the content of one frame added up.
struct FrameLog {
    private var reader: FrameReader
    private var lines: [String] = []
    private var content = 0

    init(_ role: HTTP2Role) { reader = FrameReader(role) }

    /// Returns the octets that a peer must send first to an endpoint of that role, or none.
    static func opening(to role: HTTP2Role, isWhole: Bool) -> [UInt8] {
        guard isWhole else { return [] }
        return (role == .server ? FrameReader.clientPreface : []) + [0, 0, 0, 4, 0, 0, 0, 0, 0]
    }

    consuming func read(_ wire: [UInt8], _ cuts: Cuts) -> Transcript {
        for piece in cuts.pieces(of: wire) where !receive(piece) { return Transcript(lines: lines) }
        return Transcript(lines: lines + ["\(reader.isBetweenFrames)"])
    }

    /// Reads a piece; returns whether the reader continues.
    private mutating func receive(_ piece: [UInt8]) -> Bool {
        var remaining = piece[...]
        while true {
            do throws(HTTP2Error) {
                let (event, consumed) = try reader.next(remaining.span)
                log(event, count: remaining.count)
                remaining = remaining.dropFirst(consumed)
                if event == .needMore {
                    require(remaining.isEmpty, "octets left over with needMore")
                    return true
                }
            } catch {
                lines.append("\(error.code): \(error)")
                requireSameErrorAgain(error)
                return false
            }
        }
    }

    private mutating func log(_ event: FrameEvent, count: Int) {
        switch event {
        case .needMore: return
        case .content(_, let range):
            require(range.lowerBound >= 0 && range.upperBound <= count && !range.isEmpty, "content \(range)")
            content += range.count
        case .dataEnded:
            lines.append("content of \(content), \(event)")
            content = 0
        default: lines.append("\(event)")
        }
    }

    /// Requires that a reader that has thrown an error throws the same error again.
    private mutating func requireSameErrorAgain(_ error: HTTP2Error) {
        let more: [UInt8] = [0]
        do throws(HTTP2Error) {
            _ = try reader.next(more.span)
            require(false, "a broken reader reads on")
        } catch let again {
            require(again == error, "another error: \(again)")
        }
    }
}
