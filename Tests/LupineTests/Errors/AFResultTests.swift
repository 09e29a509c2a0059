// SPDX-License-Identifier: MIT

import Testing

@testable import Lupine

/// The properties and methods that `AFResult.swift` adds to `Result`.
struct AFResultTests {
    private typealias IntResult = Result<Int, InnerError>

    private let failure = InnerError(name: "first")
    private let later = InnerError(name: "later")

    @Test("a result is a success or a failure, with a value or an error")
    func parts() {
        let success = IntResult.success(1)
        #expect(success.isSuccess && !success.isFailure)
        #expect(success.success == 1)
        #expect(success.failure == nil)
        let failed = IntResult.failure(failure)
        #expect(failed.isFailure && !failed.isSuccess)
        #expect(failed.success == nil)
        #expect(failed.failure == failure)
        let typed: AFResult<Int> = .failure(.explicitlyCancelled)
        #expect(typed.failure?.isExplicitlyCancelledError == true)
    }

    @Test("an error takes precedence over a value")
    func initializer() {
        #expect(IntResult(value: 1, error: nil) == .success(1))
        #expect(IntResult(value: 1, error: failure) == .failure(failure))
    }

    @Test("`tryMap` transforms a value, catches an error, and keeps a failure")
    func tryMap() {
        #expect(IntResult.success(1).tryMap { "\($0)" }.success == "1")
        #expect(IntResult.success(1).tryMap { _ -> String in throw later }.failure as? InnerError == later)
        var called = false
        let kept = IntResult.failure(failure).tryMap { _ in called = true }
        #expect(kept.failure as? InnerError == failure)
        #expect(!called)
    }

    @Test("`tryMapError` transforms an error, catches an error, and keeps a value")
    func tryMapError() {
        #expect(IntResult.failure(failure).tryMapError { _ in later }.failure as? InnerError == later)
        let thrown = IntResult.failure(failure).tryMapError { _ -> AFError in throw later }
        #expect(thrown.failure as? InnerError == later)
        var called = false
        let kept = IntResult.success(1).tryMapError { error in
            called = true
            return error
        }
        #expect(kept.success == 1)
        #expect(!called)
    }
}
