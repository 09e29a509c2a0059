// SPDX-License-Identifier: MIT

internal import LupineTLS

/// TLS for `RawClient`: an engine on blocking functions.
final class RawTLS {
    let engine: TLSEngine
    private let wire: BlockingWire

    init(
        _ context: TLSClientContext, host: String, resuming session: TLSSession?,
        receive: @escaping (Int) throws -> [UInt8], send: @escaping ([UInt8]) throws -> Void
    ) throws {
        wire = BlockingWire(receive, send)
        engine = try TLSEngine(client: context, host: host, resuming: session, over: wire)
    }

    func handshake(_ trusting: (PeerTrust) -> Result<Void, TrustFailure>) throws {
        try rethrowingWireError { () throws(TLSError) in
            while true {
                switch try engine.handshake() {
                case .done: return try engine.flush()
                // The wire blocks, so the engine only has to be called again.
                case .wouldBlock: continue
                case .awaitsTrust(let trust): engine.answerTrust(trusting(trust))
                case .awaitsIdentity: engine.answerIdentity(nil)
                }
            }
        }
    }

    func receive(atMost limit: Int) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: limit)
        let count = try rethrowingWireError { () throws(TLSError) -> Int in
            while true {
                var span = buffer.mutableSpan
                switch try engine.read(into: &span) {
                case .bytes(let count): return count
                case .end: return 0
                case .wouldBlock: continue
                }
            }
        }
        buffer.removeLast(limit - count)
        return buffer
    }

    func send(_ bytes: [UInt8]) throws {
        try rethrowingWireError { () throws(TLSError) in
            var sent = 0
            while sent < bytes.count || engine.hasPendingOutput {
                if engine.hasPendingOutput { try engine.flush() }
                if sent < bytes.count { sent += try engine.write(bytes.span.extracting(sent...)) }
            }
        }
    }

    /// Requests a renegotiation, and stops reading: no later data is processed, not even the response.
    func requestRenegotiation() throws {
        wire.ignoresInput = true
        try rethrowingWireError { () throws(TLSError) in
            try engine.requestRenegotiation()
            try engine.flush()
        }
    }

    /// Runs `body`. If it throws because the wire has failed, throws the wire's error instead of the engine's.
    private func rethrowingWireError<Result>(_ body: () throws(TLSError) -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            if let failure = wire.failure { throw failure }
            throw error
        }
    }
}

/// Connects an engine to blocking functions.
private final class BlockingWire: TLSWire {
    private let receive: (Int) throws -> [UInt8]
    private let send: ([UInt8]) throws -> Void
    private(set) var failure: (any Error)?
    /// Whether no more data is read.
    var ignoresInput = false

    init(_ receive: @escaping (Int) throws -> [UInt8], _ send: @escaping ([UInt8]) throws -> Void) {
        self.receive = receive
        self.send = send
    }

    func receive(into output: inout OutputSpan<UInt8>) -> TLSWireOutcome {
        if ignoresInput { return .wouldBlock }
        do {
            let bytes = try receive(output.freeCapacity)
            for byte in bytes { output.append(byte) }
            return bytes.isEmpty ? .end : .bytes(bytes.count)
        } catch {
            failure = error
            return .failed
        }
    }

    func send(_ bytes: Span<UInt8>) -> TLSWireOutcome {
        var copy: [UInt8] = []
        for index in 0..<bytes.count { copy.append(bytes[index]) }
        do {
            try send(copy)
            return .bytes(copy.count)
        } catch {
            failure = error
            return .failed
        }
    }
}
