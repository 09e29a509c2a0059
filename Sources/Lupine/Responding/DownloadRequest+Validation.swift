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
            isPrograms: true,
            judge: { [weak self] request, response in validation(request, response, self?.fileURL) },
            report: { [weak self] request, response, result in
                guard let self else { return }
                eventMonitor?.request(
                    self, didValidateRequest: request, response: response, fileURL: fileURL,
                    withResult: result)
            })
        return self
    }

    /// Fails the download with `unacceptableStatusCode` unless its response's status code is among these. That nothing was
    /// missing any more when the download was gone on with (416) is no failure.
    @preconcurrency
    @discardableResult
    public func validate<S: Sequence & Sendable>(statusCode acceptableStatusCodes: S) -> Self
    where S.Element == Int {
        validate { [weak self] _, response, _ in
            if self?.wasWholeAlready(response) == true { return .success(()) }
            return Request.judge(response, statusCodes: acceptableStatusCodes)
        }
    }

    /// Fails the download with `unacceptableContentType` or `missingContentType` unless the type of its content is among
    /// these, which may have wildcards. A file of no bytes passes; no file fails with `dataFileNil`, one that cannot be
    /// looked up with `dataFileReadFailed`. The types are asked for whenever a response is judged.
    @preconcurrency
    @discardableResult
    public func validate<S: Sequence>(
        contentType acceptableContentTypes: @escaping @Sendable @autoclosure () -> S
    ) -> Self where S.Element == String {
        validate { [weak self] _, response, fileURL in
            if self?.wasWholeAlready(response) == true { return .success(()) }
            return Self.judge(response, fileURL: fileURL) { Array(acceptableContentTypes()) }
        }
    }

    /// Fails the download unless its response's status code is from 200 to 299 and its content is of a type that the
    /// request's `Accept` header names; any type when there is no such header.
    @preconcurrency
    @discardableResult
    public func validate() -> Self {
        validate(statusCode: Request.acceptableStatusCodes).validate {
            [weak self] request, response, fileURL in
            if self?.wasWholeAlready(response) == true { return .success(()) }
            return Self.judge(response, fileURL: fileURL) { Request.acceptableContentTypes(of: request) }
        }
    }

    /// Whether the response says that there is nothing behind what an earlier download has left. Its type is not that of the
    /// file.
    private func wasWholeAlready(_ response: HTTPURLResponse) -> Bool {
        guard response.statusCode == 416, case .resumeData(let data) = downloadable,
            let received = ResumeData(data)?.received,
            let range = response.value(forHTTPHeaderField: "Content-Range").flatMap({ ContentRange($0) })
        else { return false }
        return range.start == nil && range.total == received
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
