// SPDX-License-Identifier: MIT
import Foundation
import LupineHTTP

/// What the codec can do, shown on a real conversation: `Scripts/demo` carries the bytes, this program makes and reads
/// them. Not a client: it has no socket.
///
///     WireDemo request HOST PORT PATH       the request's bytes, on standard output
///     WireDemo response < BYTES             what the response is made of, in words
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
        case ("request"?, 4):
            let words = Array(arguments.dropFirst())
            let port = UInt16(words[1]) ?? 80
            FileHandle.standardOutput.write(Data(try request(host: words[0], port: port, path: words[2])))
        case ("response"?, 1):
            try explain([UInt8](FileHandle.standardInput.readDataToEndOfFile()))
        default:
            print("WireDemo request HOST PORT PATH | WireDemo response < BYTES")
            exit(64)
        }
    }

    private static func head(host: String, port: UInt16, path: String) throws -> RequestHead {
        var fields = Fields()
        try fields.append(.connection, "close")
        let authority = try Authority(host: host, port: port, defaultPort: 80)
        return RequestHead(method: .get, target: .origin(path), authority: authority, fields: fields)
    }

    private static func request(host: String, port: UInt16, path: String) throws -> [UInt8] {
        var codec = ClientCodec()
        var bytes: [UInt8] = []
        try codec.send(try head(host: host, port: port, path: path), body: .none, into: &bytes)
        return bytes
    }

    private static func explain(_ bytes: [UInt8]) throws {
        // The codec reads a response in the light of the request it answers, so it sends one first.
        var codec = ClientCodec()
        var sent: [UInt8] = []
        try codec.send(try head(host: "localhost", port: 80, path: "/"), body: .none, into: &sent)

        var read = 0
        var body: [UInt8] = []
        var pieces = 0
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
                print("  framing   \(framing), connection \(keepAlive ? "stays" : "ends")")
            case .content(let range):
                pieces += 1
                for index in range { body.append(rest[index]) }
            case .end(let trailers):
                print("  body      \(body.count) bytes in \(pieces) pieces, \(trailers.count) trailers")
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
