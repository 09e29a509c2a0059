// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

/// The programs in README.md that use the URL loading system, compiled without changes.
enum LoadingSnippets {
    static func session(_ url: URL, _ place: URL) async throws {
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForRequest = 10
        configuration.lupine.idleConnectionTimeout = .seconds(15)
        let session = URLSession(configuration: configuration)
        let (data, response) = try await session.data(from: url)
        print((response as? HTTPURLResponse)?.statusCode ?? 0, data.count)
        let (file, _) = try await session.download(from: url)
        try FileManager.default.moveItem(at: file, to: place)
    }

    static func conversation(_ session: URLSession, _ url: URL, _ echo: URL) async throws {
        let (bytes, _) = try await session.bytes(from: url)
        for try await line in bytes.lines {
            print(line)
        }
        let socket = session.webSocketTask(with: echo)
        socket.resume()
        try await socket.send(.string("lupin"))
        if case .string(let text) = try await socket.receive() { print(text) }
        socket.cancel(with: .normalClosure, reason: nil)
    }
}
