// SPDX-License-Identifier: MIT
// Invariant: a cookie file gives cookies that are lines of it; written they are the same again, a line for each, none for another domain.

import Foundation
import FuzzKit
import Lupine

@testable import LupineCommand

/// The input is the file.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let text = String(decoding: input.rest(), as: UTF8.self)
    let cookies = NetscapeCookieFile.cookies(text)
    let lines = text.unicodeScalars.count { $0 == "\n" } + 1
    require(cookies.count <= lines, "more cookies than lines")
    let written = NetscapeCookieFile.text(cookies)
    let again = NetscapeCookieFile.cookies(written)
    let domains = Set(cookies.map(\.domain))
    require(again.allSatisfy { domains.contains($0.domain) }, "a cookie for another domain")
    // Those that could be read otherwise are left out, and none is added.
    require(again.count <= cookies.count, "more cookies than were written")
    require(NetscapeCookieFile.text(again) == written, "read otherwise when written")
    return 0
}
