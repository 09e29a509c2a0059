// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Glibc
import LupineCommand
import LupineShow

/// The main program: passes the arguments and the context of the process to `Command`, and exits with the code that it returns.
@main
enum LupineMain {
    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        let context = CurrentProcess.make()
        let signalSource = CurrentProcess.watchInterrupts(context.interruption)
        let command = Command(context, serve: Serve.run, demo: Demo.run)
        let code = await command.run(Array(CommandLine.arguments.dropFirst()))
        signalSource.cancel()
        exit(code)
    }
}
