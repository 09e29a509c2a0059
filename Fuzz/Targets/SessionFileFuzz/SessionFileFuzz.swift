// SPDX-License-Identifier: MIT
// Invariant: a session file is refused or read. Sessions that were read are equal after they are written and read again, and
// those without an origin belong to the origin of the caller.

import Foundation
import FuzzKit
import Lupine

@testable import LupineCommand

/// The input is the file.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let data = Data(input.readRemaining())
    let origin = SessionOrigin(scheme: "https", host: "h.test")
    guard let sessions = try? SessionStore.sessions(in: data, for: origin) else { return 0 }
    for (owner, session) in sessions {
        require(SessionOrigin(text: owner.text) == owner, "an origin that is none: \(owner.text)")
        require(
            !owner.folder.contains("/") && owner.folder.utf8.count > 4, "a folder elsewhere: \(owner.folder)")
        for cookie in session.storedCookies {
            let pair = "\(cookie.name)=\(cookie.value)"
            require(!pair.utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }, "no pair: \(pair)")
        }
    }
    // `sessions(in:for:)` refuses numbers that are valid JSON but too large for a Double, so writing must succeed.
    guard let text = try? SessionStore.text(sessions),
        let again = try? SessionStore.sessions(
            in: text, for: SessionOrigin(scheme: "http", host: "other.test"))
    else { fatalError("what was read cannot be written and read again") }
    require(again == sessions, "read otherwise when written")
    return 0
}
