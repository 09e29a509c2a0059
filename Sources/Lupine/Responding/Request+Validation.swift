// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

// The judgements that all kinds of requests make alike. They run on the request's queue when a task has completed.

extension Request {
    /// The status codes of `validate()`.
    static let acceptableStatusCodes = 200..<300

    /// The content types of `validate()`: what the request that was sent accepts, or anything.
    static func acceptableContentTypes(of request: URLRequest?) -> [String] {
        request?.value(forHTTPHeaderField: "Accept")?.components(separatedBy: ",") ?? ["*/*"]
    }

    /// Whether the response's status code is among those.
    static func judge(
        _ response: HTTPURLResponse, statusCodes: some Sequence<Int>
    ) -> ValidationResult {
        let code = response.statusCode
        if statusCodes.contains(code) { return .success(()) }
        return .failure(AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: code)))
    }

    /// Whether the type of the response's content is among those, of which any may have wildcards.
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
