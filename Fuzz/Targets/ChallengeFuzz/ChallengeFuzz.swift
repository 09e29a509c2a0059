// SPDX-License-Identifier: MIT
// Invariant: a challenge that was read, and is written with every value quoted, is read again as an equal challenge.

import FuzzKit
import LupineLoading

/// The input is the lines of a `WWW-Authenticate` field.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let lines = input.readRemaining().split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
    let challenges = ChallengeSyntax.parse(lines)
    for challenge in challenges {
        require(!challenge.scheme.isEmpty, "a challenge without a scheme")
        require(challenge.token68 == nil || challenge.parameters.isEmpty, "both forms in one challenge")
    }
    let text = challenges.map(written).joined(separator: ", ")
    require(ChallengeSyntax.parse([text]) == challenges, "read again from \(text.debugDescription)")
    return 0
}

/// Returns a challenge as text, with every value quoted.
private func written(_ challenge: ChallengeSyntax) -> String {
    if let token = challenge.token68 { return challenge.scheme + " " + token }
    let parameters = challenge.parameters.map { name, value in
        var quoted = ""
        for scalar in value.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return "\(name)=\"\(quoted)\""
    }
    return ([challenge.scheme] + [parameters.joined(separator: ", ")].filter { !$0.isEmpty })
        .joined(separator: " ")
}
