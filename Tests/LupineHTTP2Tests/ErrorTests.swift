// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import Testing

/// Tests that each error has a unique description.
@Suite struct ErrorTests {
    static let excerpt = Excerpt("x-evidence")

    static let messages: [MessageError] = [
        .invalidName(excerpt), .capitalInName(excerpt), .invalidValue(name: excerpt),
        .connectionField(excerpt),
        .invalidTE(excerpt), .misplacedPseudoField(excerpt), .unexpectedPseudoField(excerpt),
        .repeatedPseudoField(excerpt), .missingPseudoField("x-evidence"),
        .invalidPseudoField("x-evidence", excerpt), .conflictingHost(excerpt, excerpt),
        .invalidContentLength(excerpt), .contentLengthMismatch(announced: 4711, received: 2),
        .unexpectedContent,
        .misplacedContent, .interimEndsStream, .switchingProtocols, .trailersWithoutEnd, .misplacedHeaders,
        .endWithoutHead, .tooManyInterimHeads(allowed: 4711),
    ]

    static let frames: [HTTP2Error] = [
        .invalidPreface(octet: 1, offset: 4711), .settingsExpected(.ping),
        .frameTooLarge(.data, length: 4711, allowed: 1), .wrongLength(.ping, length: 4711),
        .streamNeeded(.data),
        .connectionNeeded(.ping, StreamID(4711)), .paddingTooLong(.data, padding: 4711, room: 1),
        .headerBlockInterrupted(StreamID(4711), by: .ping, on: StreamID(0)),
        .unexpectedContinuation(StreamID(4711)), .zeroIncrement(StreamID(4711)), .pushNotAllowed,
        .invalidPromisedStream(StreamID(4711)), .priorityUpdateFromServer, .priorityUpdateOfConnection,
        .invalidSetting(Setting(.maxFrameSize, 4711)), .limitExceeded(.settingsCount, allowed: 4711),
        .limitExceeded(.headerBlockOctets, allowed: 4711), .limitExceeded(.continuationFrames, allowed: 4711),
        .limitExceeded(.emptyContinuationFrames, allowed: 4711),
    ]

    static let compression: [HPACKError] = [
        .truncated, .integerOverflow, .invalidIndex(4711), .endOfStringInText, .paddingTooLong,
        .paddingNotOnes,
        .misplacedSizeUpdate, .sizeUpdateTooLarge(4711, allowed: 1), .missingSizeUpdate(allowed: 4711),
        .limitExceeded(.listOctets, allowed: 4711), .limitExceeded(.fieldCount, allowed: 4711),
        .limitExceeded(.stringOctets, allowed: 4711),
    ]

    @Test func descriptionsAreUnique() {
        let descriptions =
            Self.messages.map(\.description) + Self.frames.map(\.description)
            + Self.compression.map(\.description)
        #expect(Set(descriptions).count == descriptions.count)
        #expect(descriptions.allSatisfy { $0.utf8.count > 15 })
    }

    /// Checks that the description of an error contains the number or text among its associated values.
    @Test func descriptionsContainTheAssociatedValues() {
        for error in Self.messages.map({ "\($0)" }) + Self.frames.map({ "\($0)" })
            + Self.compression.map({ "\($0)" })
        {
            #expect(!error.contains("Optional"))
        }
        let withValue = Self.messages.filter { "\($0)".contains("x-evidence") || "\($0)".contains("4711") }
        #expect(withValue.count == 14)
        #expect(Self.frames.count { "\($0)".contains("4711") } == 14)
        #expect(Self.compression.count { "\($0)".contains("4711") } == 6)
    }

    @Test func codesHaveTheirNames() {
        #expect(HTTP2ErrorCode.noError.description == "NO_ERROR")
        #expect(HTTP2ErrorCode.http11Required.description == "HTTP_1_1_REQUIRED")
        #expect(HTTP2ErrorCode(rawValue: 14).description == "error code 14")
        #expect(HTTP2ErrorCode(rawValue: .max).description == "error code 4294967295")
    }
}
