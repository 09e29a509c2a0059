// SPDX-License-Identifier: MIT
import Foundation
import LupineCoding
import LupineHTTP

/// What the codec and the codings can do, shown on a real conversation: `Scripts/demo` carries the bytes, this program
/// makes and reads them. Not a client: it has no socket.
///
///     WireDemo request HOST PORT PATH CODINGS   the request's bytes, on standard output
///     WireDemo response < BYTES                 what the response is made of, in words
@main
struct WireDemo {
    static func main() {
        do {
            try run()
        } catch {
            print("  error     \(error)")
            exit(1)
        }
    }

    private static func run() throws {
        let arguments = CommandLine.arguments.dropFirst()
        switch (arguments.first, arguments.count) {
        case ("request"?, 5):
            let words = Array(arguments.dropFirst())
            let port = UInt16(words[1]) ?? 80
            let codings = try ContentCoding.list(words[3])
            let bytes = try request(host: words[0], port: port, path: words[2], codings: codings)
            FileHandle.standardOutput.write(Data(bytes))
        case ("response"?, 1):
            try explain([UInt8](FileHandle.standardInput.readDataToEndOfFile()))
        default:
            print("WireDemo request HOST PORT PATH CODINGS | WireDemo response < BYTES")
            exit(64)
        }
    }

    private static func head(
        host: String, port: UInt16, path: String, codings: [ContentCoding]
    ) throws -> RequestHead {
        var fields = Fields()
        let accepted = codings.isEmpty ? "identity" : ContentCoding.acceptEncoding(codings)
        try fields.append(.acceptEncoding, accepted)
        try fields.append(.connection, "close")
        let authority = try Authority(host: host, port: port, defaultPort: 80)
        return RequestHead(method: .get, target: .origin(path), authority: authority, fields: fields)
    }

    private static func request(
        host: String, port: UInt16, path: String, codings: [ContentCoding]
    ) throws -> [UInt8] {
        var codec = ClientCodec()
        var bytes: [UInt8] = []
        let head = try head(host: host, port: port, path: path, codings: codings)
        try codec.send(head, body: .none, into: &bytes)
        return bytes
    }

    private static func explain(_ bytes: [UInt8]) throws {
        // The codec reads a response in the light of the request it answers, so it sends one first.
        var codec = ClientCodec()
        var sent: [UInt8] = []
        let head = try head(host: "localhost", port: 80, path: "/", codings: [])
        try codec.send(head, body: .none, into: &sent)

        var read = 0
        var body: [UInt8] = []
        var received = 0
        var codings = CodingStream([])
        while true {
            let rest = bytes.span.extracting(read...)
            var (event, consumed) = try codec.next(rest)
            if case .needMore = event, read + consumed == bytes.count { event = try codec.peerClosed() }
            switch event {
            case .needMore: break
            case .interim(let head): print("  interim   \(head.status)")
            case .head(let head, let framing, let keepAlive):
                print("  head      \(head.version) \(head.status) \(head.reason)")
                for index in 0..<head.fields.count {
                    print("  field     \(head.fields.name(at: index)): \(head.fields.value(at: index))")
                }
                let applied = try ContentCoding.list(head.fields.values(of: .contentEncoding))
                codings = CodingStream(applied)
                print("  framing   \(framing), connection \(keepAlive ? "stays" : "ends")")
            case .content(let range):
                received += range.count
                try codings.push(rest.extracting(range)) { piece in
                    for index in piece.indices { body.append(piece[index]) }
                }
            case .end(let trailers):
                try codings.finish()
                print(
                    "  body      \(received) bytes received, \(body.count) decoded, \(trailers.count) trailers"
                )
                print("  begins    \(String(decoding: body.prefix(60), as: UTF8.self).debugDescription)")
                return
            case .handover:
                print("  handover  what follows is not HTTP")
                return
            }
            read += consumed
            if read == bytes.count, consumed == 0 { return }
        }
    }
}
