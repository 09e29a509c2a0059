// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Lupine
import Testing

/// Downloads. Where the guide creates a `UIImage`, the tests check for the signature of a PNG.
@Suite struct DownloadSnippets {
    private static let signature = Data([0x89, 0x50, 0x4E, 0x47])

    private func isPNG(_ data: Data?) -> Bool { data?.prefix(4) == Self.signature }

    @Test func aDownloadIsReadFromItsFile() async throws {
        try await HTTPBin.serve { httpbin in
            let image: Data? = await handed { hand in
                AF.download("\(httpbin)/image/png").responseData { response in
                    discard(response.fileURL)
                    hand(response.value)
                }
            }
            #expect(isPNG(image))
        }
    }

    @Test func aDownloadHasADestination() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await HTTPBin.serve { httpbin in
            let response: AFDownloadResponse<URL?> = await handed { hand in
                let destination: DownloadRequest.Destination = { _, _ in
                    let documentsURL = folder.appendingPathComponent("documents")
                    let fileURL = documentsURL.appendingPathComponent("image.png")

                    return (fileURL, [.removePreviousFile, .createIntermediateDirectories])
                }

                AF.download("\(httpbin)/image/png", to: destination).response { response in
                    debugPrint(response)
                    hand(response)
                }
            }
            #expect(response.error == nil)
            #expect(response.fileURL?.path == folder.path + "/documents/image.png")
            let imagePath = try #require(response.fileURL?.path)
            #expect(isPNG(FileManager.default.contents(atPath: imagePath)))
        }
    }

    /// The guide's directory is `.documentDirectory`; a test must not leave files there.
    @Test func aDestinationIsSuggested() async throws {
        try await HTTPBin.serve { httpbin in
            let destination = DownloadRequest.suggestedDownloadDestination(
                for: .cachesDirectory, options: [.createIntermediateDirectories])

            let name = "\(UUID().uuidString).png"
            httpbin.answer(
                "/image/\(name)",
                with: "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 2\r\n\r\nok")
            let response = await AF.download("\(httpbin)/image/\(name)", to: destination)
                .serializingDownloadedFileURL().response
            let folder = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
            let file = try response.result.get()
            #expect(file.path == folder?.appendingPathComponent(name).path)
            try FileManager.default.removeItem(at: file)
        }
    }

    @Test func aDownloadTellsHowFarItIs() async throws {
        try await HTTPBin.serve { httpbin in
            let (fractions, fraction) = AsyncStream.makeStream(of: Double.self)
            let image: Data? = await handed { hand in
                AF.download("\(httpbin)/image/png")
                    .downloadProgress { progress in
                        print("Download Progress: \(progress.fractionCompleted)")
                        fraction.yield(progress.fractionCompleted)
                    }
                    .responseData { response in
                        fraction.finish()
                        discard(response.fileURL)
                        hand(response.value)
                    }
            }
            var last = 0.0
            for await next in fractions { last = next }
            #expect(last == 1)
            #expect(isPNG(image))
        }
    }

    @Test func progressHasAQueue() async throws {
        try await HTTPBin.serve { httpbin in
            let (fractions, fraction) = AsyncStream.makeStream(of: Double.self)
            let progressQueue = DispatchQueue(label: "com.alamofire.progressQueue", qos: .utility)

            AF.download("\(httpbin)/image/png")
                .downloadProgress(queue: progressQueue) { progress in
                    print("Download Progress: \(progress.fractionCompleted)")
                    dispatchPrecondition(condition: .onQueue(progressQueue))
                    fraction.yield(progress.fractionCompleted)
                }
                .responseData { response in
                    discard(response.fileURL)
                    progressQueue.async { fraction.finish() }
                }
            var last = 0.0
            for await next in fractions { last = next }
            #expect(last == 1)
        }
    }

    /// The guide cancels and resumes at once; here the cancellation waits until a part has arrived.
    @Test func aDownloadIsCancelledAndResumed() async throws {
        try await HTTPBin.serve { httpbin in
            let (begun, begin) = AsyncStream.makeStream(of: Void.self)
            httpbin.breakOff("/part", count: 4_096)
            let download = AF.download("\(httpbin)/part")
                .downloadProgress { if $0.completedUnitCount > 0 { begin.finish() } }
                .responseData { response in
                    debugPrint(response)
                }
            for await _ in begun {}
            // download.cancel(producingResumeData: true) // Makes resumeData available in response only.
            let data: Data? = await handed { hand in
                download.cancel { data in
                    hand(data)
                }
            }
            let resumeData = try #require(data)
            #expect(download.isCancelled)
            let response: AFDownloadResponse<Data> = await handed { hand in
                AF.download(resumingWith: resumeData).responseData { response in
                    discard(response.fileURL)
                    hand(response)
                }
            }
            #expect(response.value?.count == 4_096)
            #expect(response.response?.statusCode == 206)
        }
    }
}
