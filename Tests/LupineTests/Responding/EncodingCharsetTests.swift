// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Lupine

struct EncodingCharsetTests {
    @Test(
        "known charset names become encodings, ignoring case",
        arguments: [
            ("utf-8", String.Encoding.utf8), ("iso-8859-1", .isoLatin1), ("unicode-1-1", .utf16),
            ("iso-10646-ucs-2", .utf16), ("utf-16", .utf16), ("utf-16be", .utf16BigEndian),
            ("utf-16le", .utf16LittleEndian), ("utf-32", .utf32), ("utf-32be", .utf32BigEndian),
            ("utf-32le", .utf32LittleEndian),
        ])
    func known(_ name: String, _ encoding: String.Encoding) {
        #expect(String.Encoding(ianaCharsetName: name) == encoding)
        #expect(String.Encoding(ianaCharsetName: name.uppercased()) == encoding)
        #expect(String.Encoding(ianaCharsetName: " " + name) == nil)
    }

    @Test(
        "unknown charset names become nil",
        arguments: ["", "utf8", "us-ascii", "ascii", "windows-1252", "utf-7", "\"utf-8\""])
    func others(_ name: String) {
        #expect(String.Encoding(ianaCharsetName: name) == nil)
    }
}
