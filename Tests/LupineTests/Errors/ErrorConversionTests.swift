// SPDX-License-Identifier: MIT

import Testing

@testable import Lupine

struct ErrorConversionTests {
    @Test("an error that is an AFError is one, another is not")
    func cast() {
        let error: any Error = AFError.explicitlyCancelled
        #expect(error.asAFError?.isExplicitlyCancelledError == true)
        #expect(InnerError(name: "inner").asAFError == nil)
    }

    @Test("an AFError comes out, and neither the message nor the default is asked for")
    func castOrElse() {
        var asked = false
        func ask<Answer>(_ answer: Answer) -> Answer {
            asked = true
            return answer
        }
        let error: any Error = AFError.explicitlyCancelled
        #expect(error.asAFError(orFailWith: ask("no")).isExplicitlyCancelledError)
        #expect(error.asAFError(or: ask(.sessionDeinitialized)).isExplicitlyCancelledError)
        #expect(!asked)
        let other = InnerError(name: "inner")
        #expect(other.asAFError(or: ask(.sessionDeinitialized)).isSessionDeinitializedError)
        #expect(asked)
    }

    @Test("another error stops the program, with the message")
    func stops() async throws {
        let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = InnerError(name: "inner").asAFError(orFailWith: "this is why")
        }
        let said = String(decoding: try #require(end).standardErrorContent, as: UTF8.self)
        #expect(said.contains("this is why"))
    }
}
