// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import Testing

@testable import Lupine

/// Whole sequences of events of uploads, downloads and streams. For events whose number depends on the transfer, only the first
/// of each run is compared.
struct TransferSequenceTests {
    private static func expect(
        _ expected: String, _ setUp: PipelineSetUp = PipelineSetUp(), ofRequest: String? = nil,
        leavingOut hopping: String? = nil, sourceLocation: SourceLocation = #_sourceLocation,
        of body: (PipelineStage, EventRecorder) async throws -> Void
    ) async throws {
        let own = EventRecorder()
        try await withPipeline(setUp) { stage in
            try await body(stage, own)
            await stage.settle()
            await own.queue.flush()
            let text = Self.brief(stage.events, leavingOut: hopping)
            #expect(text == expected, sourceLocation: sourceLocation)
        }
        let words = expected.split(separator: " ").filter { $0.first != "s" && $0 != "l1" }
        #expect(
            Self.brief(own.text, leavingOut: hopping) == ofRequest ?? words.joined(separator: " "),
            sourceLocation: sourceLocation)
    }

    private static func brief(_ events: String, leavingOut hopping: String?) -> String {
        var depth = 0
        let joined = String(
            events.map { character in
                depth += character == "(" ? 1 : character == ")" ? -1 : 0
                // Errors contain spaces, at which events are split.
                return depth > 0 && character == " " ? "." : character
            })
        var kept: [Substring] = []
        for event in joined.split(separator: " ") where event != hopping ?? "" {
            if ["s3", "s10", "s13"].contains(event), kept.last == event { continue }
            kept.append(event)
        }
        return kept.joined(separator: " ")
    }

    // MARK: uploads

    @Test("[E-5, UP-2] an upload of data, with an interceptor and validation")
    func upload() async throws {
        let setUp = PipelineSetUp(interceptor: ScriptedInterceptor())
        try await Self.expect("r1 r2 r4 u1 r6 r7 r8 s3 s9 s10 s6 r13 s7 d1 r15 r17 d3", setUp) { stage, own in
            let request = stage.session.upload(Data("content".utf8), to: stage.url("/hash"))
                .eventMonitor(own).validate { _, _, _ in .success(()) }
            #expect(await request.parsed().error == nil)
        }
    }

    @Test("[E-5, E-6, UP-6] an upload of a stream: it is asked for once it runs")
    func streamedUpload() async throws {
        try await Self.expect("r1 r2 u1 r6 r7 r8 s4 u3 s3 s9 s10 s6 r13 s7 r15 r17 d2") { stage, own in
            let request = stage.session.upload(
                InputStream(data: Data("content".utf8)), to: stage.url("/hash")
            ).eventMonitor(own)
            #expect(await request.answered().error == nil)
        }
    }

    @Test("[E-5, UP-7] an upload of what cannot be made")
    func failedUpload() async throws {
        try await Self.expect("r1 r2 u2(other) r17 d3(other)") { stage, own in
            let missing = URL(fileURLWithPath: "/missing/file.txt")
            let request = stage.session.upload(
                multipartFormData: { $0.append(missing, withName: "file") }, to: stage.url("/upload")
            ).eventMonitor(own)
            let response = await request.parsed()
            #expect(response.error?.isMultipartEncodingError == true && request.uploadable == nil)
        }
    }

    // MARK: downloads

    @Test("[E-5, E-6, DL-13] a download: monitors of the request do not hear of its destination")
    func download() async throws {
        try await Self.expect("r1 r2 r6 r7 r8 s13 s14 l1 l2 s6 r13 s7 l3 r15 r17 l4 l5") { stage, own in
            let request = stage.session.download(stage.url("/range/100")).eventMonitor(own)
                .validate { _, _, _ in .success(()) }.response { _ in }
            let response = await request.loaded()
            try response.fileURL.map { try FileManager.default.removeItem(at: $0) }
        }
    }

    @Test("[E-5, DL-5] a download that cannot be moved: validators do not run")
    func failedMove() async throws {
        try await Self.expect("r1 r2 r6 r7 r8 s13 s14 l1 l2(other) s6 r13 s7 r15 r17 l4(other)") {
            stage, own in
            let request = stage.download("/range/100") { _, _ in
                (URL(fileURLWithPath: "/missing/file"), [])
            }.eventMonitor(own).validate { _, _, _ in .failure(BriefError("never")) }
            #expect(await request.moved().error?.isDownloadedFileMoveError == true)
        }
    }

    @Test("[E-5, DL-8] a download that fails has no place")
    func failedDownload() async throws {
        try await Self.expect("r1 r2 r6 r7 r8 s13 s6 r13 s7(lost) r15(task.lost) r17 l4(task.lost)") {
            stage, own in
            var resource = CutResource(bytes: octets(100))
            resource.acceptsRanges = false
            resource.serve(stage.origin, from: 0, cut: (50, .end))
            let request = stage.session.download(stage.url("/resource")).eventMonitor(own)
            #expect(await request.moved().error != nil)
        }
    }

    @Test("[E-5, DL-22, DL-26, T-10] a download that is cancelled with resume data, and the one that goes on")
    func resumed() async throws {
        let kept = Protected<Data?>(nil)
        try await withPlace { folder async throws in
            let resource = CutResource(bytes: octets(100))
            try await Self.expect(
                "r1 r2 r6 r7 r8 s13 r11 r12 s6 r13 s7(cancelled) r15(task.cancelled) r17 l4(explicit)"
            ) { stage, own in
                resource.serve(stage.origin, from: 0, cut: (50, .stall))
                let request = stage.session.download(stage.url("/resource")).eventMonitor(own)
                async let response = request.moved()
                await stage.recorder.heard.wait(untilRecorded: "s13")
                request.cancel(producingResumeData: true)
                let data = await response.resumeData
                kept.write { $0 = data }
            }
            let data = try #require(kept.read { $0 })
            let part = try #require(ResumeData(data))
            try await Self.expect("r1 r7 r8 s12 s13 s14 l1 l2 s6 r13 s7 r15 r17 l5") { stage, own in
                resource.serve(stage.origin, from: 50)
                let address = try #require(URL(string: stage.url("/resource")))
                let moved = ResumeData(
                    url: address, fields: part.fields,
                    validator: part.validator, received: part.received, file: part.file)
                let place = folder.appendingPathComponent("file")
                let rest = try #require(moved.data)
                let request = stage.session.download(resumingWith: rest) { _, _ in
                    (place, [])
                }.eventMonitor(own)
                #expect(await request.loaded().value == Data(resource.bytes))
            }
        }
    }

    // MARK: streams

    @Test(
        "[E-5, DS-3, DS-7, DS-8] a stream: pieces are parsed, validators are told, and there is no parse event of a response"
    )
    func stream() async throws {
        try await Self.expect("r1 r2 r6 r7 r8 s9 s10 s11 s6 r13 s7 t1 t1 r15 r17", leavingOut: "t2") {
            stage, own in
            let request = stage.session.streamRequest(stage.url("/bytes/100")).eventMonitor(own).validate()
            let heard = await request.heard(using: PassthroughStreamSerializer())
            #expect(heard.completion.error == nil)
            await stage.settle()
            #expect(stage.recorder.count("t2") >= 1 && own.count("t2") == stage.recorder.count("t2"))
        }
    }
}
