// SPDX-License-Identifier: MIT

import Foundation
import LupineTestKit
import Testing

@testable import LupineLoading

struct CookieCrashTests {
    @Test(
        "[U-13.15] a program that is killed in the middle of a write leaves a whole store, two hundred times")
    func killedWriters() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("cookies.jsonl")
        let products = CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false)
            .dropLast()
        let probe = products.joined(separator: "/") + "/lupine-loading-probe"
        // How many are stopped inside a write depends on the machine; the delays reach over several writes.
        var last = 0
        for round in 0..<200 {
            let end = try await Program.run(
                probe, ["cookies", file.path, String(round * 7_919 % 5_000)])
            #expect(end == .killed(SIGKILL))
            let cookies = HTTPCookieStorage(file: file).cookies ?? []
            let numbers = Set(cookies.compactMap { Int($0.value) })
            #expect(numbers.count == 1 && cookies.count == 50)
            let number = numbers.first ?? 0
            #expect(number > last)
            last = number
        }
    }
}
