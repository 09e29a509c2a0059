// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

/// Checks of responses that the validators of all kinds of requests use. They run on the session's root queue when a task has
/// completed.
enum ResponseCheck {
    /// The status codes that `validate()` accepts.
    static let acceptableStatusCodes = 200..<300

    /// Returns the content types that `validate()` accepts: those of the sent request's `Accept` field; any type without that
    /// field.
    static func acceptableContentTypes(of request: URLRequest?) -> [String] {
        request?.value(forHTTPHeaderField: "Accept")?.components(separatedBy: ",") ?? ["*/*"]
    }

    /// Checks that the response's status code is among `statusCodes`.
    static func statusCode(
        of response: HTTPURLResponse, among statusCodes: some Sequence<Int>
    ) -> Request.ValidationResult {
        let code = response.statusCode
        if statusCodes.contains(code) { return .success(()) }
        return .failure(AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: code)))
    }

    /// Checks that the response's content type is among `contentTypes`, which may contain wildcards.
    static func contentType(
        of response: HTTPURLResponse, among contentTypes: [String]
    ) -> Request.ValidationResult {
        let acceptableTypes = contentTypes.lazy.compactMap(Request.MIMEType.init)
        guard let text = response.mimeType, let type = Request.MIMEType(text) else {
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
