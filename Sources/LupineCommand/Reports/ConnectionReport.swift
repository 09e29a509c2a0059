// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Formats the lines about connections that `-v` prints at the end, one for each transaction.
enum ConnectionReport {
    /// Returns the lines for a fetch.
    static func text(_ report: FetchReport) -> TerminalText {
        var text = TerminalText()
        for transaction in report.metrics.flatMap(\.transactionMetrics) {
            guard let remote = transaction.remoteAddress else { continue }
            var words = ["\(remote) port \(transaction.remotePort ?? "?")"]
            words.append(transaction.isReusedConnection ? "connection used again" : "new connection")
            if transaction.isProxyConnection { words.append("through a proxy") }
            if let version = transaction.negotiatedTLSProtocolVersion { words.append(name(version)) }
            if let name = transaction.networkProtocolName {
                words.append(name == "h2" ? "HTTP/2" : name.uppercased())
            }
            words.append(
                "sent \(transaction.countOfRequestHeaderBytesSent + transaction.countOfRequestBodyBytesSent) bytes"
            )
            words.append(
                "received \(transaction.countOfResponseHeaderBytesReceived + transaction.countOfResponseBodyBytesReceived) bytes"
            )
            text += "* \(words.joined(separator: ", "))\n"
        }
        return text
    }

    /// Returns the name of a TLS version.
    static func name(_ version: tls_protocol_version_t) -> String {
        // The raw value is the version number that the TLS protocol uses (RFC 8446 §4.2.1).
        switch version.rawValue {
        case 0x0304: "TLS 1.3"
        case 0x0303: "TLS 1.2"
        case 0x0302: "TLS 1.1"
        case 0x0301: "TLS 1.0"
        default: "TLS"
        }
    }
}
