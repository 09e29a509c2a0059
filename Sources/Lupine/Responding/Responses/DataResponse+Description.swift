// SPDX-License-Identifier: MIT

extension DataResponse: CustomStringConvertible {
    /// The result.
    public var description: String { "\(result)" }
}

extension DataResponse: CustomDebugStringConvertible {
    /// The request, the response, their header fields and bodies, the durations and the result, for use in a debugger.
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
            text.add(body: data, type: response.value(forHTTPHeaderField: "Content-Type"))
        } else {
            text.add("Response", nil)
        }
        text.addDurations(metrics: metrics, serialization: serializationDuration)
        text.add("Result", "\(result)")
        return text.text
    }
}
