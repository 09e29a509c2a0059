// SPDX-License-Identifier: MIT

import Foundation
import Lupine

/// The origin of the scenarios. A value.
struct FaultOrigin: Sendable {
    let port: UInt16

    /// Returns a URL of the origin, with any host name.
    func url(_ path: String, host: String = "127.0.0.1") -> String { "http://\(host):\(port)\(path)" }

    /// Returns a new session.
    func session(_ change: (URLSessionConfiguration) -> Void = { _ in }) -> Session {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        change(configuration)
        return Session(configuration: configuration)
    }

    /// Returns a new folder.
    func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "lupine-fault-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    /// Loads `/range/count` and checks every byte.
    func check(_ session: Session, _ count: Int = 1_000, host: String = "127.0.0.1") async throws {
        let data = try await session.request(url("/range/\(count)", host: host)).validate().serializingData()
            .value
        guard data == alphabet(count) else { throw FaultProbe.Failure("\(data.count) bytes, or others") }
    }

    /// Returns the response body of `/range/count`.
    func alphabet(_ count: Int) -> Data { Data((0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }) }

    func require(_ holds: @autoclosure () throws -> Bool, _ what: @autoclosure () -> String) throws {
        guard try holds() else { throw FaultProbe.Failure(what()) }
    }
}

extension AFError {
    /// The loading system's error, with its user info.
    var urlError: URLError? { underlyingError as? URLError }
}
