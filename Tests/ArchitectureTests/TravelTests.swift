// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Tests of the list of the files through which a plain GET passes.
struct TravelTests {
    @Test func aPlainRequestPassesFewFiles() throws {
        let page = try Repository.here.text("Documentation/Lupine.docc/HowARequestTravels.md")
        let paths = page.matches(of: /(?m)^(\d+)\. `(Lupine\w*\/[\w\/+]+\.swift)`/)
        #expect(paths.map { Int($0.1) } == Array(1...paths.count))
        #expect(20...30 ~= paths.count)
        #expect(Set(paths.map(\.2)).count == paths.count)
        for path in paths {
            let text = try? Repository.here.text("Sources/\(path.2)")
            #expect(text != nil, "\(path.2)")
        }
    }
}
