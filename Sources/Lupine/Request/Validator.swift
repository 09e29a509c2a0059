// SPDX-License-Identifier: MIT

internal import LupineLoading

/// A check of the response that runs on the root queue when a task has ended. The request passes itself to the closures, so that
/// they need no reference to it: a weak one would make every later use of the request's reference count slower.
struct Validator: Sendable {
    /// Checks the response.
    let check: @Sendable (Request, URLRequest?, HTTPURLResponse) -> Request.ValidationResult
    /// Reports the result to the request's monitors.
    let report: @Sendable (Request, URLRequest?, HTTPURLResponse, Request.ValidationResult) -> Void

    /// Runs the validators until one fails, and stores its error. Called on the root queue.
    static func run(_ validators: [Validator], for request: Request) {
        guard let response = request.response else { return }
        for validator in validators {
            let urlRequest = request.request
            assertNoLockIsHeld()
            let result = validator.check(request, urlRequest, response)
            if case .failure(let error) = result {
                request.error = error.asAFError(
                    or: .responseValidationFailed(reason: .customValidationFailed(error: error)))
            }
            validator.report(request, urlRequest, response, result)
            // The error is also set if the validator, which is the program's code, has cancelled the request.
            if request.error != nil { return }
        }
    }
}

extension Request {
    /// Adds a validator. Both closures are called on the root queue, once per attempt. They are not called if the attempt has
    /// failed before or has no HTTP response.
    ///
    /// - Parameters:
    ///   - check: Checks the response.
    ///   - report: Reports the result to the request's monitors.
    func validate(
        check: @escaping @Sendable (Request, URLRequest?, HTTPURLResponse) -> ValidationResult,
        report: @escaping @Sendable (Request, URLRequest?, HTTPURLResponse, ValidationResult) -> Void
    ) {
        mutableState.write { $0.validators.append(Validator(check: check, report: report)) }
    }
}
