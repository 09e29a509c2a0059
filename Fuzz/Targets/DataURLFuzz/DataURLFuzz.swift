// SPDX-License-Identifier: MIT
// Invariant: a data: URL that was read, and is written percent-encoded, is read again as an equal one.

import FuzzKit
import LupineLoading

/// The input is the part after `data:`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let text = String(decoding: input.readRemaining(), as: UTF8.self)
    require(DataURL(text) == nil || text.utf8.count >= 6, "an address that is too short")
    guard let data = DataURL("data:" + text) else { return 0 }
    require(text.utf8.contains(0x2C), "an address without a comma")
    require(data.content.count <= text.utf8.count, "more content than text")
    require(!data.mimeType.isEmpty && data.charset != "", "an empty type or encoding")
    var written = "data:" + encoded(data.mimeType.utf8)
    if let charset = data.charset { written += ";charset=" + encoded(charset.utf8) }
    written += "," + encoded(data.content)
    require(DataURL(written) == data, "read again from \(written.debugDescription)")
    return 0
}

private func encoded(_ octets: some Sequence<UInt8>) -> String {
    octets.map { octet in
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: String(UnicodeScalar(octet))
        default: "%" + (octet < 16 ? "0" : "") + String(octet, radix: 16)
        }
    }
    .joined()
}
