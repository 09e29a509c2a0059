// SPDX-License-Identifier: MIT

/// The program that transfers in a process of its own.
enum TransferProbe {
    static var path: String {
        CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/") + "/lupine-transfer-probe"
    }
}
