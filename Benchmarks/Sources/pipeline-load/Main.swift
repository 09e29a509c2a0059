// SPDX-License-Identifier: MIT
internal import Glibc
internal import LoadProgram

/// GETs through the pipeline, or transfers of files, so many at a time, in a process of its own.
///
///     pipeline-load async|executor|handler|decodable|decoding|decoder|addresses|storing|memoryHit|diskHit|revalidated|
///         program|written|writtenDecodable|download|upload [MODE [VERSION CAFILE]]
///         HOST[xHOSTS] PORT PATH CONNECTIONS REQUESTS
@main
struct Main {
    static func main() async {
        guard let job = LoadJob(Array(CommandLine.arguments.dropFirst())) else {
            print(
                """
                async|executor|handler|decodable|decoding|decoder|addresses|storing|memoryHit|diskHit|revalidated|program|written|\
                writtenDecodable|download|upload [MODE [VERSION CAFILE]] HOST PORT PATH CONNECTIONS REQUESTS
                """
            )
            exit(2)
        }
        do {
            let load = PipelineLoad(job)
            try await LoadMeter.measure(
                job, first: { try await load.runFirst() }, figures: { try await load.figures() },
                run: { try await load.run($0) })
        } catch {
            print("failed: \(error)")
            exit(1)
        }
    }
}
