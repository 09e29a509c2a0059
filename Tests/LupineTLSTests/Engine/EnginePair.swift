// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTLS

/// A TLS client and a TLS server that are connected through memory. One thread runs them alternately.
final class EnginePair {
    /// The answer that the client's owner gives when asked about the peer.
    var verdict: Result<Void, TrustFailure> = .success(())
    /// The identity that the client's owner returns when asked for one.
    var identity: TLSIdentity?

    let client: TLSEngine
    let server: TLSEngine
    let clientWire: MemoryWire
    let serverWire: MemoryWire
    let toServer = ByteQueue()
    let toClient = ByteQueue()

    /// The peers about which the client has asked its owner.
    private(set) var trustRequests: [PeerTrust] = []
    /// The identities for which the client has asked its owner.
    private(set) var identityRequests: [TLSIdentityRequest] = []
    /// The number of bytes that the client had sent when it first asked about the peer.
    private(set) var sentBeforeTrustRequest = 0
    private(set) var clientError: TLSError?
    private(set) var serverError: TLSError?
    private(set) var clientIsDone = false
    private(set) var serverIsDone = false

    init(
        client: TLSClientContext, server: TLSServerContext, host: String = "good.test",
        resuming session: TLSSession? = nil, manner: WireManner = WireManner.all[0]
    ) throws {
        clientWire = MemoryWire(incoming: toClient, outgoing: toServer, manner: manner)
        serverWire = MemoryWire(incoming: toServer, outgoing: toClient, manner: manner)
        self.client = try TLSEngine(client: client, host: host, resuming: session, over: clientWire)
        self.server = try TLSEngine(server: server, over: serverWire)
    }

    convenience init(
        _ configuration: TLSConfiguration = .test, _ serverConfiguration: TLSServerConfiguration? = nil,
        host: String = "good.test", manner: WireManner = WireManner.all[0]
    ) throws {
        let server = try serverConfiguration ?? .test()
        try self.init(
            client: try TLSClientContext(configuration), server: try TLSServerContext(server), host: host,
            manner: manner)
    }

    /// Returns a pair that has completed its handshake.
    static func established(
        _ version: TLSVersion, manner: WireManner = WireManner.all[0]
    ) throws -> EnginePair {
        let pair = try EnginePair(.test(version), manner: manner)
        pair.runHandshakes()
        try #require(pair.clientIsDone && pair.serverIsDone)
        return pair
    }

    /// Runs both handshakes until neither makes progress.
    func runHandshakes() {
        var idleRounds = 0
        while idleRounds < 6 && !(hasFinished(client: true) && hasFinished(client: false)) {
            let before = traffic
            stepClient()
            stepServer()
            idleRounds = before == traffic ? idleRounds + 1 : 0
        }
    }

    /// The numbers of bytes sent and not yet read in each direction. They change with every transfer.
    private var traffic: [Int] { [toServer.total, toClient.total, toServer.count, toClient.count] }

    /// Whether the handshake of that side is complete or has failed.
    private func hasFinished(client isClient: Bool) -> Bool {
        isClient ? clientIsDone || clientError != nil : serverIsDone || serverError != nil
    }

    /// Continues the client's handshake once, or flushes its output after the handshake.
    func stepClient() {
        guard !hasFinished(client: true) else {
            try? client.flush()
            return
        }
        do {
            switch try client.handshake() {
            case .done: clientIsDone = true
            case .wouldBlock: break
            case .awaitsTrust(let trust):
                if trustRequests.isEmpty { sentBeforeTrustRequest = toServer.log.count }
                trustRequests.append(trust)
                client.answerTrust(verdict)
            case .awaitsIdentity(let request):
                identityRequests.append(request)
                client.answerIdentity(identity)
            }
        } catch { clientError = error }
    }

    /// Continues the server's handshake once, or flushes its output after the handshake.
    func stepServer() {
        guard !hasFinished(client: false) else {
            try? server.flush()
            return
        }
        do {
            if case .done = try server.handshake() { serverIsDone = true }
        } catch { serverError = error }
    }

    /// Sends `bytes` from one side and returns what the other reads, until everything has arrived or neither side makes progress.
    func transfer(_ bytes: [UInt8], fromClient: Bool) throws -> [UInt8] {
        let (sender, receiver) = fromClient ? (client, server) : (server, client)
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 32 * 1024)
        var sent = 0
        var idleRounds = 0
        while received.count < bytes.count && idleRounds < 8 {
            let before = traffic
            let (sentBefore, receivedBefore) = (sent, received.count)
            try sender.flush()
            sent += try sender.write(bytes.span.extracting(sent...))
            var span = buffer.mutableSpan
            if case .bytes(let count) = try receiver.read(into: &span) {
                received += buffer[..<count]
            }
            try receiver.flush()
            let isIdle = before == traffic && sentBefore == sent && receivedBefore == received.count
            idleRounds = isIdle ? idleRounds + 1 : 0
        }
        return received
    }

    /// Reads once, as the client or as the server.
    func read(client isClient: Bool) throws(TLSError) -> ReadResult {
        var buffer = [UInt8](repeating: 0, count: 4096)
        var span = buffer.mutableSpan
        switch try (isClient ? client : server).read(into: &span) {
        case .bytes(let count): return .bytes(Array(buffer[..<count]))
        case .wouldBlock: return .wouldBlock
        case .end: return .end
        }
    }

    enum ReadResult: Hashable {
        case bytes([UInt8])
        case wouldBlock
        case end
    }
}

extension TLSConfiguration {
    /// A client's configuration without roots: `EnginePair.verdict` decides about the peer.
    static var test: TLSConfiguration { TLSConfiguration(roots: TrustRoots(includesSystem: false)) }

    /// Returns the same configuration for one version.
    static func test(_ version: TLSVersion) -> TLSConfiguration {
        var configuration = test
        configuration.minimumVersion = version
        configuration.maximumVersion = version
        return configuration
    }
}

extension TLSServerConfiguration {
    /// A server's configuration for `good.test`, or for the identities of these names.
    static func test(_ names: String...) throws -> TLSServerConfiguration {
        let identities = try (names.isEmpty ? ["good"] : names).map { name in
            TLSServerIdentity(try FixtureIdentity.load(name), serverNames: ["\(name).test"])
        }
        return TLSServerConfiguration(identities: identities)
    }
}

extension TLSVersion {
    /// The versions that the tests run with.
    static let tested: [TLSVersion] = [.v1_2, .v1_3]
}
