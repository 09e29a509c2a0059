// SPDX-License-Identifier: MIT

public import LupineLoading

// Validators run when a task has completed and its pieces have been delivered, and again on every retry. They run on the
// session's root queue, in the order in which they were added. When one fails, the request fails and the remaining validators do
// not run.

extension DataStreamRequest {
    /// A closure that validates a response. Its arguments are the sent request and the response.
    public typealias Validation = @Sendable (URLRequest?, HTTPURLResponse) -> ValidationResult

    /// Adds a validator. If it fails with an error other than an `AFError`, the request fails with `customValidationFailed`.
    @preconcurrency
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        validate(
            check: { _, urlRequest, response in validation(urlRequest, response) },
            report: { request, urlRequest, response, result in
                guard let request = request as? DataStreamRequest else { return }
                request.eventMonitor?.request(
                    request, didValidateRequest: urlRequest, response: response, withResult: result)
            })
        return self
    }

    /// Fails the stream with `unacceptableStatusCode` unless its response's status code is among these.
    @preconcurrency
    @discardableResult
    public func validate<S: Sequence & Sendable>(statusCode acceptableStatusCodes: S) -> Self
    where S.Element == Int {
        validate { _, response in ResponseCheck.statusCode(of: response, among: acceptableStatusCodes) }
    }

    /// Fails the stream with `unacceptableContentType` or `missingContentType` unless its content type is among these, which
    /// may contain wildcards. A response without content is checked too. `acceptableContentTypes` is evaluated for each response.
    @preconcurrency
    @discardableResult
    public func validate<S: Sequence>(
        contentType acceptableContentTypes: @escaping @Sendable @autoclosure () -> S
    ) -> Self where S.Element == String {
        validate { _, response in
            ResponseCheck.contentType(of: response, among: Array(acceptableContentTypes()))
        }
    }

    /// Fails the stream unless the response's status code is from 200 to 299 and its content type matches the request's
    /// `Accept` header. Without that header, any content type passes.
    @preconcurrency
    @discardableResult
    public func validate() -> Self {
        validate(statusCode: ResponseCheck.acceptableStatusCodes).validate { request, response in
            ResponseCheck.contentType(of: response, among: ResponseCheck.acceptableContentTypes(of: request))
        }
    }
}
