// SPDX-License-Identifier: MIT
internal import BenchmarkHarness
internal import Foundation

/// What whole programs cost that transfer a file of 1 GiB: the `curl` command, which is the reference, and one that does it
/// through a `Session`. nginx on loopback sends the file, and stores what it is sent.
///
/// The kernel's account of each process counts, from its start to its end. Both write into `LUPINE_BENCH_FOLDER`, which
/// lies in memory where there is room: a disk's queue is not what is measured.
enum TransferGroup {
    static var group: BenchmarkGroup {
        BenchmarkGroup("transfer", "1 GiB to and from a file through a Session against the curl command") {
            let environment = ProcessInfo.processInfo.environment
            let folder = environment["LUPINE_BENCH_FOLDER"] ?? NSTemporaryDirectory()
            let file = environment["LUPINE_BENCH_FILE"] ?? ""
            return [
                transfer("download-1GiB", in: folder, form: "download", path: "/big") { url in
                    ["-sSf", "-o", "\(folder)/download", url]
                },
                transfer("upload-1GiB", in: folder, form: "upload", path: "/put/stored") { url in
                    ["-sSf", "-T", file, url]
                },
            ]
        }
    }

    private static func transfer(
        _ name: String, in folder: String, form: String, path: String,
        curl: @escaping (_ url: String) -> [String]
    ) -> BenchmarkCase {
        BenchmarkCase(
            name, unit: "transfer", bytes: 1 << 30,
            entries: [
                PeerProgram.command("curl").whole("curl") { host, port in
                    curl("http://\(host):\(port)\(path)")
                },
                PeerProgram.ours("pipeline-load", []).whole(
                    "Session", environment: ["TMPDIR": folder], goals: Goals(ratio: 1)
                ) { host, port in
                    [form, host, port, path, "1", "1"]
                },
            ])
    }
}
