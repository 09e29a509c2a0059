// SPDX-License-Identifier: MIT

internal import LupineLoading

/// A check of the response that runs when a task has ended, on the root queue. It does not keep its request alive.
struct Validator: Sendable {
    /// Checks the response.
    let judge: @Sendable (URLRequest?, HTTPURLResponse) -> Request.ValidationResult
    /// Reports the result to the request's monitor.
    let report: @Sendable (URLRequest?, HTTPURLResponse, Request.ValidationResult) -> Void
}

extension Request {
    /// Adds a check. Both closures are called on the root queue, once per attempt, unless the request has failed before or
    /// has no HTTP response.
    func validate(
        judge: @escaping @Sendable (URLRequest?, HTTPURLResponse) -> ValidationResult,
        report: @escaping @Sendable (URLRequest?, HTTPURLResponse, ValidationResult) -> Void
    ) {
        mutableState.write { $0.validators.append(Validator(judge: judge, report: report)) }
    }

    /// Runs the checks until one fails, on the root queue.
    func run(_ validators: [Validator]) {
        guard let response else { return }
        for validator in validators {
            let request = request
            assertNoLockIsHeld()
            let result = validator.judge(request, response)
            if case .failure(let error) = result {
                self.error = error.asAFError(
                    or: .responseValidationFailed(reason: .customValidationFailed(error: error)))
            }
            validator.report(request, response, result)
            if self.error != nil { return }
        }
    }
}
