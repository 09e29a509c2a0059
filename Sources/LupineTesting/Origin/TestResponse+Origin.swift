// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineOrigin

/// Converts a response for an origin: to an HTTP response if it is complete, otherwise to a script of octets.
extension TestResponse {
    /// Returns the origin's reaction to the request: a response, or a script. Called on the connection's loop.
    func choice() throws(Refusal) -> EndpointChoice {
        switch delivery {
        case .whole:
            var response = OriginResponse(status)
            for field in headers.fields { try response.add(field.name, field.value) }
            response.gate = awaitedSignal?.gate
            response.body = isStreamed ? streamedBody() : collectedBody()
            return .respond(response)
        case .broken(_, let end): return follow([.send(head())] + contentSteps() + [end.step])
        case .unanswered(let end): return follow([end.step])
        case .garbage(let octets): return follow([.send([UInt8](octets)), .close])
        case .failed: return follow([.reset])
        }
    }

    /// Returns a script that waits for the signal, if there is one, and follows the steps.
    private func follow(_ steps: [Script.Step]) -> EndpointChoice {
        let wait = awaitedSignal.map { [Script.Step.waitForGate($0.gate)] } ?? []
        return .follow(Script(wait + steps))
    }

    /// Returns a body with the octets of all pieces.
    private func collectedBody() -> OriginResponse.Body {
        let octets = pieces.compactMap(\.octets).reduce(into: [UInt8]()) { $0 += $1 }
        return octets.isEmpty ? .none : .bytes(octets)
    }

    /// Returns a body that sends the pieces one after another, as fast as the client reads them.
    private func streamedBody() -> OriginResponse.Body {
        var remainingPieces = pieces[...]
        // Without a length, the content is sent in chunks. The ignored argument is the suggested length of a piece.
        return .stream(length: nil) { output, _ in
            while let piece = remainingPieces.popFirst() {
                switch piece {
                case .data(let data) where !data.isEmpty:
                    output += data
                    // The origin calls the closure again.
                    return .more
                case .text(let text) where !text.isEmpty:
                    output += text.utf8
                    return .more
                case .wait(let signal): return .wait(signal.gate)
                // A chunk of size zero would end the content.
                case .data, .text: continue
                }
            }
            return .end(trailers: Fields())
        }
    }

    /// Returns a head that announces the complete content.
    private func head() -> String {
        var lines = ["HTTP/1.1 \(status) "] + headers.fields.map { "\($0.name): \($0.value)" }
        if isStreamed {
            lines.append("Transfer-Encoding: chunked")
        } else {
            lines.append("Content-Length: \(pieces.compactMap(\.octets?.count).reduce(0, +))")
        }
        return lines.joined(separator: "\r\n") + "\r\n\r\n"
    }

    /// Returns the steps that send the content up to the octet at which the connection ends. The chunk sizes are those of the
    /// whole pieces: a chunk in which the connection ends is shorter than its size says, and lacks the final line end.
    private func contentSteps() -> [Script.Step] {
        // `sentPieces` are the first of `pieces`; only the last of them may be shorter than its whole piece.
        zip(sentPieces, pieces).flatMap { sentPiece, wholePiece -> [Script.Step] in
            if case .wait(let signal) = sentPiece { return [.waitForGate(signal.gate)] }
            guard let octets = sentPiece.octets, let size = wholePiece.octets?.count, !octets.isEmpty else {
                return []
            }
            guard isStreamed else { return [.send([UInt8](octets))] }
            let sizeLine = "\(String(size, radix: 16))\r\n"
            let lineEnd = octets.count == size ? "\r\n" : ""
            return [.send(Array(sizeLine.utf8) + octets + Array(lineEnd.utf8))]
        }
    }
}

extension TestResponse.ConnectionEnd {
    /// The step of a script that ends the connection in this way.
    fileprivate var step: Script.Step {
        switch self {
        case .closed: .close
        case .reset: .reset
        case .stalled: .stall
        }
    }
}
