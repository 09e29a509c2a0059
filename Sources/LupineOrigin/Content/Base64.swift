// SPDX-License-Identifier: MIT

/// Base 64 encoding (RFC 4648 section 4), for credentials and for bodies that are not text.
enum Base64 {
    private static let letters = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encoded(_ bytes: [UInt8]) -> String {
        var output: [UInt8] = []
        output.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let count = min(3, bytes.count - index)
            var group: UInt32 = 0
            for place in 0..<3 { group = group << 8 | UInt32(place < count ? bytes[index + place] : 0) }
            for place in 0..<4 {
                let letter = letters[Int(group >> (18 - 6 * UInt32(place)) & 63)]
                output.append(place <= count ? letter : UInt8(ascii: "="))
            }
            index += 3
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns the decoded octets; nil if the text is not a whole number of groups or has characters outside the alphabet.
    static func decoded(_ text: some StringProtocol) -> [UInt8]? {
        let octets = Array(text.utf8)
        guard octets.count % 4 == 0 else { return nil }
        let padding = octets.suffix(2).filter { $0 == UInt8(ascii: "=") }.count
        var output: [UInt8] = []
        var group: UInt32 = 0
        for (index, octet) in octets.enumerated() {
            let isPadding = index >= octets.count - padding
            guard let value = isPadding ? 0 : letters.firstIndex(of: octet) else { return nil }
            group = group << 6 | UInt32(value)
            guard index % 4 == 3 else { continue }
            output += [16, 8, 0].map { UInt8(truncatingIfNeeded: group >> $0) }
            group = 0
        }
        output.removeLast(min(padding, output.count))
        return output
    }
}
