// SPDX-License-Identifier: MIT

/// Encodes labels of internationalized names in ASCII, as used in the DNS (RFC 3492).
///
/// Only the encoding: `URL` converts hosts to ASCII itself, so this is for names from other sources, such as the public suffix
/// list. Nothing is mapped or normalized.
enum Punycode {
    /// Returns the label in ASCII, with `xn--` if it was not ASCII; a label that is too long for any name is returned as it is.
    static func label(_ label: String) -> String {
        let scalars = label.unicodeScalars.map(\.value)
        if scalars.allSatisfy({ $0 < 0x80 }) || scalars.count > 63 { return label }
        var output = scalars.filter { $0 < 0x80 }.map { UInt8(truncatingIfNeeded: $0) }
        let basic = UInt32(output.count)
        if basic > 0 { output.append(0x2D) }
        var handled = basic
        var next: UInt32 = 0x80
        var delta: UInt32 = 0
        var bias: UInt32 = 72
        // At most 63 scalars below 2^21 keep every product below 2^32.
        while handled < scalars.count {
            guard let smallest = scalars.filter({ $0 >= next }).min() else { break }
            delta += (smallest - next) * (handled + 1)
            next = smallest
            for scalar in scalars {
                if scalar < next { delta += 1 }
                guard scalar == next else { continue }
                appendNumber(delta, bias, to: &output)
                bias = adapted(delta, count: handled + 1, isFirst: handled == basic)
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        return "xn--" + String(decoding: output, as: UTF8.self)
    }

    private static func appendNumber(_ number: UInt32, _ bias: UInt32, to output: inout [UInt8]) {
        var rest = number
        var position: UInt32 = 36
        while true {
            let threshold = position <= bias ? 1 : position >= bias + 26 ? 26 : position - bias
            if rest < threshold { break }
            let digit = threshold + (rest - threshold) % (36 - threshold)
            output.append(octet(digit))
            rest = (rest - threshold) / (36 - threshold)
            position += 36
        }
        output.append(octet(rest))
    }

    private static func adapted(_ delta: UInt32, count: UInt32, isFirst: Bool) -> UInt32 {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var steps: UInt32 = 0
        while delta > 455 {
            delta /= 35
            steps += 36
        }
        return steps + 36 * delta / (delta + 38)
    }

    private static func octet(_ digit: UInt32) -> UInt8 {
        UInt8(truncatingIfNeeded: digit < 26 ? 0x61 + digit : 0x30 + digit - 26)
    }
}
