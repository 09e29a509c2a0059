// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

@testable import Lupine

/// The functions of the loading system itself.
extension LimitConsumer {
    static let loading = [
        LimitConsumer("URLSession.data", "for a request") { stage, path in
            let (session, request) = try stage.loading(path)
            _ = try await session.data(for: request)
            return nil
        },
        LimitConsumer("URLSession.data", "from a URL") { stage, path in
            _ = try await stage.session.session.data(from: stage.url(path).asURL())
            return nil
        },
        LimitConsumer("URLSession.upload", "data") { stage, path in
            let (session, request) = try stage.posting(path)
            _ = try await session.upload(for: request, from: Data("a".utf8))
            return nil
        },
        LimitConsumer("URLSession.upload", "file") { stage, path in
            let (session, request) = try stage.posting(path)
            _ = try await session.upload(for: request, fromFile: URL(fileURLWithPath: #filePath))
            return nil
        },
        LimitConsumer("URLSession.dataTask", "with a request") { stage, path in
            let (session, request) = try stage.loading(path)
            return await called { answer in
                session.dataTask(with: request) { answer($2) }.resume()
            }
        },
        LimitConsumer("URLSession.dataTask", "with a URL") { stage, path in
            let url = try stage.url(path).asURL()
            return await called { answer in
                stage.session.session.dataTask(with: url) { answer($2) }.resume()
            }
        },
        LimitConsumer("URLSession.uploadTask", "data") { stage, path in
            let (session, request) = try stage.posting(path)
            return await called { answer in
                session.uploadTask(with: request, from: Data("a".utf8)) { answer($2) }.resume()
            }
        },
        LimitConsumer("URLSession.uploadTask", "file") { stage, path in
            let (session, request) = try stage.posting(path)
            return await called { answer in
                session.uploadTask(with: request, fromFile: URL(fileURLWithPath: #filePath)) { answer($2) }
                    .resume()
            }
        },
        LimitConsumer("URLSession.download", "for a request", collects: false) { stage, path in
            let (session, request) = try stage.loading(path)
            try FileManager.default.removeItem(at: await session.download(for: request).0)
            return nil
        },
        LimitConsumer("URLSession.download", "from a URL", collects: false) { stage, path in
            let url = try stage.url(path).asURL()
            try FileManager.default.removeItem(at: await stage.session.session.download(from: url).0)
            return nil
        },
        LimitConsumer("URLSession.downloadTask", collects: false) { stage, path in
            let (session, request) = try stage.loading(path)
            return await called { answer in
                session.downloadTask(with: request) { answer($2) }.resume()
            }
        },
        LimitConsumer("URLSession.bytes", "for a request", collects: false) { stage, path in
            let (session, request) = try stage.loading(path)
            for try await _ in try await session.bytes(for: request).0 {}
            return nil
        },
        LimitConsumer("URLSession.bytes", "from a URL", collects: false) { stage, path in
            for try await _ in try await stage.session.session.bytes(from: stage.url(path).asURL()).0 {}
            return nil
        },
        LimitConsumer("AsyncSequence.lines") { stage, path in
            let (session, request) = try stage.loading(path)
            for try await _ in try await session.bytes(for: request).0.lines {}
            return nil
        },
    ]
}

extension PipelineStage {
    /// Returns the session and a POST request.
    fileprivate func posting(_ path: String) throws -> (URLSession, URLRequest) {
        var (session, request) = try loading(path)
        request.httpMethod = "POST"
        return (session, request)
    }
}
