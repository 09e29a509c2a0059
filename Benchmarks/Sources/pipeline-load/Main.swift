// SPDX-License-Identifier: MIT
internal import Glibc
internal import LoadProgram

/// Concurrent GETs through the pipeline, or transfers of files, in a separate process.
///
///     pipeline-load [--http2] async|executor|handler|decodable|decoding|decoder|addresses|storing|memoryHit|diskHit|revalidated|
///         program|written|writtenDecodable|download|upload [MODE [VERSION CAFILE]]
///         HOST[xHOSTS] PORT PATH CONNECTIONS REQUESTS
///
/// With `--http2` it uses one HTTP/2 connection, without TLS by prior knowledge, and CONNECTIONS is the number of streams.
@main
struct Main {
    static func main() async {
        guard let job = LoadJob(Array(CommandLine.arguments.dropFirst())) else {
            print(
                """
                [--http2] async|executor|handler|decodable|decoding|decoder|addresses|storing|memoryHit|diskHit|revalidated|program|written|\
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
