// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP

/// Tests of the values of Sec-WebSocket-Key and Sec-WebSocket-Accept.
@Suite struct WebSocketKeyTests {
    @Test func theExampleOfTheRFC() {
        let key = WebSocketKey(0x7468_6520_7361_6D70, 0x6C65_206E_6F6E_6365)
        #expect(key.text == "dGhlIHNhbXBsZSBub25jZQ==")
        #expect(key.accept == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "[U-8.2] RFC 6455 §1.3")
    }

    @Test(
        arguments: [
            (0, 0, "AAAAAAAAAAAAAAAAAAAAAA=="), (.max, .max, "/////////////////////w=="),
            (0, 1, "AAAAAAAAAAAAAAAAAAAAAQ=="), (0xFBFF_BF00_0000_0000, 0, "+/+/AAAAAAAAAAAAAAAAAA=="),
        ] as [(UInt64, UInt64, String)])
    func base64(_ first: UInt64, _ second: UInt64, _ text: String) {
        let key = WebSocketKey(first, second)
        #expect(key.text == text)
        let octets = Array(text.utf8)
        #expect(WebSocketKey(received: octets.span) == key)
    }

    @Test(arguments: [
        "", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25jZQ===", "dGhlIHNhbXBsZSBub25jZQAA",
        "dGhlIHNhbXBsZSBub25jZR==", "dGhlIHNhbXBsZSBub25jZ===", "dGhlIHNhbXBsZSBub25j Q==",
        "dGhlIHNhbXBsZSBub25j-Q==", "dGhlIHNhbXBsZSBub25jZQ =",
    ])
    func malformedKeysAreRefused(_ text: String) {
        let octets = Array(text.utf8)
        #expect(WebSocketKey(received: octets.span) == nil)
    }
}
