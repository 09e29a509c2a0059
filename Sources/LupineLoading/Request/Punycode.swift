// SPDX-License-Identifier: MIT

/// Encodes labels of internationalized domain names in ASCII (RFC 3492), without mapping or normalizing them.
///
/// The code follows the pseudocode in RFC 3492 §6. Its numbers are the parameters of §5: base 36, tmin 1, tmax 26, skew 38, damp
/// 700, initial bias 72, initial n 0x80.
///
/// Used for names from sources other than URLs, such as the public suffix list: `URL` converts its host to ASCII itself.
enum Punycode {
    /// The maximum length of a label in octets (RFC 1035 §2.3.4).
    private static let maxLabelLength = 63

    /// Returns the label in ASCII. A label that contains other characters is encoded and begins with `xn--`. A label that is too
    /// long for any domain name is returned unchanged.
    static func label(_ label: String) -> String {
        let scalars = label.unicodeScalars.map(\.value)
        if scalars.allSatisfy({ $0 < 0x80 }) || scalars.count > maxLabelLength { return label }
        // The output begins with the ASCII ("basic") characters of the label.
        var output = scalars.filter { $0 < 0x80 }.map { UInt8(truncatingIfNeeded: $0) }
        let basicCount = UInt32(output.count)
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }
        var encodedCount = basicCount
        // The smallest scalar that may still have to be encoded; `n` in the RFC.
        var next: UInt32 = 0x80
        var delta: UInt32 = 0
        var bias: UInt32 = 72
        // The arithmetic cannot overflow: with at most 63 scalars below 2^21, every product is below 2^32.
        while encodedCount < scalars.count {
            guard let smallest = scalars.filter({ $0 >= next }).min() else { break }
            delta += (smallest - next) * (encodedCount + 1)
            next = smallest
            for scalar in scalars {
                if scalar < next { delta += 1 }
                guard scalar == next else { continue }
                appendNumber(delta, bias, to: &output)
                bias = adaptedBias(delta, count: encodedCount + 1, isFirst: encodedCount == basicCount)
                delta = 0
                encodedCount += 1
            }
            delta += 1
            next += 1
        }
        return "xn--" + String(decoding: output, as: UTF8.self)
    }

    /// Appends a number as a generalized variable-length integer (RFC 3492 §3.3).
    private static func appendNumber(_ number: UInt32, _ bias: UInt32, to output: inout [UInt8]) {
        var quotient = number
        var position: UInt32 = 36
        while true {
            let threshold = position <= bias ? 1 : min(position - bias, 26)
            if quotient < threshold { break }
            let digit = threshold + (quotient - threshold) % (36 - threshold)
            output.append(octet(digit))
            quotient = (quotient - threshold) / (36 - threshold)
            position += 36
        }
        output.append(octet(quotient))
    }

    /// Returns the bias for the number after `delta` (RFC 3492 §6.1).
    private static func adaptedBias(_ delta: UInt32, count: UInt32, isFirst: Bool) -> UInt32 {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var bias: UInt32 = 0
        // 35 is base - tmin, and 455 is ((base - tmin) * tmax) / 2.
        while delta > 455 {
            delta /= 35
            bias += 36
        }
        // 36 is base - tmin + 1, and 38 is skew.
        return bias + 36 * delta / (delta + 38)
    }

    /// Returns a digit in base 36: `a` (0x61) to `z` for 0 to 25, then `0` (0x30) to `9`.
    private static func octet(_ digit: UInt32) -> UInt8 {
        UInt8(truncatingIfNeeded: digit < 26 ? 0x61 + digit : 0x30 + digit - 26)
    }
}
