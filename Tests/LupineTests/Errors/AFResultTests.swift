// SPDX-License-Identifier: MIT

import Testing

@testable import Lupine

struct AFResultTests {
    private typealias Made = Result<Int, InnerError>

    private let failure = InnerError(name: "first")
    private let later = InnerError(name: "later")

    @Test("a result is a success or a failure, and gives what it has")
    func parts() {
        let success = Made.success(1)
        #expect(success.isSuccess && !success.isFailure)
        #expect(success.success == 1)
        #expect(success.failure == nil)
        let failed = Made.failure(failure)
        #expect(failed.isFailure && !failed.isSuccess)
        #expect(failed.success == nil)
        #expect(failed.failure == failure)
        let typed: AFResult<Int> = .failure(.explicitlyCancelled)
        #expect(typed.failure?.isExplicitlyCancelledError == true)
    }

    @Test("an error wins over a value")
    func made() {
        #expect(Made(value: 1, error: nil) == .success(1))
        #expect(Made(value: 1, error: failure) == .failure(failure))
    }

    @Test("tryMap transforms a value, catches, and leaves a failure alone")
    func tryMap() {
        #expect(Made.success(1).tryMap { "\($0)" }.success == "1")
        #expect(Made.success(1).tryMap { _ -> String in throw later }.failure as? InnerError == later)
        var called = false
        let kept = Made.failure(failure).tryMap { _ in called = true }
        #expect(kept.failure as? InnerError == failure)
        #expect(!called)
    }

    @Test("tryMapError transforms an error, catches, and leaves a value alone")
    func tryMapError() {
        #expect(Made.failure(failure).tryMapError { _ in later }.failure as? InnerError == later)
        let thrown = Made.failure(failure).tryMapError { _ -> AFError in throw later }
        #expect(thrown.failure as? InnerError == later)
        var called = false
        let kept = Made.success(1).tryMapError { error in
            called = true
            return error
        }
        #expect(kept.success == 1)
        #expect(!called)
    }
}
