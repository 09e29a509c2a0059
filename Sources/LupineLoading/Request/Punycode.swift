// SPDX-License-Identifier: MIT

/// Encodes labels of internationalized domain names in ASCII (RFC 3492), without mapping or normalizing them.
///
/// The numbers are the parameters of RFC 3492 §5: base 36, tmin 1, tmax 26, skew 38, damp 700, initial bias 72, initial n 0x80.
///
/// Used for names from sources other than URLs, such as the public suffix list: `URL` converts its host to ASCII itself.
enum Punycode {
    /// Returns the label in ASCII, with `xn--` if it was not ASCII. Returns a label that is too long for any name, more than 63
    /// octets (RFC 1035 §2.3.4), as it is.
    static func label(_ label: String) -> String {
        let scalars = label.unicodeScalars.map(\.value)
        if scalars.allSatisfy({ $0 < 0x80 }) || scalars.count > 63 { return label }
        var output = scalars.filter { $0 < 0x80 }.map { UInt8(truncatingIfNeeded: $0) }
        let basic = UInt32(output.count)
        if basic > 0 { output.append(UInt8(ascii: "-")) }
        var handledCount = basic
        var next: UInt32 = 0x80
        var delta: UInt32 = 0
        var bias: UInt32 = 72
        // At most 63 scalars below 2^21 keep every product below 2^32.
        while handledCount < scalars.count {
            guard let smallest = scalars.filter({ $0 >= next }).min() else { break }
            delta += (smallest - next) * (handledCount + 1)
            next = smallest
            for scalar in scalars {
                if scalar < next { delta += 1 }
                guard scalar == next else { continue }
                appendNumber(delta, bias, to: &output)
                bias = adapted(delta, count: handledCount + 1, isFirst: handledCount == basic)
                delta = 0
                handledCount += 1
            }
            delta += 1
            next += 1
        }
        return "xn--" + String(decoding: output, as: UTF8.self)
    }

    /// Appends a generalized variable-length integer (RFC 3492 §3.3).
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

    /// Returns the bias after a delta (RFC 3492 §6.1).
    private static func adapted(_ delta: UInt32, count: UInt32, isFirst: Bool) -> UInt32 {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var steps: UInt32 = 0
        // ((base - tmin) * tmax) / 2; below, base - tmin is 35.
        while delta > 455 {
            delta /= 35
            steps += 36
        }
        return steps + 36 * delta / (delta + 38)
    }

    /// Returns a digit in base 36: `a` (0x61) to `z` for 0 to 25, then `0` (0x30) to `9`.
    private static func octet(_ digit: UInt32) -> UInt8 {
        UInt8(truncatingIfNeeded: digit < 26 ? 0x61 + digit : 0x30 + digit - 26)
    }
}
