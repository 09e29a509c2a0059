// SPDX-License-Identifier: MIT
// Invariant: a SOCKS5 proxy's bytes lead to the same end however they are cut, and no byte after the proxy's last response is
// consumed.
import LupineTransport

/// The end of a conversation.
private enum End: Equatable {
    case open
    case established(Int)
    case failed(SocksError)
}

/// Octet 0 selects the destination and the credentials, octet 1 the length of the pieces; the rest is the proxy's output.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard input.count >= 2 else { return 0 }
    let bytes = Array(input[2...])
    let single = end(of: bytes, in: 1, choice: input[0])
    let pieces = end(of: bytes, in: max(1, Int(input[1])), choice: input[0])
    // Only a longer piece can contain a response to a request that was not sent yet.
    if case .failed(.unsolicitedBytes) = pieces { return 0 }
    precondition(single == pieces, "\(single) one by one, \(pieces) in pieces")
    return 0
}

/// Passes the proxy's output to a machine in pieces. Returns how the conversation ends.
private func end(of bytes: [UInt8], in length: Int, choice: UInt8) -> End {
    let credentials =
        choice & 1 == 0 ? nil : ProxyServer.Credentials(user: Array("user".utf8), password: Array("pw".utf8))
    let destination: SocksMachine.Destination =
        choice & 2 == 0 ? .name("host.example") : .ip(.v6(.loopback))
    do throws(SocksError) {
        var machine = try SocksMachine(destination: destination, port: 443, credentials: credentials)
        _ = machine.start()
        var consumedTotal = 0
        while consumedTotal < bytes.count {
            let piece = Array(bytes[consumedTotal..<min(consumedTotal + length, bytes.count)])
            switch try machine.receive(piece.span) {
            case .needsMore: consumedTotal += piece.count
            case .send(let answer):
                precondition(!answer.isEmpty)
                consumedTotal += piece.count
            case .established(let consumed):
                precondition(consumed >= 1 && consumed <= piece.count)
                return .established(consumedTotal + consumed)
            }
        }
        return .open
    } catch { return .failed(error) }
}
