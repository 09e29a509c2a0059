// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Glibc
import LupineCommand
import LupineShow

/// The process: passes its arguments and context to the command and exits with the code that the command returns.
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
