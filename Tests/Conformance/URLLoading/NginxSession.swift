// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import Testing

/// Sessions that use one nginx, and the requests that nginx has logged.
struct NginxSession {
    let nginx: ServerProcess

    /// Runs `body` with nginx serving these locations.
    static func with(
        _ locations: String, site: [(name: String, text: String)] = [],
        _ body: (NginxSession) async throws -> Void
    ) async throws {
        try await ServerProcess.with(NginxServer(locations: locations, site: site)) {
            try await body(NginxSession(nginx: $0))
        }
    }

    func url(_ path: String) throws -> URL { try #require(URL(string: nginx.url + path)) }

    /// Returns a session without a proxy, configured by `change`.
    func session(
        _ delegate: (any URLSessionDelegate)? = nil, _ change: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        change(configuration)
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    /// Sends a GET request and returns the response.
    func get(
        _ path: String, _ fields: [String: String] = [:], by session: URLSession
    ) async throws -> (text: String, response: HTTPURLResponse) {
        var request = URLRequest(url: try url(path))
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await session.data(for: request)
        return (String(decoding: data, as: UTF8.self), try #require(response as? HTTPURLResponse))
    }

    /// Returns the requests so far, as `path status`.
    ///
    /// nginx has one thread here, and writes a line to the log before it reads the next request: so once the last request has
    /// been answered, all others are in the log.
    func requests() async throws -> [String] {
        let last = session()
        _ = try await get("/not-logged-yet", by: last)
        last.invalidateAndCancel()
        let text = try String(contentsOfFile: nginx.place.folder + "/access.log", encoding: .utf8)
        return text.split(separator: "\n").compactMap { line in
            let quoted = line.split(separator: "\"")
            guard quoted.count > 2, let path = quoted[1].split(separator: " ").dropFirst().first,
                let status = quoted[2].split(separator: " ").first
            else { return nil }
            return path == "/not-logged-yet" ? nil : "\(path) \(status)"
        }
    }
}
