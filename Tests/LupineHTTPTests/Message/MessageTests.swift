// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineHTTP

@Suite struct MessageTests {
    @Test(arguments: [
        (100, Status.Class.informational), (199, .informational), (200, .successful), (299, .successful),
        (300, .redirection), (399, .redirection), (400, .clientError), (499, .clientError),
        (500, .serverError), (599, .serverError), (600, .serverError), (999, .serverError),
    ])
    func classes(_ code: Int, _ kind: Status.Class) {
        #expect(Status(code).kind == kind)
        #expect(Status(code).description == String(code))
    }

    @Test func reasonsAreLegalAndUnknownCodesHaveNone() {
        for code in 100...999 {
            #expect(Status(code).standardReason.utf8.allSatisfy { OctetClass.contains($0, OctetClass.value) })
        }
        #expect(Status(404).standardReason == "Not Found")
        #expect(Status(299).standardReason == "")
        #expect(Status(200) < Status(201))
        #expect(HashableLaws.violations([[Status(200)], [Status(404), Status(404)]]) == [])
    }

    @Test func aHeadKeepsAnExplicitReason() {
        #expect(ResponseHead(status: Status(200)).reason == "OK")
        #expect(ResponseHead(status: Status(200), reason: "Fine").reason == "Fine")
        #expect(ResponseHead(status: Status(200), reason: "").reason == "")
        #expect(ResponseHead(status: Status(200), reason: "OK") == ResponseHead(status: Status(200)))
    }

    @Test(arguments: ["", "G T", "GET\r\n", "GE\0T", "GÉT", "G/T", "G:T"])
    func methodsAreTokens(_ name: String) {
        #expect(throws: HTTPError.invalidMethod(Excerpt(name))) { try Method(name) }
    }

    @Test(arguments: [
        ("GET", true), ("HEAD", true), ("PUT", true), ("DELETE", true), ("OPTIONS", true), ("TRACE", true),
        ("POST", false), ("PATCH", false), ("CONNECT", false), ("get", false), ("M-SEARCH", false),
    ])
    func idempotentMethods(_ name: String, _ expected: Bool) throws {
        let method = try Method(name)
        #expect(method.isIdempotent == expected)
        #expect(method.description == name)
        let octets = Array(name.utf8)
        #expect(Method(validated: octets.span, 0..<octets.count) == method)
    }

    @Test func theClientHasThreeLeniencies() {
        #expect(Leniency.strict.isEmpty)
        #expect(Leniency.client == [.bareLineFeed, .obsoleteFolding, .missingReason])
        #expect(Set([Leniency.bareLineFeed, .obsoleteFolding, .missingReason].map(\.rawValue)).count == 3)
    }
}
