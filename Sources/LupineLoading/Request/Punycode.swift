// SPDX-License-Identifier: MIT

/// Encodes labels of internationalized domain names in ASCII (RFC 3492), without mapping or normalizing them.
///
/// The code follows the pseudocode in RFC 3492 §6.
///
/// Used for names from sources other than URLs, such as the public suffix list: `URL` converts its host to ASCII itself.
enum Punycode {
    /// The maximum length of a label in octets (RFC 1035 §2.3.4).
    private static let maxLabelLength = 63

    // The parameters of RFC 3492 §5.
    private static let base: UInt32 = 36
    private static let minThreshold: UInt32 = 1
    private static let maxThreshold: UInt32 = 26
    private static let skew: UInt32 = 38
    private static let damp: UInt32 = 700
    private static let initialBias: UInt32 = 72
    /// The first scalar that is not ASCII; the initial `n` in the RFC.
    private static let initialScalar: UInt32 = 0x80

    /// Returns the label in ASCII. A label that contains other characters is encoded and begins with `xn--`. A label that is too
    /// long for any domain name is returned unchanged.
    static func label(_ label: String) -> String {
        let scalars = label.unicodeScalars.map(\.value)
        if scalars.allSatisfy({ $0 < initialScalar }) || scalars.count > maxLabelLength { return label }
        // The output begins with the ASCII ("basic") characters of the label.
        var output = scalars.filter { $0 < initialScalar }.map { UInt8(truncatingIfNeeded: $0) }
        let basicCount = UInt32(output.count)
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }
        var encodedCount = basicCount
        // The smallest scalar that may still have to be encoded; `n` in the RFC.
        var next = initialScalar
        var delta: UInt32 = 0
        var bias = initialBias
        // The arithmetic cannot overflow: with at most 63 scalars below 2^21, every product is below 2^32.
        while encodedCount < scalars.count {
            // A scalar is found as long as characters have to be encoded.
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
        // Advances by `base` for each digit; `k` in the RFC.
        var position = base
        while true {
            let threshold = position <= bias ? minThreshold : min(position - bias, maxThreshold)
            if quotient < threshold { break }
            let digit = threshold + (quotient - threshold) % (base - threshold)
            output.append(octet(digit))
            quotient = (quotient - threshold) / (base - threshold)
            position += base
        }
        output.append(octet(quotient))
    }

    /// Returns the bias for the number after `delta` (RFC 3492 §6.1).
    private static func adaptedBias(_ delta: UInt32, count: UInt32, isFirst: Bool) -> UInt32 {
        var delta = isFirst ? delta / damp : delta / 2
        delta += delta / count
        var bias: UInt32 = 0
        while delta > (base - minThreshold) * maxThreshold / 2 {
            delta /= base - minThreshold
            bias += base
        }
        return bias + (base - minThreshold + 1) * delta / (delta + skew)
    }

    /// Returns a digit in base 36: `a` (0x61) to `z` for 0 to 25, then `0` (0x30) to `9`.
    private static func octet(_ digit: UInt32) -> UInt8 {
        UInt8(truncatingIfNeeded: digit < 26 ? 0x61 + digit : 0x30 + digit - 26)
    }
}
