// SPDX-License-Identifier: MIT

internal import Foundation

extension DownloadResponse: CustomStringConvertible {
    /// The result.
    public var description: String { "\(result)" }
}

extension DownloadResponse: CustomDebugStringConvertible {
    /// The request, the response, their header fields, the file URL, the durations and the result, for use in a debugger.
    /// Values of `Authorization`, `Cookie` and similar fields are redacted.
    public var debugDescription: String {
        var text = ResponseDescription()
        guard let request else {
            text.add("Request", nil)
            text.add("Result", "\(result)")
            return text.text
        }
        text.add(request)
        if let response {
            text.add(response)
        } else {
            text.add("Response", nil)
        }
        text.add("File URL", fileURL?.path)
        text.add("Resume Data", resumeData.map(ResponseDescription.sizeText(of:)))
        text.addDurations(metrics: metrics, serialization: serializationDuration)
        text.add("Result", "\(result)")
        return text.text
    }
}
