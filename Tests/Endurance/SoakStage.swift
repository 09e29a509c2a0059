// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Lupine
import LupineLoading
import LupineTLS
import LupineTransport

/// The objects that the pieces of work share: the session, the origins, a file. Any thread.
final class SoakStage: Sendable {
    let root: String
    let secureRoot: String
    let session: Session
    let queue = DispatchQueue(label: "soak.progress")
    /// The file that is uploaded, its content, and the SHA-256 of it.
    let file: URL
    let fileContent: Data
    let fileDigest: String
    let tally: TallyBook
    /// Whether its sessions speak HTTP/2.
    let isMultiplexed: Bool
    private let folder: URL
    private let certificate: Certificate

    /// Counters of the work.
    struct Tally: Sendable {
        /// TLS handshakes, and those that resumed a session.
        var handshakes = 0
        var resumptions = 0
        /// Downloads that were cancelled, and those that had to restart.
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

    /// Creates a stage for a plain and a secure origin, with a new folder for its files.
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

    /// Creates the same stage with a session that speaks HTTP/2.
    init(multiplexed stage: SoakStage) {
        (root, secureRoot, certificate) = (stage.root, stage.secureRoot, stage.certificate)
        (tally, folder) = (stage.tally, stage.folder)
        (file, fileContent, fileDigest) = (stage.file, stage.fileContent, stage.fileDigest)
        isMultiplexed = true
        session = Session(
            configuration: Self.configuration(certificate, Self.cache(in: folder, "cache-h2"), .http2))
    }

    /// Returns a session that shares only process-wide objects with the others.
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

    /// Returns the URL of a file that does not exist.
    func newFile() -> URL { folder.appending(path: UUID().uuidString) }

    /// Returns the files of the folder other than the upload and the cache.
    func litter() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            !["upload.bin", "cache", "cache.key", "cache-h2", "cache-h2.key"].contains($0)
        }
    }

    func removeFiles() { try? FileManager.default.removeItem(at: folder) }

    /// Returns the response body of `/range/count`.
    func alphabet(_ count: Int) -> Data {
        Data((0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) })
    }

    func require(_ holds: @autoclosure () throws -> Bool, _ what: @autoclosure () -> String) throws {
        guard try holds() else { throw Endurance.Failure(what()) }
    }
}
