// SPDX-License-Identifier: MIT

import Testing

@testable import Lupine

/// The conversion of an error to an `AFError`.
struct ErrorConversionTests {
    @Test("`asAFError` returns an AFError, and nil for another error")
    func cast() {
        let error: any Error = AFError.explicitlyCancelled
        #expect(error.asAFError?.isExplicitlyCancelledError == true)
        #expect(InnerError(name: "inner").asAFError == nil)
    }

    @Test("for an AFError neither the message nor the default is evaluated")
    func castOrElse() {
        var isEvaluated = false
        func evaluate<Value>(_ value: Value) -> Value {
            isEvaluated = true
            return value
        }
        let error: any Error = AFError.explicitlyCancelled
        #expect(error.asAFError(orFailWith: evaluate("no")).isExplicitlyCancelledError)
        #expect(error.asAFError(or: evaluate(.sessionDeinitialized)).isExplicitlyCancelledError)
        #expect(!isEvaluated)
        let other = InnerError(name: "inner")
        #expect(other.asAFError(or: evaluate(.sessionDeinitialized)).isSessionDeinitializedError)
        #expect(isEvaluated)
    }

    @Test("another error traps with the message")
    func traps() async throws {
        let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = InnerError(name: "inner").asAFError(orFailWith: "this is why")
        }
        let output = String(decoding: try #require(end).standardErrorContent, as: UTF8.self)
        #expect(output.contains("this is why"))
    }
}
