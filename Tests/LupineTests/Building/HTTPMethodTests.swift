// SPDX-License-Identifier: MIT

import Testing

@testable import Lupine

struct HTTPMethodTests {
    @Test(
        "the known methods have their names in upper case",
        arguments: [
            (HTTPMethod.connect, "CONNECT"), (.delete, "DELETE"), (.get, "GET"), (.head, "HEAD"),
            (.options, "OPTIONS"), (.patch, "PATCH"), (.post, "POST"), (.put, "PUT"), (.query, "QUERY"),
            (.trace, "TRACE"),
        ])
    func known(_ method: HTTPMethod, _ word: String) {
        #expect(method.rawValue == word)
        #expect(method == HTTPMethod(rawValue: word))
    }

    @Test("[E-1.1] a method is stored and compared as written")
    func comparedAsWritten() {
        #expect(HTTPMethod(rawValue: "get") != .get)
        #expect(HTTPMethod(rawValue: "get").rawValue == "get")
        #expect(HTTPMethod(rawValue: " GET ").rawValue == " GET ")
    }

    @Test("[E-1.2] any string is a method, and methods are hashable", arguments: ["PURGE", "", "a b", "é"])
    func anyString(_ word: String) {
        #expect(HTTPMethod(rawValue: word).rawValue == word)
        #expect(Set([HTTPMethod(rawValue: word), HTTPMethod(rawValue: word), .get]).count == 2)
        #expect([HTTPMethod(rawValue: word): 1][HTTPMethod(rawValue: word)] == 1)
    }
}
