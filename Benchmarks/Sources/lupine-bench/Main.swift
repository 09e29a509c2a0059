// SPDX-License-Identifier: MIT
internal import BenchmarkHarness
internal import Glibc

/// The benchmark program, with all groups.
@main
struct Main {
    static var groups: [BenchmarkGroup] {
        [
            HTTPGroup.group, HPACKGroup.group, CodingGroup.group, TransportGroup.group, TLSGroup.group,
            HTTP2Group.group,
            LoadingGroup.group, PipelineGroup.group, ProgramsGroup.group, TransferGroup.group,
            ReuseGroup.group,
            StartupGroup.group, MemoryGroup.group,
            ScaleGroup.group, InstructionsGroup.group,
        ]
    }

    static func main() async {
        exit(await Program(groups).run(Array(CommandLine.arguments.dropFirst())))
    }
}
