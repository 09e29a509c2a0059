// SPDX-License-Identifier: MIT
// Invariant: any Content-Encoding list is read or refused, and its stack gives the same result for any division, within limits.
import CodingFuzzKit
import LupineCoding

/// The input is the list, up to the first line feed, and the body.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    let list = input.prefix { $0 != 0x0a }
    do throws(CodingError) {
        let codings = try ContentCoding.list(String(decoding: list, as: UTF8.self))
        precondition(codings.count <= ContentCoding.maximumStack && !codings.contains(.identity))
        CodingCheck(Array(input.dropFirst(list.count + 1)), codings)?.check()
    } catch {
        switch error {
        case .unknownCoding(let name): precondition(!name.isEmpty && name.utf8.count <= 3 * 64)
        case .tooManyCodings: break
        case .corrupt, .cutShort, .outputLimit, .ratioLimit, .memoryLimit:
            preconditionFailure("a list is not \(error)")
        }
    }
    return 0
}
