// SPDX-License-Identifier: MIT

extension DataResponse: CustomStringConvertible {
    /// The text of the result.
    public var description: String { "\(result)" }
}

extension DataResponse: CustomDebugStringConvertible {
    /// The request, the response, their header fields and bodies, the durations and the result, for use in a debugger.
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
            description.add(body: data, type: response.value(forHTTPHeaderField: "Content-Type"))
        } else {
            description.add("Response", nil)
        }
        description.addDurations(metrics: metrics, serialization: serializationDuration)
        description.add("Result", "\(result)")
        return description.text
    }
}
