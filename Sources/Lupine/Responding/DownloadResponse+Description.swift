// SPDX-License-Identifier: MIT

internal import Foundation

extension DownloadResponse: CustomStringConvertible {
    /// The result.
    public var description: String { "\(result)" }
}

extension DownloadResponse: CustomDebugStringConvertible {
    /// The request, the response, their header fields, where the content is, how long it took and the result: for a
    /// debugger. Values of `Authorization`, `Cookie` and their like are left out.
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
        text.add("Resume Data", resumeData.map(ResponseDescription.count))
        text.addDurations(metrics: metrics, serialization: serializationDuration)
        text.add("Result", "\(result)")
        return text.text
    }
}
