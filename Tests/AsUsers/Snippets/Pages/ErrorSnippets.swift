// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineTransport
import Testing

/// The snippets of `Errors.md`, run; and a check that the page has a row for every case of `AFError` and of its reasons.
@Suite(.timeLimit(.minutes(10))) struct ErrorSnippets {
    @Test func looking() async throws {
        let response = await AF.request("http://127.0.0.1:1/").serializingData().response
        if let error = response.error?.underlyingError as? URLError {
            print(error.code, error.failingURL?.host() ?? "")
            print(error.userInfo[NSUnderlyingErrorKey] as? TransportError ?? "")
        }
        let error = try #require(response.error?.underlyingError as? URLError)
        #expect(error.code == .cannotConnectToHost)
        #expect(error.userInfo[NSUnderlyingErrorKey] is TransportError)
    }

    @Test func switching() async throws {
        try await API.serve { api in
            var advice = ""
            let result = await AF.request("\(api)/status/429").validate().serializingData().result
            switch result {
            case .success: advice = "done"
            case .failure(.explicitlyCancelled): advice = "nothing to say"
            case .failure(.responseValidationFailed(.unacceptableStatusCode(code: 429))): advice = "later"
            case .failure(let error): advice = error.localizedDescription
            }
            #expect(advice == "later")
        }
    }

    @Test func everyCaseHasItsRow() throws {
        let source = try String(
            contentsOf: Page.root.appending(path: "Sources/Lupine/Errors/AFError.swift"), encoding: .utf8)
        // The cases of an enumeration are indented one step more than its declaration.
        var owners: [Int: String] = [:]
        var cases: [String] = []
        for line in source.split(separator: "\n") {
            let depth = line.prefix { $0 == " " }.count
            if let match = line.firstMatch(of: /public (?:indirect )?enum (\w+)/) {
                owners[depth + 4] = String(match.1)
            }
            guard let match = line.firstMatch(of: /^ *case (\w+)/), let owner = owners[depth] else {
                continue
            }
            cases.append(owner == "AFError" ? String(match.1) : "\(owner) \(match.1)")
        }
        #expect(cases.count > 50)
        var heading = ""
        var named: Set<String> = []
        for line in try Page("Errors.md").text.split(separator: "\n") {
            if let match = line.firstMatch(of: /^##+ .*`(\w+)`/) { heading = String(match.1) }
            if line.hasPrefix("## "), line.contains("`AFError`") { heading = "AFError" }
            if let match = line.firstMatch(of: /^\| `(\w+)` \|/) {
                named.insert(heading == "AFError" ? String(match.1) : "\(heading) \(match.1)")
            }
        }
        #expect(Set(cases).subtracting(named).sorted() == [])
        let others = named.filter { $0.hasPrefix("URLError ") }
        #expect(named.subtracting(others).subtracting(cases).sorted() == [])
    }
}
