// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Lupine
import LupineLoading
import LupineTLS
import LupineTransport

/// What the pieces of a soak's work have in common: the session, the origins, a file. Any thread.
final class SoakStage: Sendable {
    let root: String
    let secureRoot: String
    let session: Session
    let queue = DispatchQueue(label: "soak.progress")
    /// What is uploaded, and the SHA-256 of it.
    let file: URL
    let fileContent: Data
    let fileDigest: String
    let tally: TallyBook
    /// Whether its sessions speak HTTP/2.
    let isMultiplexed: Bool
    private let folder: URL
    private let certificate: Certificate

    /// What is counted along the way.
    struct Tally: Sendable {
        /// TLS handshakes, and those of them that took up where an earlier one began.
        var handshakes = 0
        var resumptions = 0
        /// Downloads that were cut, and those of them that had to begin again.
        var cuts = 0
        var restarts = 0
    }

    /// The tally of all stages of a soak. Any thread.
    final class TallyBook: Sendable {
        private let tally = Lock(Tally())

        func withLock<Result: Sendable>(_ body: (inout Tally) -> Result) -> Result {
            tally.withLock { body(&$0) }
        }
    }

    /// A stage before a plain and a secure origin, whose files are in a folder of its own.
    init(_ plain: OriginChild, _ secure: OriginChild) throws {
        guard let root = plain.roots.first?.first, let secureRoot = secure.roots.first?.first,
            let certificate = secure.certificate
        else { throw Endurance.Failure("an origin has no address") }
        self.root = root
        self.secureRoot = secureRoot
        self.certificate = certificate
        tally = TallyBook()
        isMultiplexed = false
        folder = FileManager.default.temporaryDirectory.appending(path: "lupine-soak-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        file = folder.appending(path: "upload.bin")
        let octets = (0..<250_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        fileContent = Data(octets)
        try fileContent.write(to: file)
        fileDigest = SHA256Digest.of(octets).description
        session = Session(
            configuration: Self.configuration(certificate, Self.cache(in: folder, "cache"), .http11))
    }

    /// The same stage with a session that speaks HTTP/2.
    init(multiplexed stage: SoakStage) {
        (root, secureRoot, certificate) = (stage.root, stage.secureRoot, stage.certificate)
        (tally, folder) = (stage.tally, stage.folder)
        (file, fileContent, fileDigest) = (stage.file, stage.fileContent, stage.fileDigest)
        isMultiplexed = true
        session = Session(
            configuration: Self.configuration(certificate, Self.cache(in: folder, "cache-h2"), .http2))
    }

    /// A session that shares nothing with the others but what the process has once.
    func newSession() -> Session {
        Session(configuration: Self.configuration(certificate, nil, isMultiplexed ? .http2 : .http11))
    }

    private static func cache(in folder: URL, _ name: String) -> URLCache {
        URLCache(
            memoryCapacity: 1 << 20, diskCapacity: 2 << 20, directory: folder.appending(path: name),
            keyFile: folder.appending(path: "\(name).key"))
    }

    private static func configuration(
        _ certificate: Certificate, _ cache: URLCache?, _ versions: HTTPVersions
    ) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.urlCache = cache
        configuration.httpMaximumConnectionsPerHost = 32
        configuration.lupine.tls.roots = .certificates([certificate])
        configuration.lupine.offersWebSocketCompression = true
        configuration.lupine.httpVersions = versions
        return configuration
    }

    /// A path that nothing is at.
    func newFile() -> URL { folder.appending(path: UUID().uuidString) }

    /// What the folder has beyond the upload and the cache.
    func litter() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            !["upload.bin", "cache", "cache.key", "cache-h2", "cache-h2.key"].contains($0)
        }
    }

    func removeFiles() { try? FileManager.default.removeItem(at: folder) }

    /// What `/range/count` answers.
    func alphabet(_ count: Int) -> Data {
        Data((0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) })
    }

    func require(_ holds: @autoclosure () throws -> Bool, _ what: @autoclosure () -> String) throws {
        guard try holds() else { throw Endurance.Failure(what()) }
    }
}
