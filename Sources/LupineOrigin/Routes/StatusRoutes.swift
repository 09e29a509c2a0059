// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// Responses with a requested status, delay or header: `/status`, `/delay`, `/response-headers`.
enum StatusRoutes {
    /// The maximum delay in seconds.
    private static let maximumDelay = 3_600.0

    static func add(to router: inout Router) {
        router.any("/status/{codes}") { request throws(Refusal) in
            try response(status: try chooseStatus(from: request.parameters[0]))
        }
        router.any("/delay/{seconds}") { request throws(Refusal) in
            var response = try OriginResponse(json: .object(EchoRoutes.requestMembers(request)))
            response.delay = try OriginRequest.seconds(request.parameters[0], atMost: maximumDelay)
            return response
        }
        router.add(
            ["GET", "POST"], "/response-headers",
            .collected { request throws(Refusal) in
                let arguments = request.arguments
                var response = try OriginResponse(json: arguments.json)
                var type: String?
                for (name, value) in arguments.pairs {
                    // The last `content-type` argument replaces the media type of the document.
                    if name.lowercased() == "content-type" {
                        type = value
                    } else {
                        try response.add(name, value)
                    }
                }
                if let type {
                    response.fields.remove(.contentType)
                    try response.add(.contentType, type)
                }
                guard !response.fields.contains(.contentLength), !response.fields.contains(.transferEncoding)
                else { throw .badRequest("the framing is not to be chosen; use a script") }
                return response
            })
    }

    /// Returns a random status of a list such as `200,500` or, with weights, `200:0.9,500:0.1`.
    private static func chooseStatus(from text: String) throws(Refusal) -> Int {
        var choices: [(code: Int, weight: Double)] = []
        for element in text.split(separator: ",") {
            let codeAndWeight = element.split(separator: ":")
            guard let first = codeAndWeight.first, let code = Int(first), (200...999).contains(code),
                let weight = codeAndWeight.count == 1 ? 1 : Double(codeAndWeight[1]),
                codeAndWeight.count <= 2, weight >= 0
            else { throw .badRequest("not a status: \(element)") }
            choices.append((code, weight))
        }
        let totalWeight = choices.reduce(0) { $0 + $1.weight }
        guard let last = choices.last, totalWeight.isFinite else { throw .badRequest("no status: \(text)") }
        // There is no choice, or no status has a weight.
        guard choices.count > 1, totalWeight > 0 else { return last.code }
        // Each choice occupies an interval as long as its weight.
        var position = Double.random(in: 0..<totalWeight)
        for choice in choices {
            if position < choice.weight { return choice.code }
            position -= choice.weight
        }
        // Reached only by rounding.
        return last.code
    }

    /// Returns a response with the fields that its status requires.
    private static func response(status: Int) throws(Refusal) -> OriginResponse {
        var response = OriginResponse(status)
        switch status {
        case 301, 302, 303, 305, 307, 308: try response.add(.location, "/redirect/1")
        case 401: try response.add(.wwwAuthenticate, "Basic realm=\"Fake Realm\"")
        case 407: try response.add(.proxyAuthenticate, "Basic realm=\"Fake Realm\"")
        default: break
        }
        return response
    }
}
