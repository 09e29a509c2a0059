// SPDX-License-Identifier: MIT

import LupineCommand

/// The command draws a timing chart.
enum TimingAct: DemoAct {
    static let title = "Where the time goes"
    static let code = """
        $ lupine -L --timing -o /dev/null "$root/redirect-to?url=/drip?duration=0.3"
        """

    static func run(in demo: DemoContext) async throws {
        var context = demo.context
        // The command writes reports to the standard error; the demo shows them on its output.
        context.errors = context.output
        // The inner URL is percent-encoded, so that its `&` does not end it.
        let url = "\(demo.root)/redirect-to?url=/drip%3Fduration%3D0.3%26numbytes%3D10"
        let code = await Command(context).run([
            "-L", "--timing", "--no-progress-meter", "-o", "/dev/null", url,
        ])
        try demo.require(code == 0, "the line succeeds")
    }
}
