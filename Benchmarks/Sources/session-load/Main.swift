// SPDX-License-Identifier: MIT
internal import Glibc
internal import LoadProgram

/// Concurrent GETs or downloads through `URLSession`, in a separate process.
///
///     session-load|foundation-load async|handler|download [MODE [VERSION CAFILE]] HOST[xHOSTS] PORT PATH CONNECTIONS REQUESTS
///
/// The two programs are the same source, compiled once with the library's `URLSession` and once with Foundation's.
@main
struct Main {
    static func main() async {
        guard let job = LoadJob(Array(CommandLine.arguments.dropFirst())),
            [.async, .handler, .download].contains(job.form), !job.sharesConnection
        else {
            print(
                "async|handler|download [MODE [VERSION CAFILE]] HOST[xHOSTS] PORT PATH CONNECTIONS REQUESTS")
            exit(2)
        }
        do {
            let load = try SessionLoad(job)
            try await LoadMeter.measure(
                job, first: { try await load.runFirst() }, run: { try await load.run($0) })
        } catch {
            print("failed: \(error)")
            exit(1)
        }
    }
}
