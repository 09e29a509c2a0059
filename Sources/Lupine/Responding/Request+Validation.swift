// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

// Checks that the validators of all kinds of requests use. They run on the session's root queue when a task has completed.

extension Request {
    /// The status codes that `validate()` accepts.
    static let acceptableStatusCodes = 200..<300

    /// Returns the content types that `validate()` accepts: those of the sent request's `Accept` field; any type without that
    /// field.
    static func acceptableContentTypes(of request: URLRequest?) -> [String] {
        request?.value(forHTTPHeaderField: "Accept")?.components(separatedBy: ",") ?? ["*/*"]
    }

    /// Checks that the response's status code is among `statusCodes`.
    static func checkStatusCode(
        of response: HTTPURLResponse, among statusCodes: some Sequence<Int>
    ) -> ValidationResult {
        let code = response.statusCode
        if statusCodes.contains(code) { return .success(()) }
        return .failure(AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: code)))
    }

    /// Checks that the response's content type is among `contentTypes`, which may contain wildcards.
    static func checkContentType(
        of response: HTTPURLResponse, among contentTypes: [String]
    ) -> ValidationResult {
        let acceptableTypes = contentTypes.lazy.compactMap(MIMEType.init)
        guard let text = response.mimeType, let type = MIMEType(text) else {
            if acceptableTypes.contains(where: \.isWildcard) { return .success(()) }
            return .failure(
                AFError.responseValidationFailed(
                    reason: .missingContentType(acceptableContentTypes: contentTypes.sorted())))
        }
        if acceptableTypes.contains(where: { $0.matches(type) }) { return .success(()) }
        return .failure(
            AFError.responseValidationFailed(
                reason: .unacceptableContentType(
                    acceptableContentTypes: contentTypes.sorted(), responseContentType: text)))
    }
}
