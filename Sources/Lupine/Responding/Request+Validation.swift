// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

// Validations shared by all kinds of requests. They run on the request's queue when a task has completed.

extension Request {
    /// The status codes that `validate()` accepts.
    static let acceptableStatusCodes = 200..<300

    /// Returns the content types that `validate()` accepts: those of the sent request's `Accept` header, or any type.
    static func acceptableContentTypes(of request: URLRequest?) -> [String] {
        request?.value(forHTTPHeaderField: "Accept")?.components(separatedBy: ",") ?? ["*/*"]
    }

    /// Validates that the response's status code is among `statusCodes`.
    static func judge(
        _ response: HTTPURLResponse, statusCodes: some Sequence<Int>
    ) -> ValidationResult {
        let code = response.statusCode
        if statusCodes.contains(code) { return .success(()) }
        return .failure(AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: code)))
    }

    /// Validates that the response's content type is among `contentTypes`, which may contain wildcards.
    static func judge(_ response: HTTPURLResponse, contentTypes: [String]) -> ValidationResult {
        let acceptable = contentTypes.lazy.compactMap(MIMEType.init)
        guard let text = response.mimeType, let type = MIMEType(text) else {
            if acceptable.contains(where: \.isWildcard) { return .success(()) }
            return .failure(
                AFError.responseValidationFailed(
                    reason: .missingContentType(acceptableContentTypes: contentTypes.sorted())))
        }
        if acceptable.contains(where: { $0.matches(type) }) { return .success(()) }
        return .failure(
            AFError.responseValidationFailed(
                reason: .unacceptableContentType(
                    acceptableContentTypes: contentTypes.sorted(), responseContentType: text)))
    }
}
