// SPDX-License-Identifier: MIT

public import LupineLoading

// Validators run on the request's queue, in the order in which they were added, when a task has completed and its
// pieces have been handed on; again on every retry. One that fails fails the request, and those after it do not run.

extension DataStreamRequest {
    /// Judges a response: the request as it was sent, the response.
    public typealias Validation = @Sendable (URLRequest?, HTTPURLResponse) -> ValidationResult

    /// Has `validation` judge the response. An error that is no `AFError` becomes `customValidationFailed`.
    @preconcurrency
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        validate(
            isPrograms: true,
            judge: { request, response in validation(request, response) },
            report: { [weak self] request, response, result in
                guard let self else { return }
                eventMonitor?.request(
                    self, didValidateRequest: request, response: response, withResult: result)
            })
        return self
    }

    /// Fails the stream with `unacceptableStatusCode` unless its response's status code is among these.
    @preconcurrency
    @discardableResult
    public func validate<S: Sequence & Sendable>(statusCode acceptableStatusCodes: S) -> Self
    where S.Element == Int {
        validate { _, response in Request.judge(response, statusCodes: acceptableStatusCodes) }
    }

    /// Fails the stream with `unacceptableContentType` or `missingContentType` unless the type of its content is among
    /// these, which may have wildcards; even when there was no content. The types are asked for whenever a response is
    /// judged.
    @preconcurrency
    @discardableResult
    public func validate<S: Sequence>(
        contentType acceptableContentTypes: @escaping @Sendable @autoclosure () -> S
    ) -> Self where S.Element == String {
        validate { _, response in Request.judge(response, contentTypes: Array(acceptableContentTypes())) }
    }

    /// Fails the stream unless its response's status code is from 200 to 299 and its content is of a type that the
    /// request's `Accept` header names; any type when there is no such header.
    @preconcurrency
    @discardableResult
    public func validate() -> Self {
        validate(statusCode: Request.acceptableStatusCodes).validate { request, response in
            Request.judge(response, contentTypes: Request.acceptableContentTypes(of: request))
        }
    }
}
