// SPDX-License-Identifier: MIT

package import LupineTestKit

/// The bodies of chaos requests and responses. They depend only on seed, number and length, so both sides know them. Each begins
/// with the name of its request.
package enum ChaosContent {
    /// The value of a decoded body.
    package struct Document: Codable, Hashable, Sendable {
        package let name: String
        package let filling: String
    }

    /// Returns the random numbers for one purpose of a request.
    package static func random(_ seed: UInt64, _ number: Int, purpose: UInt64) -> SeededRandom {
        var random = SeededRandom(seed: seed ^ (purpose &* 0xA24B_AED4_963E_E407))
        let first = random.next()
        return SeededRandom(seed: first ^ (UInt64(truncatingIfNeeded: number) &* 0x9FB2_1C65_1E98_DF25))
    }

    /// Returns the body of the response to a request of this form, with `size` octets after its name.
    package static func response(_ form: ChaosForm, seed: UInt64, number: Int, size: Int) -> [UInt8] {
        switch form {
        case .text: name(seed, number) + letters(size, seed, number, purpose: 1)
        case .decodable: json(document(seed: seed, number: number, size: size))
        case .data, .stream, .download, .placedDownload, .upload, .fileUpload, .post, .streamUpload, .form,
            .storedForm:
            name(seed, number) + octets(size, seed, number)
        }
    }

    /// Returns the body of a request: only letters, so that it cannot contain the end of a chunked body.
    package static func request(seed: UInt64, number: Int, size: Int) -> [UInt8] {
        name(seed, number) + letters(size, seed, number, purpose: 2)
    }

    /// Returns the boundary of a form.
    package static func boundary(seed: UInt64, number: Int) -> String { "chaos-\(seed)-\(number)" }

    /// Returns the encoded form (RFC 7578) that the origin expects: the request's name as a field, and the filling as a file.
    package static func multipart(_ filling: [UInt8], seed: UInt64, number: Int) -> [UInt8] {
        let boundary = boundary(seed: seed, number: number)
        let before = """
            --\(boundary)\r
            Content-Disposition: form-data; name="name"\r
            \r
            \(seed)/\(number)\r
            --\(boundary)\r
            Content-Disposition: form-data; name="filling"; filename="filling.txt"\r
            Content-Type: text/plain\r
            \r

            """
        return Array(before.utf8) + filling + Array("\r\n--\(boundary)--\r\n".utf8)
    }

    /// Returns the value of a decoded body.
    package static func document(seed: UInt64, number: Int, size: Int) -> Document {
        Document(
            name: "\(seed)/\(number)",
            filling: String(decoding: letters(size, seed, number, purpose: 1), as: UTF8.self))
    }

    private static func json(_ document: Document) -> [UInt8] {
        Array(#"{"name":"\#(document.name)","filling":"\#(document.filling)"}"#.utf8)
    }

    private static func name(_ seed: UInt64, _ number: Int) -> [UInt8] { Array("\(seed)/\(number): ".utf8) }

    private static func letters(_ count: Int, _ seed: UInt64, _ number: Int, purpose: UInt64) -> [UInt8] {
        var random = random(seed, number, purpose: purpose)
        return fill(count) { random.next() & 0x0F0F_0F0F_0F0F_0F0F | 0x6060_6060_6060_6060 }
    }

    private static func octets(_ count: Int, _ seed: UInt64, _ number: Int) -> [UInt8] {
        var random = random(seed, number, purpose: 3)
        return fill(count) { random.next() }
    }

    private static func fill(_ count: Int, _ next: () -> UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count {
            var word = next()
            for _ in 0..<8 {
                bytes.append(UInt8(truncatingIfNeeded: word))
                word >>= 8
            }
        }
        bytes.removeLast(bytes.count - max(count, 0))
        return bytes
    }
}
