// SPDX-License-Identifier: MIT
// Invariant: a message that is encoded without an error is parsed to the same message by the other side, and is one message, not
// two.

import FuzzKit
import LupineHTTP

/// The octets select a request with its body, and then the response to it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    var client = ClientCodec(leniency: .strict)
    var server = ServerCodec()
    guard let request = RequestPlan(&input), request.sendAndCompare(&client, &server) else { return 0 }
    if let response = ResponsePlan(&input, to: request) { response.sendAndCompare(&client, &server) }
    return 0
}
