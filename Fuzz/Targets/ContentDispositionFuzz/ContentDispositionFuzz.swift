// SPDX-License-Identifier: MIT
// Invariant: the suggested file name of a response is one path component, whatever Content-Disposition contains, and a name that
// was quoted is read correctly.

import Foundation
import FuzzKit
import LupineLoading

private let home = URL(string: "https://files.example/a/b.html")

/// The input is a `Content-Disposition`, and also a name that is quoted in one.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let text = String(decoding: input.readRemaining(), as: UTF8.self)
    if let name = suggested(text) { check(name) }
    let name = String(String.UnicodeScalarView(text.unicodeScalars.filter { !isControl($0) }))
    // Iterates over scalars, because a quotation mark before a combining mark is still a quotation mark on the wire.
    var quoted = String.UnicodeScalarView()
    for scalar in name.unicodeScalars {
        if scalar == "\\" || scalar == "\"" { quoted.append("\\") }
        quoted.append(scalar)
    }
    guard let read = suggested("attachment; filename=\"\(String(quoted))\"") else { return 0 }
    check(read)
    let plain = String(String.UnicodeScalarView(name.unicodeScalars.map { $0 == "/" ? "_" : $0 }))
    require(
        read == (["", ".", ".."].contains(plain) ? "Unknown" : plain),
        "\(name.debugDescription) as \(read.debugDescription)")
    return 0
}

private func suggested(_ disposition: String) -> String? {
    guard let home else { return nil }
    return HTTPURLResponse(
        url: home, statusCode: 200, httpVersion: "HTTP/1.1",
        headerFields: ["Content-Disposition": disposition])?
        .suggestedFilename
}

private func check(_ name: String) {
    require(!["", ".", ".."].contains(name), "no name: \(name.debugDescription)")
    require(
        !name.unicodeScalars.contains { $0 == "/" || isControl($0) },
        "more than a name: \(name.debugDescription)")
}

private func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.generalCategory == .control }
