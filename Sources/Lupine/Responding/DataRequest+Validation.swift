// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

// Validators run when a task has completed, and again on every retry. They run on the session's root queue, in the order in which
// they were added. When one fails, the request fails and the remaining validators do not run.

extension DataRequest {
    /// A closure that validates a response. Its arguments are the sent request, the response and the content.
    public typealias Validation = @Sendable (URLRequest?, HTTPURLResponse, Data?) -> ValidationResult

    /// Adds a validator. If it fails with an error other than an `AFError`, the request fails with `customValidationFailed`.
    @preconcurrency
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        validate(
            check: { request, urlRequest, response in
                validation(urlRequest, response, (request as? DataRequest)?.data)
            },
            report: { request, urlRequest, response, result in
                guard let request = request as? DataRequest else { return }
                request.eventMonitor?.request(
                    request, didValidateRequest: urlRequest, response: response, data: request.data,
                    withResult: result)
            })
        return self
    }

    /// Fails the request with `unacceptableStatusCode` unless its response's status code is among these.
    @preconcurrency
    @discardableResult
    public func validate<S: Sequence & Sendable>(statusCode acceptableStatusCodes: S) -> Self
    where S.Element == Int {
        validate { _, response, _ in ResponseCheck.statusCode(of: response, among: acceptableStatusCodes) }
    }

    /// Fails the request with `unacceptableContentType` or `missingContentType` unless the response's content type is among
    /// these, which may contain wildcards. A response without content passes. `acceptableContentTypes` is evaluated for each
    /// response.
    @preconcurrency
    @discardableResult
    public func validate<S: Sequence>(
        contentType acceptableContentTypes: @escaping @Sendable @autoclosure () -> S
    ) -> Self where S.Element == String {
        validate { _, response, data in
            guard let data, !data.isEmpty else { return .success(()) }
            return ResponseCheck.contentType(of: response, among: Array(acceptableContentTypes()))
        }
    }

    /// Fails the request unless the response's status code is from 200 to 299 and its content type matches the request's
    /// `Accept` header. Without that header, any content type passes.
    @preconcurrency
    @discardableResult
    public func validate() -> Self {
        validate(statusCode: ResponseCheck.acceptableStatusCodes).validate { request, response, data in
            guard let data, !data.isEmpty else { return .success(()) }
            return ResponseCheck.contentType(
                of: response, among: ResponseCheck.acceptableContentTypes(of: request))
        }
    }
}
