// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Lupine

/// A program that uses Lupine under a fault of the machine or of the program: `SCENARIO PORT [ARGUMENT]`, with the port of the
/// test's origin.
///
/// The effects of a scenario are limited to this process. It exits with 0 if the expectations of the scenario are met, otherwise
/// it prints which one was not. Some scenarios end in another way, on purpose: see their files.
@main struct FaultProbe {
    /// An expectation that is not met.
    struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3, let port = UInt16(arguments[2]) else { misuse() }
        let origin = FaultOrigin(port: port)
        do {
            switch arguments[1] {
            case "lookups": try await LookUpFaults(origin: origin).run()
            case "descriptors": try await DescriptorFaults(origin: origin).run()
            case "no-loop": try await DescriptorFaults(origin: origin).runWithoutLoop()
            case "memory": try await MemoryFaults(origin: origin).run()
            case "exhausted": try await MemoryFaults(origin: origin).runOut()
            case "signals": try await SignalFaults(origin: origin).run()
            case "pause": try await SignalFaults(origin: origin).pause()
            case "clock": try await ClockFaults(origin: origin).run()
            case "fork": try await ForkFaults(origin: origin).run()
            case "exit": try await ExitFaults(origin: origin).run(arguments.dropFirst(3).first ?? "")
            default: misuse()
            }
        } catch {
            print("\(arguments[1]): \(error)")
            exit(1)
        }
        exit(0)
    }

    private static func misuse() -> Never {
        print("usage: lupine-fault-probe SCENARIO PORT [ARGUMENT]")
        exit(2)
    }
}
