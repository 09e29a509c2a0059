// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Lupine

@Suite struct PercentEscapingTests {
    @Test("[E-4.1.1] letters, digits and six other characters are not escaped")
    func whatStays() {
        let stays = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?"
        #expect(URLEncoding.default.escape(stays) == stays)
        for code in UInt8(0)..<128 where !stays.utf8.contains(code) {
            let text = String(Unicode.Scalar(code))
            let hex = String(code, radix: 16, uppercase: true)
            #expect(URLEncoding.default.escape(text) == "%" + (code < 16 ? "0" : "") + hex)
            #expect(!CharacterSet.afURLQueryAllowed.contains(Unicode.Scalar(code)))
        }
        for scalar in stays.unicodeScalars { #expect(CharacterSet.afURLQueryAllowed.contains(scalar)) }
    }

    @Test(
        "[E-4.1.2] other characters are escaped as UTF-8, in upper-case hexadecimal",
        arguments: [
            (" ", "%20"), ("+", "%2B"), ("%", "%25"), ("%2F", "%252F"), ("ü", "%C3%BC"), ("\n", "%0A"),
            ("\u{7F}", "%7F"), ("日本", "%E6%97%A5%E6%9C%AC"), ("👍🏽", "%F0%9F%91%8D%F0%9F%8F%BD"), ("", ""),
            ("\r\n", "%0D%0A"), ("a b", "a%20b"), ("\u{0}", "%00"),
        ])
    func escapes(text: String, expected: String) {
        #expect(URLEncoding.default.escape(text) == expected)
        #expect(PercentEscaping.query.escape(text) == expected)
    }

    @Test("[E-4.1.3] non-ASCII characters are escaped even if the caller allows them")
    func notASCII() {
        let allowed = CharacterSet.afURLQueryAllowed.union(CharacterSet(charactersIn: "üé日"))
        #expect(PercentEscaping(allowed: allowed).escape("aüé日") == "a%C3%BC%C3%A9%E6%97%A5")
        let encoder = URLEncodedFormEncoder(allowedCharacters: allowed)
        #expect((try? encoder.encode(["ü": "é"]) as String) == "%C3%BC=%C3%A9")
    }

    @Test("escaped text agrees with Foundation, for each length and position")
    func agreesWithFoundation() {
        for length in 0..<40 {
            for place in 0..<max(length, 1) {
                var characters = [Character](repeating: "a", count: length)
                if length > 0 { characters[place] = "ä" }
                let text = String(characters)
                #expect(
                    PercentEscaping.query.escape(text)
                        == text.addingPercentEncoding(withAllowedCharacters: .afURLQueryAllowed))
            }
        }
    }

    @Test(
        "an invalid query is repaired and does not trap",
        arguments: [
            ("a[]=1", "a%5B%5D=1"), ("a=%zz", "a=%25zz"), ("a=%", "a=%25"), ("a=%2", "a=%252"),
            ("a b", "a%20b"), ("a\"b", "a%22b"), ("a=é", "a=%C3%A9"), ("a#b", "a%23b"),
            ("a=%20&b=%zz&c=%41", "a=%20&b=%25zz&c=%41"), ("%%41", "%25%41"), ("", ""),
            ("a=1&b=2", "a=1&b=2"),
        ])
    func mended(query: String, expected: String) throws {
        var components = try #require(URLComponents(string: "http://h/p#f"))
        components.setEncodedQuery(query)
        #expect(components.url?.absoluteString == "http://h/p?\(expected)#f")
    }
}
