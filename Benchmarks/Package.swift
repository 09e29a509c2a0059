// swift-tools-version: 6.2
import PackageDescription

/// The benchmarks, in a package of their own so that the library's build never sees them or their peers. `House` links
/// to the library's sources: they are compiled here again, optimised, and lend their `package` API.
let houseRules: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// Where the distribution keeps llhttp's C source and header. Nothing of it is copied here: a C file of the peers
/// includes the installed ones, and the peer is skipped where they are absent.
let llhttpSource = Context.environment["LLHTTP_SOURCE"] ?? "/usr/share"
let llhttpHeader = Context.environment["LLHTTP_HEADER"] ?? "/usr/share/include/llhttp"

let package = Package(
    name: "lupine-benchmarks",
    targets: [
        // The library's modules, as the library's own manifest describes them.
        .systemLibrary(name: "CLupineZlib", path: "House/CLupineZlib", pkgConfig: "zlib"),
        .systemLibrary(name: "CLupineBrotli", path: "House/CLupineBrotli", pkgConfig: "libbrotlidec"),
        .target(name: "LupineHTTP", path: "House/LupineHTTP", swiftSettings: houseRules),
        .target(
            name: "LupineHTTP2", dependencies: ["LupineHTTP"], path: "House/LupineHTTP2",
            swiftSettings: houseRules),
        .target(
            name: "LupineCoding", dependencies: ["CLupineZlib", "CLupineBrotli"],
            path: "House/LupineCoding", swiftSettings: houseRules),

        .target(name: "CLupineLinux", path: "House/CLupineLinux"),
        .systemLibrary(name: "CLupineOpenSSL", path: "House/CLupineOpenSSL", pkgConfig: "openssl"),
        .target(
            name: "LupineTLS", dependencies: ["CLupineOpenSSL"], path: "House/LupineTLS",
            swiftSettings: houseRules),
        .target(
            name: "LupineTransport",
            dependencies: ["CLupineLinux", "LupineHTTP", "LupineHTTP2", "LupineCoding", "LupineTLS"],
            path: "House/LupineTransport", swiftSettings: houseRules),
        .target(
            name: "LupineLoading",
            dependencies: ["LupineTransport", "LupineHTTP", "LupineCoding", "LupineTLS"],
            path: "House/LupineLoading", swiftSettings: houseRules),

        .target(
            name: "Lupine", dependencies: ["LupineLoading", "LupineTransport", "LupineCoding"],
            path: "House/Lupine",
            swiftSettings: [.swiftLanguageMode(.v5)] + houseRules.dropFirst()),

        // What measures.
        .target(name: "CBenchmarkCounters", cSettings: [.unsafeFlags(["-O2"])]),
        .target(
            name: "BenchmarkHarness", dependencies: ["CBenchmarkCounters"],
            swiftSettings: houseRules),

        // What the library is measured against.
        .target(
            name: "CBenchmarkPeers",
            cSettings: [
                .unsafeFlags(["-O3", "-idirafter", llhttpSource, "-idirafter", llhttpHeader])
            ],
            linkerSettings: [
                .linkedLibrary("z"), .linkedLibrary("brotlidec"), .linkedLibrary("brotlienc"),
                .linkedLibrary("nghttp2"),
            ]),

        .executableTarget(
            name: "lupine-bench",
            dependencies: [
                "BenchmarkHarness", "CBenchmarkCounters", "CBenchmarkPeers", "LupineHTTP", "LupineHTTP2",
                "LupineCoding",
            ],
            swiftSettings: houseRules),
        .executableTarget(
            name: "lupine-load",
            dependencies: [
                "CBenchmarkCounters", "LoadProgram", "LupineHTTP", "LupineTLS", "LupineTransport",
            ],
            swiftSettings: houseRules),
        // One source twice, with the library's URLSession and with Foundation's.
        .target(name: "LoadProgram", dependencies: ["CBenchmarkCounters"], swiftSettings: houseRules),
        .executableTarget(
            name: "session-load", dependencies: ["LoadProgram", "LupineLoading", "LupineTLS"],
            swiftSettings: houseRules),
        .executableTarget(
            name: "pipeline-load", dependencies: ["LoadProgram", "Lupine", "LupineTLS", "LupineTransport"],
            swiftSettings: houseRules),
        .executableTarget(
            name: "foundation-load", dependencies: ["LoadProgram"],
            swiftSettings: houseRules + [.define("FOUNDATION_PEER")]),
        .testTarget(
            name: "BenchmarkHarnessTests", dependencies: ["BenchmarkHarness", "LoadProgram"],
            swiftSettings: houseRules),
    ]
)
