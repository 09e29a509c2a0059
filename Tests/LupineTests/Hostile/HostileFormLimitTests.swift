// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import Testing

@testable import Lupine

/// The limit of forms that are encoded in memory applies to every function that sends a form.
@Suite struct HostileFormLimitTests {
    enum Way: CaseIterable {
        case filledTo, filledWith, formTo, formWith

        func upload(_ stage: PipelineStage, _ threshold: UInt64) throws -> UploadRequest {
            let url = stage.url("/post")
            let request = try URLRequest(url: url, method: .post)
            let fill: @Sendable (MultipartFormData) -> Void = { $0.append(Data("a".utf8), withName: "a") }
            let form = MultipartFormData()
            fill(form)
            return switch self {
            case .filledTo:
                stage.session.upload(multipartFormData: fill, to: url, usingThreshold: threshold)
            case .filledWith:
                stage.session.upload(multipartFormData: fill, with: request, usingThreshold: threshold)
            case .formTo: stage.session.upload(multipartFormData: form, to: url, usingThreshold: threshold)
            case .formWith:
                stage.session.upload(multipartFormData: form, with: request, usingThreshold: threshold)
            }
        }
    }

    /// The encoded length of the form that every `Way` sends.
    private static let length: UInt64 = {
        let form = MultipartFormData()
        form.append(Data("a".utf8), withName: "a")
        return form.contentLength
    }()

    @Test("a form of the threshold's length goes into a file", arguments: Way.allCases, [true, false])
    func threshold(_ way: Way, isLong: Bool) async throws {
        try await withPipeline { stage in
            let request = try way.upload(stage, isLong ? Self.length : Self.length + 1)
            let answer = await request.serializingData().response
            #expect(answer.response?.statusCode == 200)
            switch request.uploadable {
            case .file(let file, shouldRemove: true)?:
                #expect(isLong && !FileManager.default.fileExists(atPath: file.path))
            case .data?: #expect(!isLong)
            default: Issue.record("\(String(describing: request.uploadable))")
            }
        }
    }

    @Test("a stream that does not end is not read to its end", arguments: Way.allCases)
    func endless(_ way: Way) async throws {
        try await withPipeline { stage in
            let form = MultipartFormData()
            let read = Protected(0)
            form.append(
                EndlessStream(read), withLength: 1, headers: ["Content-Disposition": "form-data; name=\"a\""])
            let url = stage.url("/post")
            let request =
                switch way {
                case .filledTo, .formTo: stage.session.upload(multipartFormData: form, to: url)
                case .filledWith, .formWith:
                    stage.session.upload(
                        multipartFormData: form, with: try URLRequest(url: url, method: .post))
                }
            let answer = await request.serializingData().response
            #expect(
                answer.error?.isMultipartEncodingError == true
                    || answer.error?.isCreateUploadableError == true)
            #expect(read.read { $0 } < 2 << 20)
        }
    }
}

/// A stream that never ends.
private final class EndlessStream: InputStream {
    private let count: Protected<Int>

    init(_ count: Protected<Int>) {
        self.count = count
        super.init(data: Data())
    }

    override var hasBytesAvailable: Bool { true }
    override var streamStatus: Stream.Status { .open }
    override func open() {}
    override func close() {}
    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        count.write { $0 += len }
        return len
    }
}
