// SPDX-License-Identifier: MIT

import Foundation
import LupineCoding
import LupineHTTP

/// The values of the default header fields, which are added to requests that lack them (U-9.1). Computed once for the process.
package enum DefaultFields {
    /// The value of `Accept-Encoding`: all content codings that can be decoded.
    static let acceptEncoding = (["gzip", "deflate"] + (ContentCoding.decodable.contains(.br) ? ["br"] : []))
        .joined(separator: ", ")

    /// The value of `Accept-Language`: the user's languages in order of preference. Nil if the locale names none; the field is
    /// then not sent.
    static let acceptLanguage = makeAcceptLanguage(listing: UserLanguages.preferred)

    /// The value of `User-Agent`: the names and versions of the program and the library.
    static let userAgent = makeUserAgent(
        process: ProcessInfo.processInfo.processName,
        version: Bundle.main.infoDictionary?["CFBundleShortVersionString"] as? String)

    /// The version of this library: the newest one in CHANGELOG.md.
    package static let version = "1.0.0"

    /// Returns the language tags as a value of `Accept-Language` (RFC 9110 §12.5.4), with weights of 1, 0.9, 0.8 and so on; nil
    /// for none. There must be at most six tags.
    static func makeAcceptLanguage(listing tags: [String]) -> String? {
        guard !tags.isEmpty else { return nil }
        return tags.enumerated().map { index, tag in
            // The first tag has the default weight of 1.
            index == 0 ? tag : "\(tag);q=0.\(10 - index)"
        }.joined(separator: ", ")
    }

    /// Returns a value of `User-Agent` with a product for the program and one for the library (RFC 9110 §10.1.5). Characters that
    /// a token cannot contain become `_`.
    static func makeUserAgent(process: String, version: String?) -> String {
        let name = token(process)
        return "\(name.isEmpty ? "program" : name)/\(token(version ?? "1.0")) Lupine/\(Self.version)"
    }

    /// Returns `text` with `_` in place of the characters that a token cannot contain.
    private static func token(_ text: String) -> String {
        String(
            text.unicodeScalars.map { scalar -> Character in
                guard scalar.isASCII,
                    isLetterOrDigit(UInt8(scalar.value)) || "-._".unicodeScalars.contains(scalar)
                else { return "_" }
                return Character(scalar)
            })
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}
