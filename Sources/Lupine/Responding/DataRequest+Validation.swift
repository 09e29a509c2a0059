// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

// Validators run on the request's queue, in the order in which they were added, when a task has completed; again on
// every retry. One that fails fails the request, and those after it do not run.

extension DataRequest {
    /// Judges a response: the request as it was sent, the response, the content.
    public typealias Validation = @Sendable (URLRequest?, HTTPURLResponse, Data?) -> ValidationResult

    /// Has `validation` judge the response. An error that is no `AFError` becomes `customValidationFailed`.
    @preconcurrency
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        validate(isPrograms: true, validation)
    }

    private func validate(isPrograms: Bool, _ validation: @escaping Validation) -> Self {
        validate(
            isPrograms: isPrograms,
            judge: { [weak self] request, response in validation(request, response, self?.data) },
            report: { [weak self] request, response, result in
                guard let self else { return }
                eventMonitor?.request(
                    self, didValidateRequest: request, response: response, data: data, withResult: result)
            })
        return self
    }

    /// Fails the request with `unacceptableStatusCode` unless its response's status code is among these.
    @preconcurrency
    @discardableResult
    public func validate<S: Sequence & Sendable>(statusCode acceptableStatusCodes: S) -> Self
    where S.Element == Int {
        validate { _, response, _ in Request.judge(response, statusCodes: acceptableStatusCodes) }
    }

    /// Fails the request with `unacceptableContentType` or `missingContentType` unless the type of its response's content
    /// is among these, which may have wildcards. A response without content passes. The types are asked for whenever a
    /// response is judged.
    @preconcurrency
    @discardableResult
    public func validate<S: Sequence>(
        contentType acceptableContentTypes: @escaping @Sendable @autoclosure () -> S
    ) -> Self where S.Element == String {
        validate { _, response, data in
            guard let data, !data.isEmpty else { return .success(()) }
            return Request.judge(response, contentTypes: Array(acceptableContentTypes()))
        }
    }

    /// Fails the request unless its response's status code is from 200 to 299 and its content is of a type that the
    /// request's `Accept` header names; any type when there is no such header.
    @preconcurrency
    @discardableResult
    public func validate() -> Self {
        validate(isPrograms: false) { _, response, _ in
            Request.judge(response, statusCodes: Request.acceptableStatusCodes)
        }
        .validate(isPrograms: false) { request, response, data in
            guard let data, !data.isEmpty else { return .success(()) }
            return Request.judge(response, contentTypes: Request.acceptableContentTypes(of: request))
        }
    }
}
