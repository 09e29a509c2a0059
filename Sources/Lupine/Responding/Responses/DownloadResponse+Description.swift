// SPDX-License-Identifier: MIT

internal import Foundation

extension DownloadResponse: CustomStringConvertible {
    /// The text of the result.
    public var description: String { "\(result)" }
}

extension DownloadResponse: CustomDebugStringConvertible {
    /// The request, the response, their header fields, the file URL, the durations and the result, for use in a debugger.
    /// Values of `Authorization`, `Cookie` and similar fields are redacted.
    public var debugDescription: String {
        var description = ResponseDescription()
        guard let request else {
            // Nil is shown as `None`.
            description.add("Request", nil)
            description.add("Result", "\(result)")
            return description.text
        }
        description.add(request)
        if let response {
            description.add(response)
        } else {
            description.add("Response", nil)
        }
        description.add("File URL", fileURL?.path)
        description.add("Resume Data", resumeData.map(ResponseDescription.sizeText(of:)))
        description.addDurations(metrics: metrics, serialization: serializationDuration)
        description.add("Result", "\(result)")
        return description.text
    }
}
