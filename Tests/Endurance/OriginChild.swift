// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS

/// The parent's handle of an origin in a child process: see `OriginRole`. Used by one task at a time.
final class OriginChild {
    /// The base URLs of the two services of each host, such as `http://127.0.0.7:4000`, in order.
    let roots: [[String]]
    /// The certificate that it presents over TLS.
    let certificate: Certificate?
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var unread = Data()

    /// Starts a child for `hosts`, the last numbers of the addresses.
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

    /// Waits until `count` requests for `/hold/name/...` have arrived.
    func waitForArrivals(_ name: String, _ count: Int) throws {
        try tell("await \(name) \(count)")
        let answer = try Self.line(&unread, output)
        guard answer == "arrived" else { throw Endurance.Failure("an origin said \(answer)") }
    }

    /// Lets the origin answer the requests for `/hold/name/...`.
    func open(_ name: String) throws { try tell("open \(name)") }

    /// Ends the child, and waits for its exit.
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
