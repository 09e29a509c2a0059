// SPDX-License-Identifier: MIT

import FuzzKit

/// Makes a chunked body from the fuzzer's choices: mostly well-formed, with extensions, unusual sizes, trailers and, in some
/// inputs, one wrong octet.
enum ChunkBuilder {
    static func body(_ input: inout FuzzInput) -> [UInt8] {
        var body: [UInt8] = []
        let corruption = Int(input.readOctet()) << 8 | Int(input.readOctet())
        while !input.isEmpty, body.count < 4_096 {
            let shape = input.readOctet()
            // In some inputs the last chunk comes early, and the remaining input becomes trailers.
            let content = shape & 0x80 != 0 ? [] : input.readPiece()
            body += Array(String(content.count, radix: 16, uppercase: shape & 1 != 0).utf8)
            if shape & 2 != 0 { body.insert(contentsOf: [0x30, 0x30], at: body.count) }
            switch shape >> 2 & 7 {
            case 0: body += [0x3B] + input.readOctets(Int(shape >> 5))
            case 1: body += Array(" ;x=\"\t\"".utf8)
            case 2: body += [0x20, 0x09]
            default: break
            }
            body += [0x0D, 0x0A] + content
            if content.isEmpty { break }
            body += [0x0D, 0x0A]
        }
        while !input.isEmpty, body.count < 8_192 {
            let shape = input.readOctet()
            let names = ["X-A", "Content-Length", "x", "ETag", "Set-Cookie", "Trailer", "", "A "]
            let value = input.readOctets(Int(shape >> 4))
            body += Array(names[Int(shape & 7)].utf8) + [0x3A] + value + [0x0D, 0x0A]
        }
        body += [0x0D, 0x0A]
        let index = corruption >> 4
        if corruption & 15 != 0, index < body.count { body[index] ^= UInt8(1 << (corruption & 7)) }
        return body
    }
}
