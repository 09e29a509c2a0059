// SPDX-License-Identifier: MIT
// Invariant: frames, however they are cut, are read exactly as by a slow reference reader of RFC 6455, and frames that one
// endpoint writes are read by the other.

import FuzzKit
import LupineHTTP

/// Octet 0 selects the role, the limit, compression and whether octets are read or frames are written; three more the cuts.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let choice = input.readOctet()
    let cuts = Cuts(&input)
    let role: WebSocketRole = choice & 1 == 0 ? .client : .server
    let allowsCompression = choice & 2 != 0
    let limit = choice & 4 == 0 ? 1 << 20 : 20
    if choice & 8 == 0 {
        let wire = input.readRemaining()
        let reader = ReferenceFrames(role: role, limit: limit, allowsCompression: allowsCompression)
        let expected = reader.read(wire)
        let codec = WebSocketCodec(role, messageLimit: limit, allowsCompression: allowsCompression)
        for cuts in [.none, cuts, .everywhere] {
            let actual = transcript(of: wire, cuts, by: codec)
            require(actual == expected, "the codec reads\n\(actual)\nthe reference\n\(expected)")
        }
    } else {
        let plan = FramePlan(&input, from: role)
        let other: WebSocketRole = role == .client ? .server : .client
        let codec = WebSocketCodec(other, allowsCompression: true)
        for cuts in [.none, cuts] {
            let actual = transcript(of: plan.wire, cuts, by: codec)
            require(actual == Transcript(events: plan.events), "sent\n\(plan.events)\nread\n\(actual)")
        }
    }
    return 0
}

/// The events of a reader.
struct Transcript: Equatable {
    var events: [WebSocketEvent] = []
    var failure: WebSocketError?
}

private func transcript(of wire: [UInt8], _ cuts: Cuts, by codec: WebSocketCodec) -> Transcript {
    var codec = codec
    var transcript = Transcript()
    for piece in cuts.pieces(of: wire) {
        var remaining = piece[...]
        feeding: while true {
            do throws(WebSocketError) {
                let (event, consumed) = try codec.next(remaining.span)
                remaining = remaining.dropFirst(consumed)
                if case .needMore = event {
                    require(remaining.isEmpty, "octets left over with needMore")
                    break feeding
                }
                transcript.events.append(event)
            } catch {
                transcript.failure = error
                requireSameErrorAgain(&codec, error)
                return transcript
            }
        }
    }
    return transcript
}

/// Requires that a codec that has thrown an error throws the same error again, and that its close code can be sent.
private func requireSameErrorAgain(_ codec: inout WebSocketCodec, _ error: WebSocketError) {
    let more: [UInt8] = [0x81]
    do throws(WebSocketError) {
        _ = try codec.next(more.span)
        require(false, "a broken codec reads on")
    } catch let again {
        require(again == error, "another error: \(again)")
    }
    let code = WebSocketCloseFrame(answering: error).code
    require(code?.isAllowedInFrames == true, "an answer that may not be sent: \(String(describing: code))")
}
