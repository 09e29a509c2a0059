// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Glibc
import LupineCommand
import LupineShow

/// The process: hands the command what the process was started with, and ends as the command says.
@main
enum LupineMain {
    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        let context = CurrentProcess.make()
        let interrupts = CurrentProcess.watchInterrupts(context.interruption)
        let command = Command(context, serve: Serve.run, demo: Demo.run)
        let code = await command.run(Array(CommandLine.arguments.dropFirst()))
        interrupts.cancel()
        exit(code)
    }
}
