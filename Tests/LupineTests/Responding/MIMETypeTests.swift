// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Lupine

/// The parsing and comparison of media types, and the validation that depends on it.
@Suite struct MIMETypeTests {
    @Test(
        "[V-6.12, V-12.7] a type is two words separated by one slash",
        arguments: [
            ("application/json", "application", "json"), ("  text/html\n", "text", "html"),
            ("text/html;charset=utf-8", "text", "html"), ("text/html ;q=1", "text", "html "),
            ("*/*", "*", "*"), ("Text/HTML", "Text", "HTML"), (" */*;q=0.8", "*", "*"),
        ])
    func reading(text: String, type: String, subtype: String) throws {
        let parsed = try #require(Request.MIMEType(text))
        #expect(parsed.type == type)
        #expect(parsed.subtype == subtype)
    }

    @Test(
        "[V-6.12, V-12.7] any other text is not a type",
        arguments: ["", "text", "a/b/c", ";a/b", " ", "a/b/"])
    func refusing(text: String) { #expect(Request.MIMEType(text) == nil) }

    @Test("[V-6.13] only `*/*` is the wildcard")
    func wildcard() {
        #expect(Request.MIMEType("*/*")?.isWildcard == true)
        for text in ["*/json", "text/*", "a/b"] { #expect(Request.MIMEType(text)?.isWildcard == false) }
    }

    @Test(
        "[V-6.14, V-12.7] only acceptable types may have wildcards, and case matters",
        arguments: [
            ("application/json", "application/json", true), ("*/json", "application/json", true),
            ("text/*", "image/png", false), ("text/*", "text/csv", true), ("*/*", "a/b", true),
            ("application/json", "*/json", false), ("application/json", "application/*", false),
            ("application/JSON", "application/json", false), ("text/html ;q=1", "text/html", false),
        ])
    func matching(acceptable: String, response: String, matches: Bool) throws {
        let left = try #require(Request.MIMEType(acceptable))
        let right = try #require(Request.MIMEType(response))
        #expect(left.matches(right) == matches)
    }

    @Test("[V-6.6] a status code must be in the sequence")
    func status() throws {
        let response = try ResponseMaterial.response(201)
        #expect(Self.succeeds(ResponseCheck.statusCode(of: response, among: 200..<300)))
        #expect(Self.succeeds(ResponseCheck.statusCode(of: response, among: [404, 201])))
        for codes in [[], [200]] {
            guard
                case .failure(let error) = ResponseCheck.statusCode(of: response, among: codes),
                case .unacceptableStatusCode(201)? = error.validationReason
            else {
                Issue.record("201 among \(codes)")
                continue
            }
        }
    }

    @Test(
        "[V-6.10, V-12.8] a response without a type passes only the wildcard",
        arguments: [
            (["*/*"], true), (["text/html", "*/*"], true), (["text/*"], false), ([], false), (["*"], false),
        ])
    func missing(acceptable: [String], passes: Bool) throws {
        for type in [nil, "nonsense"] {
            let response = try ResponseMaterial.response(type: type)
            let result = ResponseCheck.contentType(of: response, among: acceptable)
            #expect(Self.succeeds(result) == passes, "\(type ?? "no type")")
            guard case .failure(let error) = result else { continue }
            guard case .missingContentType(let listed)? = error.validationReason else {
                Issue.record("\(error)")
                continue
            }
            #expect(listed == acceptable.sorted())
        }
    }

    @Test("[V-6.11, V-12.7] the error lists the acceptable types, sorted and unchanged")
    func unacceptable() throws {
        let types = ResponseCheck.acceptableContentTypes(
            of: try ResponseMaterial.request(.get, accept: "text/html, image/png"))
        #expect(types == ["text/html", " image/png"])
        let response = try ResponseMaterial.response(type: "application/json; charset=utf-8")
        guard case .failure(let error) = ResponseCheck.contentType(of: response, among: types),
            case .unacceptableContentType(let listed, let type)? = error.validationReason
        else {
            Issue.record("JSON is neither")
            return
        }
        #expect(listed == [" image/png", "text/html"])
        #expect(type == "application/json")
        #expect(!Self.succeeds(ResponseCheck.contentType(of: response, among: [])))
        let padded = [" x", " application/json;q=1 "]
        #expect(Self.succeeds(ResponseCheck.contentType(of: response, among: padded)))
    }

    @Test("[V-6.7] without an Accept header any type is acceptable")
    func accept() throws {
        #expect(ResponseCheck.acceptableContentTypes(of: nil) == ["*/*"])
        #expect(ResponseCheck.acceptableContentTypes(of: try ResponseMaterial.request(.get)) == ["*/*"])
        let request = try ResponseMaterial.request(.get, accept: "a/b;q=0.5,c/d")
        #expect(ResponseCheck.acceptableContentTypes(of: request) == ["a/b;q=0.5", "c/d"])
    }

    @Test("[V-6.9] validation reads the size of a download's file, not its content")
    func files() throws {
        let response = try ResponseMaterial.response(type: "image/png")
        let check = { (file: URL?) in
            DownloadRequest.checkContentType(of: response, fileURL: file) { ["text/*"] }
        }
        guard case .failure(let none) = check(nil), case .dataFileNil? = none.validationReason else {
            Issue.record("no file")
            return
        }
        try ResponseMaterial.withFile(nil) { file in
            guard case .failure(let missing) = check(file),
                case .dataFileReadFailed(file)? = missing.validationReason
            else {
                Issue.record("a missing file")
                return
            }
        }
        try ResponseMaterial.withFile(Data()) { #expect(Self.succeeds(check($0)), "an empty file") }
        try ResponseMaterial.withFile(Data([1])) { file in
            guard case .failure(let error) = check(file),
                case .unacceptableContentType? = error.validationReason
            else {
                Issue.record("a file of the wrong type")
                return
            }
        }
    }

    @Test(
        "[V-6.15] a response's type is in lower case without parameters, its encoding without quotes",
        arguments: [
            ("Text/HTML; Charset=\"utf-8\"", "text/html", "utf-8"),
            ("text/plain;charset=UTF-8", "text/plain", "utf-8"),
            ("a/b", "a/b", nil), (nil, nil, nil),
        ] as [(String?, String?, String?)])
    func response(header: String?, type: String?, encoding: String?) throws {
        let response = try ResponseMaterial.response(type: header)
        #expect(response.mimeType == type)
        #expect(response.textEncodingName == encoding)
    }

    private static func succeeds(_ result: Request.ValidationResult) -> Bool {
        if case .success = result { return true }
        return false
    }
}
