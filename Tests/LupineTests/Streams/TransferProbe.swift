// SPDX-License-Identifier: MIT

/// The program that performs transfers in a separate process.
enum TransferProbe {
    static var path: String {
        CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/") + "/lupine-transfer-probe"
    }
}
