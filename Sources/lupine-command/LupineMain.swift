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
        let surroundings = ProcessSurroundings.make()
        let interrupts = ProcessSurroundings.watchInterrupts(surroundings.interruption)
        let command = Command(surroundings, serve: Serve.run, demo: Demo.run)
        let code = await command.run(Array(CommandLine.arguments.dropFirst()))
        interrupts.cancel()
        exit(code)
    }
}
