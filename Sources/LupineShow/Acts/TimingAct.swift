// SPDX-License-Identifier: MIT

import LupineCommand

/// The command draws where the time went.
enum TimingAct: DemoAct {
    static let title = "Where the time goes"
    static let code = """
        $ lupine -L --timing -o /dev/null "$root/redirect-to?url=/drip?duration=0.3"
        """

    static func run(on stage: DemoStage) async throws {
        var context = stage.context
        // What is told about a transfer goes to the standard error; here it is what is to be seen.
        context.errors = context.output
        let url = "\(stage.root)/redirect-to?url=/drip%3Fduration%3D0.3%26numbytes%3D10"
        let code = await Command(context).run([
            "-L", "--timing", "--no-progress-meter", "-o", "/dev/null", url,
        ])
        try stage.require(code == 0, "the line succeeds")
    }
}
