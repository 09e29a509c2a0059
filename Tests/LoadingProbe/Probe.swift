// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Glibc
import LupineLoading

/// Writes to a store until it is killed in the middle of it: `cookies FILE MICROSECONDS`.
///
/// Every round of cookies goes into the store in one call and carries the round's number, so that whoever reads the file
/// afterwards can tell a whole round from the pieces of one. The first round is whole in any case.
@main struct Probe {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, arguments[1] == "cookies", let delay = Int(arguments[3]),
            let url = URL(string: "https://www.example.org/")
        else {
            print("usage: lupine-loading-probe cookies FILE MICROSECONDS")
            exit(2)
        }
        let storage = HTTPCookieStorage(file: URL(fileURLWithPath: arguments[2]))
        var round = (storage.cookies?.first?.value).flatMap { Int($0) } ?? 0
        var isWarm = false
        while true {
            round += 1
            let lines = (0..<50).map { "c\($0)=\(round); Max-Age=100000" }.joined(separator: ", ")
            let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": lines], for: url)
            storage.setCookies(cookies, for: url, mainDocumentURL: nil)
            let written = DispatchSemaphore(value: 0)
            storage.flush { written.signal() }
            written.wait()
            if isWarm { continue }
            isWarm = true
            DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(delay)) {
                kill(getpid(), SIGKILL)
            }
        }
    }
}
