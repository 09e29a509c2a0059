// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The snippets of `Downloads.md`, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct DownloadSnippets {
    @Test func toAPlace() async throws {
        try await inFolder { folder in
            try await API.serve { api in
                let destination: DownloadRequest.Destination = { _, response in
                    let name = response.suggestedFilename ?? "download"
                    return (
                        folder.appending(path: name), [.createIntermediateDirectories, .removePreviousFile]
                    )
                }
                let file = try await AF.download("\(api)/bytes/4096", to: destination)
                    .validate()
                    .serializingDownloadedFileURL()
                    .value
                #expect(try Data(contentsOf: file).count == 4096)
            }
        }
    }

    @Test func progress() async throws {
        try await inFolder { folder in
            try await API.serve { api in
                let destination: DownloadRequest.Destination = { _, _ in (folder.appending(path: "part"), [])
                }
                let download = AF.download("\(api)/bytes/1000000", to: destination)
                let steps = download.downloadProgress()
                let task = download.serializingDownloadedFileURL()
                for await progress in steps {
                    print("\(progress.completedUnitCount) of \(progress.totalUnitCount) bytes")
                }
                let file = try await task.value
                #expect(try Data(contentsOf: file).count == 1_000_000)
            }
        }
    }

    @Test func resuming() async throws {
        try await inFolder { folder in
            try await API.serve { api in
                let destination: DownloadRequest.Destination = { _, _ in (folder.appending(path: "whole"), [])
                }
                let (begun, begin) = AsyncStream.makeStream(of: Void.self)
                api.breakOff("/whole", count: 4096)
                let first = AF.download("\(api)/whole", to: destination)
                    .downloadProgress { if $0.completedUnitCount > 0 { begin.finish() } }
                    .response { _ in }
                for await _ in begun {}
                let data: Data? = await withCheckedContinuation { continuation in
                    first.cancel { continuation.resume(returning: $0) }
                }
                let resumeData = try #require(data)
                let response = await AF.download(resumingWith: resumeData, to: destination)
                    .serializingDownloadedFileURL()
                    .response
                #expect(response.response?.statusCode == 206)
                #expect(try Data(contentsOf: try response.result.get()).count == 4096)
            }
        }
    }

    @Test func afterAFailure() async throws {
        try await API.serve { api in
            let response = await AF.download("\(api)/status/503").validate().serializingDownloadedFileURL()
                .response
            if let resumeData = response.resumeData {
                print("\(resumeData.count) bytes say where to go on")
            }
            #expect(response.error?.responseCode == 503)
            try FileManager.default.removeItem(at: try #require(response.fileURL))
        }
    }
}
