// SPDX-License-Identifier: MIT

package import Foundation
internal import LupineHTTP

/// A request and its outcome in the format of a recording: one JSON document.
///
/// ```json
/// {"version": 1,
///  "request": {"method": "GET", "url": "https://api.test/users", "headers": ["Accept: */*"]},
///  "response": {"status": 200, "headers": ["Content-Type: text/plain"], "text": "hello"}}
/// ```
///
/// A body is `text` if it is UTF-8, otherwise `base64`; an `error` may replace the `response`. Parsed documents have valid
/// methods, fields and statuses, and are equal after being written and read again.
package struct RecordedExchange: Sendable, Hashable {
    /// The version of the format.
    package static let version = 1
    /// The maximum number of octets of a URL.
    private static let maximumURLLength = 65_536

    /// The request.
    package struct Request: Sendable, Hashable {
        /// A token, such as `GET`.
        package var method: String
        /// The redacted URL, which may be invalid as a URL.
        package var url: String
        var headers: TestHeaders
        /// The body; empty when there was none.
        package var body: Data
    }

    /// The outcome of the request.
    package enum Outcome: Sendable, Hashable {
        case response(status: Int, headers: TestHeaders, body: Data)
        /// An error with its domain and code; the text is for people.
        case failure(domain: String, code: Int, text: String)
    }

    /// The request.
    package var request: Request
    /// The outcome of the request.
    package var outcome: Outcome

    init(_ request: Request, _ outcome: Outcome) {
        self.request = request
        self.outcome = outcome
    }

    /// Parses a document.
    ///
    /// - Parameters:
    ///   - data: The complete document.
    ///   - path: The path of the file, for error messages.
    package init(_ data: Data, path: String) throws(RecordingError) {
        let file: File
        do {
            file = try JSONDecoder().decode(File.self, from: data)
        } catch {
            throw .malformed(path: path, reason: "\(error)")
        }
        guard file.version == Self.version else {
            throw .unsupportedVersion(path: path, version: file.version)
        }
        do throws(Flaw) {
            // A method is a token, as the name of a field is (RFC 9110 §9.1).
            guard (try? FieldName(file.request.method)) != nil else { throw Flaw("a method is a word") }
            // Comparing a text that is not stream-safe, with many combining characters in a row, would take long.
            guard file.request.url.utf8.count <= Self.maximumURLLength, file.request.url.isStreamSafe else {
                throw Flaw("an address is too long")
            }
            request = Request(
                method: file.request.method, url: file.request.url,
                headers: try Self.headers(file.request.headers),
                body: try Self.body(file.request.text, file.request.base64))
            switch (file.response, file.error) {
            case (let response?, nil):
                guard (100...999).contains(response.status) else {
                    throw Flaw("\(response.status) is no status")
                }
                outcome = .response(
                    status: response.status, headers: try Self.headers(response.headers),
                    body: try Self.body(response.text, response.base64))
            case (nil, let error?):
                outcome = .failure(domain: error.domain, code: error.code, text: error.text ?? "")
            case (nil, nil), (_?, _?): throw Flaw("there is to be either a response or an error")
            }
        } catch {
            throw .malformed(path: path, reason: error.reason)
        }
    }

    /// Returns the document, formatted for people.
    package func data() throws -> Data {
        let requestBody = File.Message(request.body)
        var file = File(
            version: Self.version,
            request: File.Request(
                method: request.method, url: request.url, headers: request.headers.lines,
                text: requestBody.text, base64: requestBody.base64))
        switch outcome {
        case .response(let status, let headers, let body):
            let responseBody = File.Message(body)
            file.response = File.Response(
                status: status, headers: headers.lines, text: responseBody.text, base64: responseBody.base64)
        case .failure(let domain, let code, let text):
            file.error = File.Failure(domain: domain, code: code, text: text)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(file) + Data("\n".utf8)
    }

    /// The response with which a stub replays the outcome.
    package var replay: TestResponse {
        switch outcome {
        case .response(let status, let headers, let body):
            var response = TestResponse.data(body, status: status)
            response.headers = headers
            return response
        case .failure(let domain, let code, let text):
            let information = [NSLocalizedDescriptionKey: text]
            if domain == NSURLErrorDomain, let urlErrorCode = URLError.Code(rawValue: code) {
                return .failure(URLError(urlErrorCode, userInfo: information))
            }
            return .failure(NSError(domain: domain, code: code, userInfo: information))
        }
    }

    /// The reason why a document is malformed.
    private struct Flaw: Error {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    /// Parses field lines of the form `NAME: VALUE`. Throws for a field that cannot be sent.
    private static func headers(_ lines: [String]?) throws(Flaw) -> TestHeaders {
        var headers = TestHeaders()
        for line in lines ?? [] {
            guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else {
                throw Flaw("a field without a colon")
            }
            let value = Substring(line.utf8[colon...].dropFirst().drop { $0 == UInt8(ascii: " ") })
            // `Fields` throws for an invalid name or value.
            var checkedFields = Fields()
            do throws(HTTPError) {
                try checkedFields.append(try FieldName(String(line[..<colon])), String(value))
            } catch {
                throw Flaw("a field that cannot be sent: \(error)")
            }
            headers.add(checkedFields.name(at: 0), checkedFields.value(at: 0))
        }
        return headers
    }

    /// Returns the body from its text or its Base64; an empty body has neither.
    private static func body(_ text: String?, _ base64: String?) throws(Flaw) -> Data {
        switch (text, base64) {
        case (nil, nil): return Data()
        case (let text?, nil): return Data(text.utf8)
        case (nil, let base64?):
            guard let data = Data(base64Encoded: base64) else { throw Flaw("a body is not in BASE64") }
            return data
        case (_?, _?): throw Flaw("a body has text and BASE64")
        }
    }
}

extension TestHeaders {
    /// The fields as lines of the form `NAME: VALUE`.
    fileprivate var lines: [String] { fields.map { "\($0.name): \($0.value)" } }
}

/// The members of the document.
private struct File: Codable {
    /// The two members that a body can be stored in: one has a value, or none if the body is empty.
    struct Message {
        var text: String?
        var base64: String?

        init(_ body: Data) {
            if body.isEmpty { return }
            // A body that decoding as text would change is stored as Base64.
            if let text = String(data: body, encoding: .utf8), Data(text.utf8) == body {
                self.text = text
            } else {
                base64 = body.base64EncodedString()
            }
        }
    }

    struct Request: Codable {
        var method: String
        var url: String
        var headers: [String]?
        var text: String?
        var base64: String?
    }

    struct Response: Codable {
        var status: Int
        var headers: [String]?
        var text: String?
        var base64: String?
    }

    struct Failure: Codable {
        var domain: String
        var code: Int
        var text: String?
    }

    var version: Int
    var request: Request
    var response: Response?
    var error: Failure?
}
