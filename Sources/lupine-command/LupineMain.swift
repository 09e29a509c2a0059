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
        // A write to a pipe without a reader then fails with an error, and does not end the process.
        signal(SIGPIPE, SIG_IGN)
        let context = CurrentProcess.makeContext()
        let signalSource = CurrentProcess.watchSignals(context.interruption)
        let command = Command(context, serve: Serve.run, demo: Demo.run)
        // The first argument is the name of the program.
        let status = await command.run(Array(CommandLine.arguments.dropFirst()))
        signalSource.cancel()
        exit(status)
    }
}
