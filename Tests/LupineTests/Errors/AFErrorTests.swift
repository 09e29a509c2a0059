// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Lupine

/// The properties and the description of each case and reason of `AFError`.
struct AFErrorTests {
    private func check(_ row: AFErrorRow) {
        let error = row.error
        for property in AFErrorRow.isErrorProperties {
            let expected = property.name == row.trueProperty
            #expect(property.value(error) == expected, "\(property.name) of \(row.name)")
        }
        #expect(error.underlyingError as? InnerError == row.underlying, "\(row.name)")
        #expect((error.underlyingError == nil) == (row.underlying == nil), "\(row.name)")
        #expect(error.urlConvertible as? String == row.convertible, "\(row.name)")
        #expect((error.urlConvertible == nil) == (row.convertible == nil), "\(row.name)")
        #expect(error.url == row.url, "\(row.name)")
        #expect(error.acceptableContentTypes == row.acceptable, "\(row.name)")
        #expect(error.responseContentType == row.type, "\(row.name)")
        #expect(error.responseCode == row.code, "\(row.name)")
        #expect(error.failedStringEncoding == row.encoding, "\(row.name)")
        #expect(error.sourceURL == row.source, "\(row.name)")
        #expect(error.destinationURL == row.destination, "\(row.name)")
        #expect(error.downloadResumeData == nil, "\(row.name)")

        let description = error.errorDescription ?? ""
        for part in row.descriptionParts {
            #expect(description.contains(part), "\(row.name) says: \(description)")
        }
        #expect(error.localizedDescription == description, "\(row.name)")
        #expect((error as any Error).localizedDescription == description, "\(row.name)")
        #expect(description.last.map { !$0.isWhitespace } == true, "\(row.name)")
    }

    @Test(
        "each case and each reason has the right properties, and describes its data",
        arguments: AFErrorRow.plain)
    func properties(_ row: AFErrorRow) { check(row) }

    @Test("[I-11.2] each reason about trust has the right properties, and names its host")
    func trustProperties() throws {
        for row in try AFErrorRow.trust() { check(row) }
    }

    @Test("the tables of these tests contain every public case and reason")
    func isComplete() throws {
        let names = Set(try (AFErrorRow.plain + AFErrorRow.trust()).map(\.name))
        let wrappers: Set = [
            "multipartEncodingFailed(reason:)", "parameterEncodingFailed(reason:)",
            "parameterEncoderFailed(reason:)", "responseValidationFailed(reason:)",
            "responseSerializationFailed(reason:)", "serverTrustEvaluationFailed(reason:)",
            "urlRequestValidationFailed(reason:)",
        ]
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Documentation/Behaviour").standardized
        var found = 0
        for table in ["alamofire-5.12-public-names.tsv", "beyond-linux-names.tsv"] {
            let text = try String(contentsOf: folder.appendingPathComponent(table), encoding: .utf8)
            for line in text.split(separator: "\n") {
                let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
                guard columns.count > 2, columns[1] == "enum.case", columns[2].hasPrefix("AFError.") else {
                    continue
                }
                found += 1
                let name = columns[2].dropFirst("AFError.".count)
                let isListed =
                    names.contains(String(name)) || wrappers.contains(String(name))
                    || names.contains { $0.hasSuffix(".\(name)") }
                    || names.contains { "ParameterEncoderFailureReason.\($0)" == name }
                #expect(isListed, "\(name)")
            }
        }
        #expect(found > 40)
    }

    @Test("equal errors have equal texts", arguments: AFErrorRow.plain)
    func equalTexts(_ row: AFErrorRow) throws {
        let again = try #require(AFErrorRow.plain.first { $0.name == row.name })
        #expect(again.error.localizedDescription == row.error.localizedDescription)
    }

    @Test("the description of an invalid URL contains its components")
    func invalidComponents() {
        var components = URLComponents()
        components.path = "//foo"
        let error = AFError.invalidURL(url: components)
        #expect(error.localizedDescription.contains("\(components)"))
        #expect(error.urlConvertible as? URLComponents == components)
    }

    @Test("the resume data of a failed download is found in the task's error")
    func resumeData() {
        let data = Data("resume".utf8)
        let info: [String: Any] = [NSURLSessionDownloadTaskResumeData: data]
        let lost = URLError(.networkConnectionLost, userInfo: info)
        #expect(AFError.sessionTaskFailed(error: lost).downloadResumeData == data)
        #expect(AFError.requestRetryFailed(retryError: lost, originalError: lost).downloadResumeData == data)
        #expect(AFError.sessionTaskFailed(error: URLError(.timedOut)).downloadResumeData == nil)
        let mistyped = URLError(.timedOut, userInfo: [NSURLSessionDownloadTaskResumeData: "text"])
        #expect(AFError.sessionTaskFailed(error: mistyped).downloadResumeData == nil)
        #expect(AFError.explicitlyCancelled.downloadResumeData == nil)
    }

    @Test("the error of a stream of another length has both lengths")
    func unexpectedLength() {
        let error = AFError.UnexpectedInputStreamLength(bytesExpected: 3, bytesRead: 2)
        #expect(error.bytesExpected == 3)
        #expect(error.bytesRead == 2)
    }

    @Test("[V-12.10] only forms have a URL, a retry's error is underlying, and adaptation wraps every error")
    func associatedValues() throws {
        let url = try #require(URL(string: "file:///a.txt"))
        #expect(AFError.multipartEncodingFailed(reason: .bodyPartURLInvalid(url: url)).url == url)
        #expect(AFError.responseValidationFailed(reason: .dataFileReadFailed(at: url)).url == nil)
        #expect(AFError.responseSerializationFailed(reason: .inputFileReadFailed(at: url)).url == nil)
        #expect(AFError.invalidURL(url: url).url == nil)
        let retried = AFError.requestRetryFailed(
            retryError: URLError(.timedOut), originalError: URLError(.cancelled))
        #expect((retried.underlyingError as? URLError)?.code == .timedOut)
        let adapted = AFError.requestAdaptationFailed(error: AFError.explicitlyCancelled)
        #expect(adapted.isRequestAdaptationError && !adapted.isExplicitlyCancelledError)
        #expect((adapted.underlyingError as? AFError)?.isExplicitlyCancelledError == true)
    }
}
