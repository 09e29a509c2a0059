// SPDX-License-Identifier: MIT

internal import LupineHTTP2
internal import LupineTLS
internal import LupineTransport

/// Detects which version of HTTP a client uses, and is then replaced by the conversation for that version.
///
/// Over TLS, ALPN has negotiated the version. Without TLS, the detector recognizes HTTP/2 by the connection preface that the
/// client sends first (RFC 9113 §3.3). Used on the loop only.
final class ProtocolDetector: Conversation {
    private let behaviour: HTTP2Behaviour

    init(_ behaviour: HTTP2Behaviour) { self.behaviour = behaviour }

    var wantsInput: Bool { true }

    var awaitsClient: Bool { true }

    /// Does nothing: the detector begins no wait.
    func resume(_ connection: ServerConnection) {}

    func advance(_ connection: ServerConnection) -> Bool {
        guard let isHTTP2 = isHTTP2(connection) else { return false }
        let configuration = connection.service.configuration
        if isHTTP2 {
            connection.replaceConversation(
                with: HTTP2Conversation(behaviour, limits: configuration.limits, at: connection.loop.now))
        } else {
            connection.replaceConversation(with: HTTP1Conversation(limits: configuration.limits))
        }
        return true
    }

    /// Returns whether the client uses HTTP/2; nil while that is not known.
    private func isHTTP2(_ connection: ServerConnection) -> Bool? {
        if let handshake = connection.tls { return handshake.info?.applicationProtocol == "h2" }
        let preface = FrameReader.clientPreface
        let matchingCount = connection.withInput { input in
            var count = 0
            while count < min(input.count, preface.count), input[count] == preface[count] { count += 1 }
            return count
        }
        if matchingCount == preface.count { return true }
        // An octet differs, or no more octets can arrive.
        let isExcluded = matchingCount < connection.inputCount || connection.hasPeerEnded
        return isExcluded ? false : nil
    }
}
