// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

// Validators run when a task has completed and its file has been moved to its destination, and again on every retry. They run on
// the session's root queue, in the order in which they were added. When one fails, the request fails and the remaining validators
// do not run. The file is not deleted.

extension DownloadRequest {
    /// A closure that validates a response. Its arguments are the sent request, the response and the URL of the file.
    public typealias Validation =
        @Sendable (
            _ request: URLRequest?, _ response: HTTPURLResponse, _ fileURL: URL?
        ) -> ValidationResult

    /// Adds a validator. If it fails with an error other than an `AFError`, the request fails with `customValidationFailed`.
    @preconcurrency
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        validate { download, request, response in validation(request, response, download.fileURL) }
    }

    /// Adds a validator, to which the download passes itself.
    private func validate(
        _ validation: @escaping @Sendable (DownloadRequest, URLRequest?, HTTPURLResponse) -> ValidationResult
    ) -> Self {
        validate(
            check: { request, urlRequest, response in
                guard let request = request as? DownloadRequest else { return .success(()) }
                return validation(request, urlRequest, response)
            },
            report: { request, urlRequest, response, result in
                guard let request = request as? DownloadRequest else { return }
                request.eventMonitor?.request(
                    request, didValidateRequest: urlRequest, response: response, fileURL: request.fileURL,
                    withResult: result)
            })
        return self
    }

    /// Fails the download with `unacceptableStatusCode` unless its response's status code is among these. Status 416 (Range Not
    /// Satisfiable) passes if the response shows that a resumed download was already complete.
    @preconcurrency
    @discardableResult
    public func validate<S: Sequence & Sendable>(statusCode acceptableStatusCodes: S) -> Self
    where S.Element == Int {
        validate { (download: DownloadRequest, _, response) in
            if download.isAlreadyComplete(accordingTo: response) { return .success(()) }
            return ResponseCheck.statusCode(of: response, among: acceptableStatusCodes)
        }
    }

    /// Fails the download with `unacceptableContentType` or `missingContentType` unless its content type is among these,
    /// which may contain wildcards. An empty file passes. A missing file fails with `dataFileNil`, and a file whose
    /// attributes cannot be read fails with `dataFileReadFailed`. `acceptableContentTypes` is evaluated for each response.
    @preconcurrency
    @discardableResult
    public func validate<S: Sequence>(
        contentType acceptableContentTypes: @escaping @Sendable @autoclosure () -> S
    ) -> Self where S.Element == String {
        validate { (download: DownloadRequest, _, response) in
            if download.isAlreadyComplete(accordingTo: response) { return .success(()) }
            return Self.checkContentType(of: response, fileURL: download.fileURL) {
                Array(acceptableContentTypes())
            }
        }
    }

    /// Fails the download unless the response's status code is from 200 to 299 and its content type matches the request's
    /// `Accept` header. Without that header, any content type passes.
    @preconcurrency
    @discardableResult
    public func validate() -> Self {
        validate(statusCode: ResponseCheck.acceptableStatusCodes).validate {
            (download: DownloadRequest, request, response) in
            if download.isAlreadyComplete(accordingTo: response) { return .success(()) }
            return Self.checkContentType(of: response, fileURL: download.fileURL) {
                ResponseCheck.acceptableContentTypes(of: request)
            }
        }
    }

    /// Whether a response with status 416 shows that the resumed download was already complete. Its `Content-Range` field, `bytes
    /// */length`, states the length of the content (RFC 9110 §15.5.17), which is then the number of bytes received before. A
    /// response that shows this is not validated further, because its content type is not that of the file.
    private func isAlreadyComplete(accordingTo response: HTTPURLResponse) -> Bool {
        guard response.statusCode == 416, case .resumeData(let data) = downloadable,
            let receivedCount = ResumeData(data)?.received,
            let range = response.value(forHTTPHeaderField: "Content-Range").flatMap({ ContentRange($0) })
        else { return false }
        // Without a start, the field has `*` in place of a range.
        return range.start == nil && range.total == receivedCount
    }

    /// Checks that the response's content type is among `contentTypes`, unless the file is empty. Reads only the size of the
    /// file.
    static func checkContentType(
        of response: HTTPURLResponse, fileURL: URL?, among contentTypes: () -> [String]
    ) -> ValidationResult {
        guard let fileURL else {
            return .failure(AFError.responseValidationFailed(reason: .dataFileNil))
        }
        let attributes = try? FileManager.default.attributesOfItem(atPath: fileURL.path)
        guard let size = attributes?[.size] as? NSNumber else {
            return .failure(AFError.responseValidationFailed(reason: .dataFileReadFailed(at: fileURL)))
        }
        if size.int64Value == 0 { return .success(()) }
        return ResponseCheck.contentType(of: response, among: contentTypes())
    }
}
