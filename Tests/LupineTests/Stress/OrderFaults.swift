// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

@testable import Lupine

/// What a model of the order of events has found that must not happen, and how often the handlers of its requests were called.
/// Any thread may use it.
final class OrderFaults: Sendable {
    private let found = Protected<[String]>([])
    let handlers = Protected((added: 0, called: 0))

    /// The number of steps that a model takes: the value of `LUPINE_ORDER_STEPS`, or `standard` without it.
    static func steps(_ standard: Int) -> Int {
        ProcessInfo.processInfo.environment["LUPINE_ORDER_STEPS"].flatMap { Int($0) } ?? standard
    }

    /// The first faults.
    var all: [String] { found.read { $0 } }

    func note(_ fault: String) { found.write { if $0.count < 20 { $0.append(fault) } } }

    /// No code of the program's runs on an event loop.
    func checkThread(_ what: String) {
        if EventLoop.current != nil { note("\(what) on an event loop") }
    }
}
