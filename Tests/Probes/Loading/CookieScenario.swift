// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading

/// Rounds of cookies: each is stored with one call.
struct CookieScenario {
    let file: String

    /// Writes rounds until the process is killed, and calls `isWarm` after the first.
    func write(until isWarm: () -> Void) {
        guard let url = URL(string: "https://www.example.org/") else { return }
        let storage = HTTPCookieStorage(file: URL(fileURLWithPath: file))
        var round = (storage.cookies?.first?.value).flatMap { Int($0) } ?? 0
        var isFirst = true
        while true {
            round += 1
            let lines = (0..<50).map { "c\($0)=\(round); Max-Age=100000" }.joined(separator: ", ")
            let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": lines], for: url)
            storage.setCookies(cookies, for: url, mainDocumentURL: nil)
            let written = DispatchSemaphore(value: 0)
            storage.flush { written.signal() }
            written.wait()
            if isFirst { isWarm() }
            isFirst = false
        }
    }
}
