// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

@testable import Lupine

/// Downloads: the body goes into a file, which some of the functions read into memory.
extension LimitConsumer {
    private struct Plain: DownloadResponseSerializerProtocol {
        func serializeDownload(
            request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
        ) throws -> Int {
            if let error { throw error }
            return 1
        }
    }

    static let downloads = [
        LimitConsumer("DownloadRequest.response", collects: false) { stage, path in
            await saved { answer in
                stage.session.download(stage.url(path)).response(queue: stage.handlers) { answer($0) }
            }
        },
        LimitConsumer("DownloadRequest.response", "ResponseSerializer") { stage, path in
            await saved { answer in
                stage.session.download(stage.url(path)).response(
                    queue: stage.handlers, responseSerializer: DataResponseSerializer()
                ) { answer($0) }
            }
        },
        LimitConsumer("DownloadRequest.response", "its own", collects: false) { stage, path in
            await saved { answer in
                stage.session.download(stage.url(path)).response(
                    queue: stage.handlers, responseSerializer: Plain()
                ) { answer($0) }
            }
        },
        LimitConsumer("DownloadRequest.responseURL", collects: false) { stage, path in
            await saved { answer in
                stage.session.download(stage.url(path)).responseURL(queue: stage.handlers) { answer($0) }
            }
        },
        LimitConsumer("DownloadRequest.responseData") { stage, path in
            await saved { answer in
                stage.session.download(stage.url(path)).responseData(queue: stage.handlers) { answer($0) }
            }
        },
        LimitConsumer("DownloadRequest.responseString") { stage, path in
            await saved { answer in
                stage.session.download(stage.url(path)).responseString(queue: stage.handlers) { answer($0) }
            }
        },
        LimitConsumer("DownloadRequest.responseJSON") { stage, path in
            await called { answer in
                deprecatedJSON(of: stage.session.download(stage.url(path)), stage) { answer($0) }
            }
        },
        LimitConsumer("DownloadRequest.responseDecodable") { stage, path in
            await saved { answer in
                stage.session.download(stage.url(path)).responseDecodable(
                    of: String.self, queue: stage.handlers
                ) { answer($0) }
            }
        },
        LimitConsumer("DownloadRequest.serializingData") { stage, path in
            await saved(stage.session.download(stage.url(path)).serializingData())
        },
        LimitConsumer("DownloadRequest.serializingString") { stage, path in
            await saved(stage.session.download(stage.url(path)).serializingString())
        },
        LimitConsumer("DownloadRequest.serializingDecodable") { stage, path in
            await saved(stage.session.download(stage.url(path)).serializingDecodable(String.self))
        },
        LimitConsumer("DownloadRequest.serializingDownloadedFileURL", collects: false) { stage, path in
            await saved(stage.session.download(stage.url(path)).serializingDownloadedFileURL())
        },
        LimitConsumer("DownloadRequest.serializingDownload", "ResponseSerializer") { stage, path in
            await saved(
                stage.session.download(stage.url(path)).serializingDownload(using: StringResponseSerializer())
            )
        },
        LimitConsumer("DownloadRequest.serializingDownload", "its own", collects: false) { stage, path in
            await saved(stage.session.download(stage.url(path)).serializingDownload(using: Plain()))
        },
    ]

    private static func saved<Value>(
        _ body: (@escaping @Sendable (AFDownloadResponse<Value>) -> Void) -> Void
    ) async -> (any Error)? {
        let response = await called(body)
        response.removeFile()
        return response.error
    }

    private static func saved<Value>(_ task: DownloadTask<Value>) async -> (any Error)? {
        let response = await task.response
        response.removeFile()
        return response.error
    }
}

extension DownloadResponse {
    /// Removes the downloaded file.
    func removeFile() {
        if let fileURL { try? FileManager.default.removeItem(at: fileURL) }
    }
}
