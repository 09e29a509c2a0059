// SPDX-License-Identifier: MIT

package import LupineHTTP

/// Errors in the notation of wire case documents: the case and its associated values.
extension HTTPError {
    package var evidence: String {
        switch self {
        case .notHTTP(let octet, let offset): "notHTTP \(hex(octet)) at \(offset)"
        case .http2Preface: "http2Preface"
        case .unsupportedVersion(let version): "unsupportedVersion \(version)"
        case .malformedStartLine(let octet, let offset): "malformedStartLine \(hex(octet)) at \(offset)"
        case .malformedTarget(let text): "malformedTarget \(text)"
        case .invalidStatusCode(let code): "invalidStatusCode \(code)"
        case .missingReason(let offset): "missingReason at \(offset)"
        case .bareLineFeed(let offset): "bareLineFeed at \(offset)"
        case .bareCarriageReturn(let offset): "bareCarriageReturn at \(offset)"
        case .foldedLine(let offset): "foldedLine at \(offset)"
        case .invalidFieldName(let octet, let offset): "invalidFieldName \(hex(octet)) at \(offset)"
        case .whitespaceBeforeColon(let offset): "whitespaceBeforeColon at \(offset)"
        case .invalidFieldValue(let octet, let offset): "invalidFieldValue \(hex(octet)) at \(offset)"
        case .invalidContentLength(let value): "invalidContentLength \(value)"
        case .conflictingContentLengths(let one, let other): "conflictingContentLengths \(one) \(other)"
        case .invalidTransferEncoding(let value): "invalidTransferEncoding \(value)"
        case .ambiguousFraming: "ambiguousFraming"
        case .transferEncodingInHTTP10: "transferEncodingInHTTP10"
        case .invalidHost(let value): "invalidHost \(value)"
        case .malformedChunkSize(let octet, let offset): "malformedChunkSize \(hex(octet)) at \(offset)"
        case .chunkSizeOverflow(let offset): "chunkSizeOverflow at \(offset)"
        case .malformedChunkExtension(let octet, let offset):
            "malformedChunkExtension \(hex(octet)) at \(offset)"
        case .malformedChunkEnd(let octet, let offset): "malformedChunkEnd \(hex(octet)) at \(offset)"
        case .unexpectedBytes(let octet): "unexpectedBytes \(hex(octet))"
        case .unexpectedUpgrade: "unexpectedUpgrade"
        case .limitExceeded(let limit, let allowed): "limitExceeded \(name(limit)) \(allowed)"
        case .truncated(let place): "truncated \(name(place))"
        case .invalidMethod(let text): "invalidMethod \(text)"
        case .invalidTarget(let text): "invalidTarget \(text)"
        case .invalidAuthority(let text): "invalidAuthority \(text)"
        case .invalidNameToSend(let text): "invalidNameToSend \(text)"
        case .invalidValueToSend(let name, let octet): "invalidValueToSend \(name) \(hex(octet))"
        case .framingFieldToSend(let name): "framingFieldToSend \(name)"
        case .missingHostToSend: "missingHostToSend"
        case .repeatedHostToSend: "repeatedHostToSend"
        case .unknownLengthInHTTP10: "unknownLengthInHTTP10"
        case .trailerWithoutChunks(let name): "trailerWithoutChunks \(name)"
        case .forbiddenTrailerToSend(let name): "forbiddenTrailerToSend \(name)"
        case .bodyLengthMismatch(let announced, let given): "bodyLengthMismatch \(given) of \(announced)"
        }
    }

    private func hex(_ octet: UInt8) -> String {
        "0x" + (octet < 16 ? "0" : "") + String(octet, radix: 16)
    }

    private func name(_ limit: ParserLimits.Limit) -> String {
        switch limit {
        case .headBytes: "headBytes"
        case .fieldCount: "fieldCount"
        case .lineBytes: "lineBytes"
        case .interimHeads: "interimHeads"
        case .chunkExtensionBytes: "chunkExtensionBytes"
        case .trailerBytes: "trailerBytes"
        }
    }

    private func name(_ place: Truncation) -> String {
        switch place {
        case .beforeHead: "beforeHead"
        case .insideHead(let received): "insideHead after \(received)"
        case .insideBody(let received, let expected): "insideBody after \(received) of \(expected)"
        case .insideBodyOfUnknownLength(let received): "insideBodyOfUnknownLength after \(received)"
        case .insideChunk(let received): "insideChunk after \(received)"
        case .insideTrailers: "insideTrailers"
        }
    }
}
