// SPDX-License-Identifier: MIT

import Foundation
import Lupine

/// The origin that the scenarios talk to, and how. A value.
struct FaultPlace: Sendable {
    let port: UInt16

    /// An address of the origin, under a name of the program's choice.
    func url(_ path: String, host: String = "127.0.0.1") -> String { "http://\(host):\(port)\(path)" }

    /// A session of its own.
    func session(_ change: (URLSessionConfiguration) -> Void = { _ in }) -> Session {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        change(configuration)
        return Session(configuration: configuration)
    }

    /// A folder of its own.
    func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "lupine-fault-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    /// Loads `/range/count` and looks at every byte.
    func check(_ session: Session, _ count: Int = 1_000, host: String = "127.0.0.1") async throws {
        let data = try await session.request(url("/range/\(count)", host: host)).validate().serializingData()
            .value
        guard data == alphabet(count) else { throw FaultProbe.Failure("\(data.count) bytes, or others") }
    }

    /// What `/range/count` answers.
    func alphabet(_ count: Int) -> Data { Data((0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }) }

    func require(_ holds: @autoclosure () throws -> Bool, _ what: @autoclosure () -> String) throws {
        guard try holds() else { throw FaultProbe.Failure(what()) }
    }
}

extension AFError {
    /// The loading system's error, with all that it says.
    var urlError: URLError? { underlyingError as? URLError }
}
