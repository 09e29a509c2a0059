// SPDX-License-Identifier: MIT

import LupineHTTP

/// The description of a `MessageError`.
extension MessageError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .invalidName(let name): "\(name) is not a field name"
        case .capitalInName(let name): "the field name \(name) holds a capital letter"
        case .invalidValue(let name): "the value of \(name) holds a control character or has blanks around it"
        case .connectionField(let name): "\(name) speaks of the connection, which no field does in HTTP/2"
        case .invalidTE(let value): "TE says \(value), and may only say \"trailers\""
        case .misplacedPseudoField(let name): "\(name) stands behind a field"
        case .unexpectedPseudoField(let name): "\(name) does not belong into such a message"
        case .repeatedPseudoField(let name): "\(name) stands in the message twice"
        case .missingPseudoField(let name): "\(name) is missing"
        case .invalidPseudoField(let name, let value): "\(name) cannot be \(value)"
        case .conflictingHost(let authority, let host): ":authority is \(authority), and host is \(host)"
        case .invalidContentLength(let value):
            "content-length is not a number that fits, or not the same everywhere: \(value)"
        case .contentLengthMismatch(let announced, let received):
            "\(announced) octets of content were announced, \(received) came"
        case .unexpectedContent: "content came with a response that has none"
        case .misplacedContent: "content came where none may stand"
        case .interimEndsStream: "an interim response ends the stream"
        case .switchingProtocols: "the status is 101, which HTTP/2 does not know"
        case .trailersWithoutEnd: "trailers do not end the stream"
        case .misplacedHeaders: "a header block came behind the end, or in a tunnel"
        case .endWithoutHead: "the stream ended without a head"
        case .tooManyInterimHeads(let allowed): "there were more than \(allowed) interim responses"
        }
    }
}
