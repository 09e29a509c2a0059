// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

// Validators run on the request's queue, in the order in which they were added, when a task has completed and its file
// is in place; again on every retry. One that fails fails the request, and those after it do not run; the file stays.

extension DownloadRequest {
    /// Judges a response: the request as it was sent, the response, where the content is.
    public typealias Validation =
        @Sendable (
            _ request: URLRequest?, _ response: HTTPURLResponse, _ fileURL: URL?
        ) -> ValidationResult

    /// Has `validation` judge the response. An error that is no `AFError` becomes `customValidationFailed`.
    @preconcurrency
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        validate(
            judge: { [weak self] request, response in validation(request, response, self?.fileURL) },
            report: { [weak self] request, response, result in
                guard let self else { return }
                eventMonitor?.request(
                    self, didValidateRequest: request, response: response, fileURL: fileURL,
                    withResult: result)
            })
        return self
    }

    /// Fails the download with `unacceptableStatusCode` unless its response's status code is among these.
    @preconcurrency
    @discardableResult
    public func validate<S: Sequence & Sendable>(statusCode acceptableStatusCodes: S) -> Self
    where S.Element == Int {
        validate { _, response, _ in Request.judge(response, statusCodes: acceptableStatusCodes) }
    }

    /// Fails the download with `unacceptableContentType` or `missingContentType` unless the type of its content is among
    /// these, which may have wildcards. A file of no bytes passes; no file fails with `dataFileNil`, one that cannot be
    /// looked up with `dataFileReadFailed`. The types are asked for whenever a response is judged.
    @preconcurrency
    @discardableResult
    public func validate<S: Sequence>(
        contentType acceptableContentTypes: @escaping @Sendable @autoclosure () -> S
    ) -> Self where S.Element == String {
        validate { _, response, fileURL in
            Self.judge(response, fileURL: fileURL) { Array(acceptableContentTypes()) }
        }
    }

    /// Fails the download unless its response's status code is from 200 to 299 and its content is of a type that the
    /// request's `Accept` header names; any type when there is no such header.
    @preconcurrency
    @discardableResult
    public func validate() -> Self {
        validate(statusCode: Request.acceptableStatusCodes).validate { request, response, fileURL in
            Self.judge(response, fileURL: fileURL) { Request.acceptableContentTypes(of: request) }
        }
    }

    /// Only the file's size is read, never the file.
    static func judge(
        _ response: HTTPURLResponse, fileURL: URL?, contentTypes: () -> [String]
    ) -> ValidationResult {
        guard let fileURL else {
            return .failure(AFError.responseValidationFailed(reason: .dataFileNil))
        }
        let attributes = try? FileManager.default.attributesOfItem(atPath: fileURL.path)
        guard let size = attributes?[.size] as? NSNumber else {
            return .failure(AFError.responseValidationFailed(reason: .dataFileReadFailed(at: fileURL)))
        }
        if size.int64Value == 0 { return .success(()) }
        return Request.judge(response, contentTypes: contentTypes())
    }
}
