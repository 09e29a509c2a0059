// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
package import LupineOrigin

extension Origin {
    /// Returns the bytes received on a connection in HTTP/1.1 notation, even if the connection used HTTP/2, so that a test can
    /// examine requests of either version.
    ///
    /// Requests are in the order in which they began, each with its own content; field names have their usual spelling.
    package func receivedAsHTTP1(on connection: Int) -> [UInt8] {
        let octets = received(on: connection)
        return octets.starts(with: "PRI * HTTP/2.0".utf8) ? HTTP1Text.text(of: octets) : octets
    }
}

/// Converts recorded HTTP/2 requests to HTTP/1.1 notation.
private enum HTTP1Text {
    static func text(of octets: [UInt8]) -> [UInt8] {
        var settings = HTTP2Machine.defaultSettings
        settings.maxConcurrentStreams = nil
        settings.initialWindowSize = 1 << 30
        settings.enableConnectProtocol = true
        var machine = HTTP2Machine(.server, settings: settings, window: 1 << 30, at: .zero)
        var requests: [(id: StreamID, text: [UInt8])] = []
        var start = 0
        while let (event, consumed) = try? machine.next(
            octets.span.extracting(start..<octets.count), at: .zero)
        {
            switch event {
            case .needMore: return requests.flatMap(\.text)
            case .request(let id, let request): requests.append((id, head(request.head)))
            case .content(let id, let range):
                if let index = requests.firstIndex(where: { $0.id == id }) {
                    requests[index].text += octets[start + range.lowerBound..<start + range.upperBound]
                }
                machine.consumed(range.count, on: id)
            case .interim, .response, .end, .reset, .failed, .refused, .windowOpened, .settings,
                .settingsAcknowledged, .pong, .goAway, .priority:
                break
            }
            start += consumed
        }
        return requests.flatMap(\.text)
    }

    /// Returns a head in HTTP/1.1 notation.
    private static func head(_ head: RequestHead) -> [UInt8] {
        var text = "\(head.method) \(head.target) HTTP/1.1\r\n"
        for index in 0..<head.fields.count {
            text += "\(capitalized(head.fields.name(at: index))): \(head.fields.value(at: index))\r\n"
        }
        return Array((text + "\r\n").utf8)
    }

    /// Capitalizes each word of a name.
    private static func capitalized(_ name: String) -> String {
        var isFirst = true
        return String(
            name.map { letter in
                defer { isFirst = letter == "-" }
                return isFirst ? Character(letter.uppercased()) : letter
            })
    }
}
