// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineOrigin
import Testing

@testable import LupineLoading

/// The streams that a stream task hands out.
struct CapturedStreamsTests {
    @Test(
        "[U-7.16] the streams transfer much both ways, and closing them closes the connection",
        arguments: [false, true])
    func captured(_ isSecure: Bool) async throws {
        let many = [UInt8](repeating: 7, count: 3_000_000)
        var script: [Script.Step] = [
            .expectBytes(5), .send("world"), .expectBytes(many.count), .send(many), .expectEnd,
            .signal("end"),
            .stall,
        ]
        if isSecure { script.insert(.startTLS(), at: 0) }
        try await StreamStage.run(script) { stage in
            let task = stage.task()
            if isSecure { task.startSecureConnection() }
            task.resume()
            task.captureStreams()
            await stage.log.wait(for: "complete nil")
            #expect(
                stage.log.entries.filter { !$0.hasPrefix("challenge") } == [
                    "streams", "metrics 0", "complete nil",
                ])
            #expect(await task.failureOfWriting() == .networkConnectionLost)
            let streams = try #require(stage.delegate.streams.value)
            stage.delegate.streams.set(nil)
            let received = await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(returning: Self.talk(streams.value.0, streams.value.1, many))
                }
            }
            #expect(received == Array("world".utf8) + many)
            await stage.origin.gate("end").wait()
        }
    }

    /// Writes everything, reads as much, and closes both streams.
    private static func talk(_ input: InputStream, _ output: OutputStream, _ bytes: [UInt8]) -> [UInt8] {
        #expect(output.writeSome([1]) == -1, "a stream that is not open takes nothing")
        input.open()
        output.open()
        var received: [UInt8] = []
        for wanted in [Array("hello".utf8), bytes] {
            var sent = 0
            while sent < wanted.count {
                let count = output.writeSome(wanted[sent...])
                guard count > 0 else { return received }
                sent += count
            }
            let target = received.count + wanted.count
            while received.count < target {
                guard let bytes = input.next(50_000), !bytes.isEmpty else { return received }
                received += bytes
            }
        }
        output.close()
        input.close()
        #expect(input.streamStatus == .closed && input.next(1) == nil)
        return received
    }

    @Test(
        "[U-7.16] streams that the delegate does not retain close the connection"
    ) func dropped() async throws {
        try await StreamStage.run([.expectEnd, .signal("end"), .stall]) { stage in
            let task = stage.task()
            task.resume()
            task.captureStreams()
            await stage.log.wait(for: "streams")
            stage.delegate.streams.set(nil)
            await stage.origin.gate("end").wait()
        }
    }

    @Test(
        "[U-7.16] a captured stream reads to the end, and reports a broken connection as an error",
        arguments: [false, true])
    func capturedEnd(_ isBroken: Bool) async throws {
        try await StreamStage.run([.send("x"), .waitForSignal("go"), isBroken ? .reset : .halfClose, .stall])
        { stage in
            let task = stage.task()
            task.resume()
            task.captureStreams()
            await stage.log.wait(for: "streams")
            let streams = try #require(stage.delegate.streams.value)
            let received: [[UInt8]?] = await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    let input = streams.value.0
                    input.open()
                    let first = input.next(10)
                    stage.origin.gate("go").open()
                    let second = input.next(10)
                    continuation.resume(returning: [first, second])
                }
            }
            #expect(received == [Array("x".utf8), isBroken ? nil : []])
            let input = streams.value.0
            #expect(input.streamStatus == (isBroken ? .error : .atEnd))
            #expect((input.streamError != nil) == isBroken)
            #expect(input.hasBytesAvailable)
        }
    }
}

extension InputStream {
    /// Reads at most this many bytes; returns none at the end, nil after a failure.
    fileprivate func next(_ limit: Int) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: limit)
        let count = unsafe read(&buffer, maxLength: limit)
        return count < 0 ? nil : Array(buffer[..<count])
    }
}

extension OutputStream {
    /// Writes the beginning of the bytes; returns -1 after a failure.
    fileprivate func writeSome(_ bytes: ArraySlice<UInt8>) -> Int {
        unsafe write(Array(bytes), maxLength: bytes.count)
    }
}
