// SPDX-License-Identifier: MIT

/// The amount of work in the stress tests: all of it in an optimized build; a share in a debug build, where the same work takes
/// ten times as long; a small share under ThreadSanitizer, where it takes a hundred times as long and only has to take every path
/// on several threads.
enum StressSize {
    #if LUPINE_TSAN
        static let cancellations = 1_000
        static let mixedExchanges = 800
        static let refusals = 2_000
        static let dyingConnections = 400
        static let secureExchanges = 480
        static let requests = 1_000
        static let connections = 500
    #elseif DEBUG
        static let cancellations = 8_000
        static let mixedExchanges = 4_000
        static let refusals = 20_000
        static let dyingConnections = 3_200
        static let secureExchanges = 4_800
        static let requests = 10_000
        static let connections = 2_000
    #else
        static let cancellations = 50_000
        static let mixedExchanges = 40_000
        static let refusals = 200_000
        static let dyingConnections = 3_200
        static let secureExchanges = 24_000
        static let requests = 10_000
        static let connections = 2_000
    #endif
}
