// SPDX-License-Identifier: MIT
internal import Glibc
internal import LoadProgram

/// GETs through the pipeline, or transfers of files, so many at a time, in a process of its own.
///
///     pipeline-load async|handler|download|upload HOST PORT PATH CONNECTIONS REQUESTS
@main
struct Main {
    static func main() async {
        guard let job = LoadJob(Array(CommandLine.arguments.dropFirst())) else {
            print("async|handler|download|upload HOST PORT PATH CONNECTIONS REQUESTS")
            exit(2)
        }
        do {
            let load = PipelineLoad(job)
            try await LoadMeter.measure(job) { try await load.run($0) }
        } catch {
            print("failed: \(error)")
            exit(1)
        }
    }
}
