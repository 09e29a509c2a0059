// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import Testing

@testable import Lupine

/// The complete sequences of events of uploads, downloads and streams. Of consecutive progress events, whose number varies, only
/// the first one is compared. `EventRecorder` explains the names of the events.
struct TransferSequenceTests {
    /// Runs `body`, and then checks the events that the session's monitor and the monitor of a request have received, without the
    /// event `ignored`. `body` adds the recorder that it is passed to its request.
    private static func expect(
        _ expected: String, _ setUp: PipelineSetUp = PipelineSetUp(), ignoring ignored: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation,
        of body: (PipelineStage, EventRecorder) async throws -> Void
    ) async throws {
        let monitor = EventRecorder()
        try await withPipeline(setUp) { stage in
            try await body(stage, monitor)
            await stage.settle()
            await monitor.queue.flush()
            let text = Self.normalized(stage.events, ignoring: ignored)
            #expect(text == expected, sourceLocation: sourceLocation)
        }
        let words = expected.split(separator: " ").filter { $0.first != "s" && $0 != "l1" }
        #expect(
            Self.normalized(monitor.text, ignoring: ignored) == words.joined(separator: " "),
            sourceLocation: sourceLocation)
    }

    /// Returns the events with one progress event in place of several consecutive ones, and without the event `ignored`. Spaces
    /// in errors are replaced by dots, because spaces separate the events.
    private static func normalized(_ events: String, ignoring ignored: String?) -> String {
        var depth = 0
        let dotted = String(
            events.map { character in
                if character == "(" { depth += 1 }
                if character == ")" { depth -= 1 }
                return depth > 0 && character == " " ? "." : character
            })
        var remaining: [Substring] = []
        for event in dotted.split(separator: " ") where event != ignored ?? "" {
            if ["s3", "s10", "s13"].contains(event), remaining.last == event { continue }
            remaining.append(event)
        }
        return remaining.joined(separator: " ")
    }

    // MARK: uploads

    @Test("[E-5, UP-2] an upload of data, with an interceptor and validation")
    func upload() async throws {
        let setUp = PipelineSetUp(interceptor: ScriptedInterceptor())
        try await Self.expect("r1 r2 r4 u1 r6 r7 r8 s3 s9 s10 s6 r13 s7 d1 r15 r17 d3", setUp) {
            stage, monitor in
            let request = stage.session.upload(Data("content".utf8), to: stage.url("/hash"))
                .eventMonitor(monitor).validate { _, _, _ in .success(()) }
            #expect(await request.parsed().error == nil)
        }
    }

    @Test("[E-5, E-6, UP-6] an upload of a stream: the task requests the stream")
    func streamedUpload() async throws {
        try await Self.expect("r1 r2 u1 r6 r7 r8 s4 u3 s3 s9 s10 s6 r13 s7 r15 r17 d2") { stage, monitor in
            let request = stage.session.upload(
                InputStream(data: Data("content".utf8)), to: stage.url("/hash")
            ).eventMonitor(monitor)
            #expect(await request.answered().error == nil)
        }
    }

    @Test("[E-5, UP-7] an upload whose form cannot be encoded")
    func failedUpload() async throws {
        try await Self.expect("r1 r2 u2(other) r17 d3(other)") { stage, monitor in
            let missing = URL(fileURLWithPath: "/missing/file.txt")
            let request = stage.session.upload(
                multipartFormData: { $0.append(missing, withName: "file") }, to: stage.url("/upload")
            ).eventMonitor(monitor)
            let response = await request.parsed()
            #expect(response.error?.isMultipartEncodingError == true && request.uploadable == nil)
        }
    }

    // MARK: downloads

    @Test("[E-5, E-6, DL-13] a download: the request's monitor does not receive the destination event")
    func download() async throws {
        try await Self.expect("r1 r2 r6 r7 r8 s13 s14 l1 l2 s6 r13 s7 l3 r15 r17 l4 l5") { stage, monitor in
            let request = stage.session.download(stage.url("/range/100")).eventMonitor(monitor)
                .validate { _, _, _ in .success(()) }.response { _ in }
            let response = await request.loaded()
            try response.fileURL.map { try FileManager.default.removeItem(at: $0) }
        }
    }

    @Test("[E-5, DL-5] a download that cannot be moved: validators do not run")
    func failedMove() async throws {
        try await Self.expect("r1 r2 r6 r7 r8 s13 s14 l1 l2(other) s6 r13 s7 r15 r17 l4(other)") {
            stage, monitor in
            let request = stage.download("/range/100") { _, _ in
                (URL(fileURLWithPath: "/missing/file"), [])
            }.eventMonitor(monitor).validate { _, _, _ in .failure(BriefError("never")) }
            #expect(await request.moved().error?.isDownloadedFileMoveError == true)
        }
    }

    @Test("[E-5, DL-8] a failed download has no destination event")
    func failedDownload() async throws {
        try await Self.expect("r1 r2 r6 r7 r8 s13 s6 r13 s7(lost) r15(task.lost) r17 l4(task.lost)") {
            stage, monitor in
            var resource = CutResource(bytes: octets(100))
            resource.acceptsRanges = false
            resource.serve(stage.origin, from: 0, cut: (50, .end))
            let request = stage.session.download(stage.url("/resource")).eventMonitor(monitor)
            #expect(await request.moved().error != nil)
        }
    }

    @Test("[E-5, DL-22, DL-26, T-10] a download that is cancelled with resume data, and one that resumes it")
    func resumed() async throws {
        let resumeData = Protected<Data?>(nil)
        try await withTemporaryFolder { folder async throws in
            let resource = CutResource(bytes: octets(100))
            try await Self.expect(
                "r1 r2 r6 r7 r8 s13 r11 r12 s6 r13 s7(cancelled) r15(task.cancelled) r17 l4(explicit)"
            ) { stage, monitor in
                resource.serve(stage.origin, from: 0, cut: (50, .stall))
                let request = stage.session.download(stage.url("/resource")).eventMonitor(monitor)
                async let response = request.moved()
                await stage.recorder.heard.wait(untilRecorded: "s13")
                request.cancel(producingResumeData: true)
                let data = await response.resumeData
                resumeData.write { $0 = data }
            }
            let data = try #require(resumeData.read { $0 })
            let part = try #require(ResumeData(data))
            try await Self.expect("r1 r7 r8 s12 s13 s14 l1 l2 s6 r13 s7 r15 r17 l5") { stage, monitor in
                resource.serve(stage.origin, from: 50)
                // The second origin has another port.
                let url = try #require(URL(string: stage.url("/resource")))
                let changedData = ResumeData(
                    url: url, fields: part.fields,
                    validator: part.validator, received: part.received, file: part.file)
                let destination = folder.appendingPathComponent("file")
                let request = stage.session.download(resumingWith: try #require(changedData.data)) { _, _ in
                    (destination, [])
                }.eventMonitor(monitor)
                #expect(await request.loaded().value == Data(resource.bytes))
            }
        }
    }

    // MARK: streams

    @Test(
        "[E-5, DS-3, DS-7, DS-8] a stream: pieces are parsed, validators run, and no response is parsed"
    )
    func stream() async throws {
        try await Self.expect("r1 r2 r6 r7 r8 s9 s10 s11 s6 r13 s7 t1 t1 r15 r17", ignoring: "t2") {
            stage, monitor in
            let request = stage.session.streamRequest(stage.url("/bytes/100")).eventMonitor(monitor)
                .validate()
            let heard = await request.heard(using: PassthroughStreamSerializer())
            #expect(heard.completion.error == nil)
            await stage.settle()
            #expect(stage.recorder.count("t2") >= 1 && monitor.count("t2") == stage.recorder.count("t2"))
        }
    }
}
