// SPDX-License-Identifier: MIT
// Invariant: the credentials that a .netrc contains for a host are from the file, an entry for one host is not used for another,
// and a name and a password that are written are read again.

import Foundation
import FuzzKit

@testable import LupineCommand

/// The input is a name, a password, and a file.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let user = String(decoding: input.readPiece(), as: UTF8.self)
    let password = String(decoding: input.readPiece(), as: UTF8.self)
    let text = String(decoding: input.readRemaining(), as: UTF8.self)
    let found = NetrcFile(text)
    for host in ["h.test", "", "other.test"] {
        guard let credentials = found.credentials(for: host) else { continue }
        require(text.contains("machine") || text.contains("default"), "from nowhere: \(credentials)")
        require(
            !credentials.user.unicodeScalars.contains("\n")
                && !credentials.password.unicodeScalars.contains("\n"),
            "over a line's end: \(credentials)")
    }
    // Earlier entries are not changed by later ones.
    guard !(user + password).unicodeScalars.contains("\n") else { return 0 }
    let own = "machine own.test login \(quoted(user)) password \(quoted(password))\n"
    let both = NetrcFile(own + "machine fuzz.test\n" + text)
    require(
        both.credentials(for: "OWN.test") == Credentials(user: user, password: password), "read otherwise")
    return 0
}

private func quoted(_ word: String) -> String {
    "\"" + word.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined() + "\""
}
