// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS

/// An origin in a process of its own, as the client that started it sees it: see `OriginRole`. On one task at a time.
final class OriginChild {
    /// The roots of the hosts' two services each, such as `http://127.0.0.7:4000`, in order.
    let roots: [[String]]
    /// What it shows over TLS.
    let certificate: Certificate?
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var unread = Data()

    /// Starts one for `hosts`, which are last numbers of addresses.
    init(secure: Bool = false, hosts: Range<Int>) throws {
        process.executableURL = URL(
            filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        process.arguments = ["origin", secure ? "tls" : "plain", "\(hosts.lowerBound)", "\(hosts.count)"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let greeting = try Self.line(&unread, output).split(separator: ";", omittingEmptySubsequences: false)
        let ports = greeting.first?.split(separator: " ") ?? []
        guard ports.count == hosts.count * 2, let last = greeting.last else {
            throw Endurance.Failure("an origin said \(greeting)")
        }
        let scheme = secure ? "https" : "http"
        roots = hosts.enumerated().map { index, host in
            ports[index * 2..<index * 2 + 2].map { "\(scheme)://127.0.0.\(host):\($0)" }
        }
        certificate = try secure ? Certificate(der: Array(Data(base64Encoded: String(last)) ?? Data())) : nil
    }

    /// Returns when so many requests for `/hold/name/...` have come.
    func waitForArrivals(_ name: String, _ count: Int) throws {
        try tell("await \(name) \(count)")
        let answer = try Self.line(&unread, output)
        guard answer == "arrived" else { throw Endurance.Failure("an origin said \(answer)") }
    }

    /// Has the requests for `/hold/name/...` answered.
    func open(_ name: String) throws { try tell("open \(name)") }

    /// Ends it, and returns when it has.
    func end() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    private func tell(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    }

    private static func line(_ unread: inout Data, _ pipe: Pipe) throws -> String {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: unread[..<end], as: UTF8.self)
                unread = Data(unread[(end + 1)...])
                return line
            }
            let more = pipe.fileHandleForReading.availableData
            guard !more.isEmpty else { throw Endurance.Failure("an origin has ended") }
            unread += more
        }
    }
}
