// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Lupine
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineLoading

/// Large downloads that are interrupted and resumed, from Lupine's origin and from nginx.
@Suite struct CutDownloadTests {
    enum Server: CaseIterable {
        case origin
        case nginx
    }

    /// The way in which a download is interrupted.
    private enum Cut: CaseIterable {
        case reset
        case timeOut
        case cancel
    }

    /// A resource on a server, behind a relay.
    private struct Stage {
        let relay: CutRelay
        let folder: URL
        /// Makes the server serve the given content from now on.
        let serve: (LongContent) throws -> Void

        var address: String { "http://127.0.0.1:\(relay.port)/long.bin" }
        var place: URL { folder.appendingPathComponent("file") }
    }

    private let quiet = DispatchQueue(label: "progress")

    private func withStage(_ server: Server, _ body: (Stage) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cut-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        switch server {
        case .origin:
            let origin = try LupineOrigin.Origin.start()
            let result: Result<Void, any Error>
            do {
                try await CutRelay.with(origin.port) { relay in
                    try await body(Stage(relay: relay, folder: folder) { $0.serve("/long.bin", on: origin) })
                }
                result = .success(())
            } catch { result = .failure(error) }
            await origin.shutdown()
            try result.get()
        case .nginx:
            try await ServerProcess.with(NginxServer(locations: "")) { nginx in
                let file = URL(fileURLWithPath: nginx.place.folder + "/long.bin")
                try await CutRelay.with(nginx.place.port) { relay in
                    try await body(Stage(relay: relay, folder: folder) { try $0.write(to: file) })
                }
            }
        }
    }

    private func session(timeOut: TimeInterval = 60) -> Session {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.timeoutIntervalForRequest = timeOut
        return Session(configuration: configuration)
    }

    /// Downloads from the start, or from the offset of resume data; cancels after `point` bytes.
    private func download(
        _ data: Data?, _ stage: Stage, by session: Session, cancelledAt point: Int64? = nil
    ) async -> AFDownloadResponse<URL?> {
        let place = stage.place
        let destination: DownloadRequest.Destination = { _, _ in (place, .removePreviousFile) }
        let request =
            data.map { session.download(resumingWith: $0, to: destination) }
            ?? session.download(stage.address, to: destination)
        if let point {
            request.downloadProgress(queue: quiet) { [weak request] progress in
                if progress.completedUnitCount >= point { request?.cancel(producingResumeData: true) }
            }
        }
        return await withCheckedContinuation { continuation in
            request.response(queue: quiet) { continuation.resume(returning: $0) }
        }
    }

    @Test(
        "[DL-22, DL-24, DL-26] 256 MiB cut at 20 random points by resets, time-outs and cancels are whole in the end",
        .timeLimit(.minutes(10)), arguments: Server.allCases)
    func cuts(_ server: Server) async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("cut downloads from \(server): seed \(seed)")
        var random = SeededRandom(seed: seed)
        let content = LongContent(256 << 20, seed: seed)
        let (patient, impatient) = (session(), session(timeOut: 0.5))
        try await withStage(server) { stage in
            try stage.serve(content)
            var data: Data?
            var offset = 0
            for round in 0..<20 {
                let left = content.count - offset
                let length = 1 + Int(random.next() % UInt64(left / (22 - round) * 2 - 1))
                let cut = Cut.allCases[round % 3]
                // The relay counts the head too, and a download must still be running when it is cancelled.
                let slack = cut == .cancel ? min(4 << 20, (left - length) / 2) : 0
                stage.relay.cutNext(
                    CutRelay.Cut(after: 1_000 + length + slack, ending: cut == .reset ? .reset : .stall))
                let end = await download(
                    data, stage, by: cut == .timeOut ? impatient : patient,
                    cancelledAt: cut == .cancel ? Int64(offset + length) : nil)
                #expect(end.error != nil && end.fileURL == nil, "round \(round), seed \(seed)")
                data = try #require(end.resumeData as Data?, "round \(round), \(cut), seed \(seed): \(end)")
                let received = Int(try #require(data.flatMap { ResumeData($0) }).received)
                #expect(received > offset && received < content.count, "round \(round), seed \(seed)")
                offset = received
            }
            let whole = await download(data, stage, by: patient)
            #expect(whole.fileURL == stage.place && whole.response?.statusCode == 206, "\(whole)")
            let got = try digest(ofFile: stage.place)
            #expect(got == content.digest, "seed \(seed)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: stage.folder.path) == ["file"])
        }
        for session in [patient, impatient] { session.session.invalidateAndCancel() }
    }

    @Test(
        "[DL-26] a resource that has changed since the cut starts anew and is whole",
        .timeLimit(.minutes(10)),
        arguments: Server.allCases)
    func changed(_ server: Server) async throws {
        let session = session()
        try await withStage(server) { stage in
            try stage.serve(LongContent(16 << 20, seed: 1))
            stage.relay.cutNext(CutRelay.Cut(after: 9 << 20, ending: .reset))
            let data = try #require(await download(nil, stage, by: session).resumeData)
            let part = try #require(ResumeData(data)).file
            let other = LongContent(12 << 20, seed: 2)
            try stage.serve(other)
            let whole = await download(data, stage, by: session)
            #expect(whole.response?.statusCode == 200 && whole.error == nil)
            let got = try digest(ofFile: stage.place)
            #expect(got == other.digest)
            #expect(!FileManager.default.fileExists(atPath: part))
        }
        session.session.invalidateAndCancel()
    }

    @Test("[DL-24, DL-26] nginx without ranges gives nothing to go on with", .timeLimit(.minutes(10)))
    func withoutRanges() async throws {
        let session = session()
        try await ServerProcess.with(NginxServer(locations: "max_ranges 0;")) { nginx in
            let folder = URL(fileURLWithPath: nginx.place.folder)
            let content = LongContent(8 << 20, seed: 3)
            try content.write(to: folder.appendingPathComponent("long.bin"))
            try await CutRelay.with(nginx.place.port) { relay in
                let stage = Stage(relay: relay, folder: folder) { _ in }
                relay.cutNext(CutRelay.Cut(after: 4 << 20, ending: .reset))
                let lost = await download(nil, stage, by: session)
                #expect(lost.error != nil && lost.resumeData == nil)
                relay.cutNext(CutRelay.Cut(after: 4 << 20, ending: .stall))
                let cancelled = await download(nil, stage, by: session, cancelledAt: 1 << 20)
                #expect(cancelled.error?.isExplicitlyCancelledError == true && cancelled.resumeData == nil)
                let whole = await download(nil, stage, by: session)
                #expect(whole.error == nil)
                let got = try digest(ofFile: stage.place)
                #expect(got == content.digest)
            }
        }
        session.session.invalidateAndCancel()
    }

    @Test(
        "[DL-26] a server that has had ranges and has none any more sends all of it again",
        .timeLimit(.minutes(10)))
    func rangesAreGone() async throws {
        let session = session()
        let origin = try LupineOrigin.Origin.start()
        let content = LongContent(8 << 20, seed: 4)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cut-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await CutRelay.with(origin.port) { relay in
            let stage = Stage(relay: relay, folder: folder) { _ in }
            content.serve("/long.bin", on: origin)
            relay.cutNext(CutRelay.Cut(after: 4 << 20, ending: .reset))
            let data = try #require(await download(nil, stage, by: session).resumeData)
            content.serve("/long.bin", on: origin, acceptsRanges: false)
            let whole = await download(data, stage, by: session)
            #expect(whole.response?.statusCode == 200 && whole.error == nil)
            let got = try digest(ofFile: stage.place)
            #expect(got == content.digest)
        }
        session.session.invalidateAndCancel()
        await origin.shutdown()
    }
}
