// SPDX-License-Identifier: MIT
internal import BenchmarkHarness
internal import Foundation

/// The cost of whole programs that transfer a file of 1 GiB: the `curl` command, which is the reference, and one that uses a
/// `Session`; downloads are compared with wget, too. nginx on loopback sends the file. Uploads go to a server that reads and
/// discards them, where the clients make the difference, and to nginx, which stores them and needs most of the time.
///
/// The cost is that of each process from its start to its end, according to the kernel. All programs write into
/// `LUPINE_BENCH_FOLDER`, which is in memory if there is enough, so that the disk is not measured.
enum TransferGroup {
    static var group: BenchmarkGroup {
        BenchmarkGroup("transfer", "1 GiB to and from a file through a Session against the curl command") {
            let folder = folder
            let file = ProcessInfo.processInfo.environment["LUPINE_BENCH_FILE"] ?? ""
            let authorities = BenchmarkServer.authorities
            return [
                transfer(
                    "download-1GiB", in: folder, form: "download", path: "/big",
                    goals: Goals(ratio: 0.5, wallRatio: 1),
                    wget: { ["-q", "--no-proxy", "-O", "\(folder)/download", $0] },
                    curl: { ["-sSf", "--noproxy", "*", "-o", "\(folder)/download", $0] }),
                transfer(
                    "download-1GiB-tls", in: folder, form: "download", from: .tls, path: "/big",
                    goals: Goals(ratio: 0.9, wallRatio: 1),
                    wget: {
                        ["-q", "--no-proxy", "--ca-certificate", authorities, "-O", "\(folder)/download", $0]
                    },
                    curl: {
                        ["-sSf", "--noproxy", "*", "--cacert", authorities, "-o", "\(folder)/download", $0]
                    }),
                transfer(
                    "upload-1GiB", in: folder, form: "upload", from: .sink, path: "/read",
                    goals: Goals(ratio: 0.5, wallRatio: 1), wget: nil,
                    curl: { ["-sSf", "--noproxy", "*", "-T", file, $0] }),
                transfer(
                    "upload-1GiB-stored", in: folder, form: "upload", path: "/put/stored",
                    goals: Goals(ratio: 0.5, wallRatio: 1), wget: nil,
                    curl: { ["-sSf", "--noproxy", "*", "-T", file, $0] }),
            ]
        }
    }

    /// The downloads over one stream, for the group `http2`.
    static var http2: [BenchmarkCase] {
        let authorities = BenchmarkServer.authorities
        return [
            transfer(
                "download-1GiB", in: folder, form: "download", from: .http2, path: "/big",
                goals: Goals(ratio: 1, wallRatio: 1), wget: nil,
                curl: {
                    [
                        "-sSf", "--noproxy", "*", "--http2-prior-knowledge", "-o", "\(folder)/download", $0,
                    ]
                }),
            transfer(
                "download-1GiB-tls", in: folder, form: "download", from: .http2TLS, path: "/big",
                goals: Goals(ratio: 1, wallRatio: 1), wget: nil,
                curl: {
                    [
                        "-sSf", "--noproxy", "*", "--http2", "--cacert", authorities, "-o",
                        "\(folder)/download", $0,
                    ]
                }),
        ]
    }

    private static var folder: String {
        ProcessInfo.processInfo.environment["LUPINE_BENCH_FOLDER"] ?? NSTemporaryDirectory()
    }

    private static func transfer(
        _ name: String, in folder: String, form: String, from server: BenchmarkServer = .plain, path: String,
        goals: Goals, wget: ((_ url: String) -> [String])?, curl: @escaping (_ url: String) -> [String]
    ) -> BenchmarkCase {
        func url(_ host: String, _ port: String) -> String {
            "\(server.isSecure ? "https" : "http")://\(host):\(port)\(path)"
        }
        let options = server.isSecure ? ["get", "1.3", BenchmarkServer.authorities] : []
        let version = [.http2, .http2TLS].contains(server) ? HTTP2Group.version : []
        let prepare = { try warmMemory(in: folder) }
        var entries = [
            PeerProgram.command("curl").commandEntry("curl", from: server, prepare: prepare) { host, port in
                curl(url(host, port))
            }
        ]
        if let wget {
            let program = PeerProgram.command("wget")
            let entry = program.commandEntry("wget", from: server, prepare: prepare) { host, port in
                wget(url(host, port))
            }
            entries.append(entry)
        }
        entries.append(
            PeerProgram.ours("pipeline-load", []).commandEntry(
                "Session", from: server, environment: ["TMPDIR": folder], goals: goals, prepare: prepare
            ) { host, port in version + [form] + options + [host, port, path, "1", "1"] })
        return BenchmarkCase(name, unit: "transfer", bytes: 1 << 30, entries: entries)
    }

    /// Allocates as much memory in the folder as a transfer needs, and releases it. The host of a virtual machine reclaims memory
    /// that has been free for some seconds, and allocating it again costs up to a second of processor time per GiB. A program
    /// that overwrites its file, as the commands do, would avoid this cost, but one that creates a new file would not.
    private static func warmMemory(in folder: String) throws {
        guard folder.hasPrefix("/dev/shm/") else { return }
        let path = folder + "/warm"
        guard FileManager.default.createFile(atPath: path, contents: nil) else { return }
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        defer { try? file.close() }
        let piece = Data(count: 1 << 20)
        for _ in 0..<1_100 { try file.write(contentsOf: piece) }
    }
}
