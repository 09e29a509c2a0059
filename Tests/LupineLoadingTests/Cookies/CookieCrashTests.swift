// SPDX-License-Identifier: MIT

import Foundation
import LupineTestKit
import Testing

@testable import LupineLoading

struct CookieCrashTests {
    @Test(
        "[U-13.15] a program that is killed during a write leaves a whole store, two hundred times")
    func killedWriters() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("cookies.jsonl")
        let products = CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false)
            .dropLast()
        let probe = products.joined(separator: "/") + "/lupine-loading-probe"
        var last = 0
        var hasBeenCutShort = false
        for round in 0..<200 {
            let end = try await Program.run(
                probe,
                [round % 2 == 0 ? "cookies" : "draft", file.path, String(round * 7_919 % 5_000)])
            #expect(end == .killed(SIGKILL))
            let cookies = HTTPCookieStorage(file: file).cookies ?? []
            let numbers = Set(cookies.compactMap { Int($0.value) })
            #expect(numbers.count == 1 && cookies.count == 50)
            let number = numbers.first ?? 0
            #expect(number > last)
            last = number
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            hasBeenCutShort = hasBeenCutShort || names.contains { $0.hasPrefix(".") }
        }
        // Some writers were killed in the middle of a write.
        #expect(hasBeenCutShort, "of \(last) writes none was cut short")
    }
}
