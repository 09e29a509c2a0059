// SPDX-License-Identifier: MIT

/// How much the stress tests do: all of it in an optimised build, a share of it in a debug build, where the same
/// work takes ten times as long.
enum StressSize {
    #if DEBUG
        static let cancellations = 8_000
        static let mixedExchanges = 4_000
        static let refusals = 20_000
    #else
        static let cancellations = 50_000
        static let mixedExchanges = 40_000
        static let refusals = 200_000
    #endif
    static let requests = 10_000
    static let connections = 2_000
}
