// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// Uploads. The guide's video is replaced by a file that the test writes.
@Suite struct UploadSnippets {
    struct HTTPBinResponse: Decodable, Sendable {
        let url: String
        let data: String
        let form: [String: String]
        let headers: [String: String]
    }

    private static let video = Data("moving pictures".utf8)

    private func withVideo(_ body: (URL?) async throws -> Void) async throws {
        let fileURL = FileManager.default.temporaryDirectory.appendingPathComponent(
            "\(UUID().uuidString).mov")
        try Self.video.write(to: fileURL)
        defer { try? FileManager.default.removeItem(at: fileURL) }
        try await body(fileURL)
    }

    @Test func dataIsUploaded() async throws {
        try await HTTPBin.serve { httpbin in
            let response: AFDataResponse<HTTPBinResponse> = await handed { hand in
                let data = Data("data".utf8)

                AF.upload(data, to: "\(httpbin)/anything", headers: [.contentType("text/plain")])
                    .responseDecodable(of: HTTPBinResponse.self) { response in
                        debugPrint(response)
                        hand(response)
                    }
            }
            #expect(response.value?.data == "data")
            #expect(response.request?.method == .post)
        }
    }

    @Test func aFileIsUploaded() async throws {
        try await HTTPBin.serve { httpbin in
            try await withVideo { url in
                let response: AFDataResponse<HTTPBinResponse> = await handed { hand in
                    let fileURL = url!

                    AF.upload(fileURL, to: "\(httpbin)/anything", headers: [.contentType("video/quicktime")])
                        .responseDecodable(of: HTTPBinResponse.self) { response in
                            debugPrint(response)
                            hand(response)
                        }
                }
                #expect(response.value?.data == "moving pictures")
            }
        }
    }

    @Test func aFormIsUploaded() async throws {
        try await HTTPBin.serve { httpbin in
            let response: AFDataResponse<HTTPBinResponse> = await handed { hand in
                AF.upload(
                    multipartFormData: { multipartFormData in
                        multipartFormData.append(Data("one".utf8), withName: "one")
                        multipartFormData.append(Data("two".utf8), withName: "two")
                    }, to: "\(httpbin)/post"
                )
                .responseDecodable(of: HTTPBinResponse.self) { response in
                    debugPrint(response)
                    hand(response)
                }
            }
            #expect(response.value?.form == ["one": "one", "two": "two"])
            #expect(
                response.value?.headers["Content-Type"]?.hasPrefix("multipart/form-data; boundary=") == true)
        }
    }

    @Test func anUploadTellsHowFarItIs() async throws {
        try await HTTPBin.serve { httpbin in
            try await withVideo { url in
                let (steps, step) = AsyncStream.makeStream(of: String.self)
                let fileURL = url!

                AF.upload(fileURL, to: "\(httpbin)/post", headers: [.contentType("video/quicktime")])
                    .uploadProgress { progress in
                        print("Upload Progress: \(progress.fractionCompleted)")
                        if progress.fractionCompleted == 1 { step.yield("sent") }
                    }
                    .downloadProgress { progress in
                        print("Download Progress: \(progress.fractionCompleted)")
                        if progress.fractionCompleted == 1 { step.yield("received") }
                    }
                    .responseDecodable(of: HTTPBinResponse.self) { response in
                        debugPrint(response)
                        step.yield(response.value?.data ?? "nothing")
                        step.finish()
                    }
                var all: [String] = []
                for await next in steps where all.last != next { all.append(next) }
                #expect(all == ["sent", "received", "moving pictures"])
            }
        }
    }
}
