// SPDX-License-Identifier: MIT
// Invariant: a cookie file contains at most one cookie per line. Cookies that are written are read again, one line each, and none
// for another domain.

import Foundation
import FuzzKit
import Lupine

@testable import LupineCommand

/// The input is the file.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let text = String(decoding: input.readRemaining(), as: UTF8.self)
    let cookies = NetscapeCookieFile.cookies(text)
    let lines = text.unicodeScalars.count { $0 == "\n" } + 1
    require(cookies.count <= lines, "more cookies than lines")
    let written = NetscapeCookieFile.text(cookies)
    let again = NetscapeCookieFile.cookies(written)
    let domains = Set(cookies.map(\.domain))
    require(again.allSatisfy { domains.contains($0.domain) }, "a cookie for another domain")
    // Cookies that could be read differently are omitted, and none is added.
    require(again.count <= cookies.count, "more cookies than were written")
    require(NetscapeCookieFile.text(again) == written, "read otherwise when written")
    return 0
}
