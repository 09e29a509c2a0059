// SPDX-License-Identifier: MIT

import FuzzKit
import LupineHTTP

/// Content in pieces, the announcement of its length, and trailers.
struct BodyPlan {
    let announced: OutgoingBody
    let pieces: [[UInt8]]
    let trailers: Fields

    var content: [UInt8] { pieces.flatMap { $0 } }

    init(_ input: inout FuzzInput) {
        let choice = input.readOctet()
        var pieces: [[UInt8]] = []
        for _ in 0..<(choice >> 4 & 3) { pieces.append(input.readPiece()) }
        let length = pieces.reduce(0) { $0 + $1.count }
        switch choice & 7 {
        case 0, 1: announced = .none
        case 2, 3: announced = .known(Int64(length))
        // A wrong length, which the encoder must detect.
        case 4: announced = .known(Int64(length) - 1 + Int64(choice >> 6))
        default: announced = .unknown
        }
        self.pieces = announced == .none ? [] : pieces
        trailers = choice & 8 != 0 ? FieldPlan.fields(&input) : Fields()
    }
}

/// Field lists of the fuzzer's choice.
enum FieldPlan {
    static func fields(_ input: inout FuzzInput) -> Fields {
        var fields = Fields()
        for _ in 0..<(input.readOctet() & 3) {
            let names = [
                "Host", "Connection", "Upgrade", "Content-Length", "Transfer-Encoding", "X-A", "Expect",
                "ETag",
            ]
            let choice = input.readOctet()
            let name =
                choice & 8 == 0 ? names[Int(choice & 7)] : String(decoding: input.readPiece(), as: UTF8.self)
            let value = input.readPiece()
            do { try fields.append(FieldName(name), value.span) } catch {
                require(error.fault == .local, "our own octets are called the peer's fault: \(error)")
            }
        }
        return fields
    }
}
