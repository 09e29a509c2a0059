// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target of the house is built under the same rules.
let houseRules: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "lupine",
    products: [
        .library(name: "LupineTransport", targets: ["LupineTransport"]),
        .library(name: "LupineLoading", targets: ["LupineLoading"]),
    ],
    targets: [
        // C modules: module maps and tiny shims, nothing else.
        .target(name: "CLupineLinux"),
        .systemLibrary(
            name: "CLupineZlib", pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CLupineBrotli", pkgConfig: "libbrotlidec",
            providers: [.apt(["libbrotli-dev"])]),
        .systemLibrary(
            name: "CLupineOpenSSL", pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"])]),

        // The layers, lowest first.
        .target(name: "LupineHTTP", swiftSettings: houseRules),
        .target(
            name: "LupineCoding",
            dependencies: ["CLupineZlib", "CLupineBrotli"],
            swiftSettings: houseRules),
        .target(name: "LupineTLS", dependencies: ["CLupineOpenSSL"], swiftSettings: houseRules),
        .target(
            name: "LupineTransport",
            dependencies: ["CLupineLinux", "LupineHTTP", "LupineCoding", "LupineTLS"],
            swiftSettings: houseRules),
        .target(
            name: "LupineLoading",
            dependencies: ["LupineTransport", "LupineHTTP", "LupineCoding", "LupineTLS"],
            swiftSettings: houseRules),
        .target(
            name: "LupineOrigin",
            dependencies: ["LupineTransport", "LupineHTTP", "LupineCoding", "LupineTLS"],
            swiftSettings: houseRules),

        // Tests.
        .target(
            name: "LupineTestKit", dependencies: ["CLupineLinux", "LupineHTTP", "LupineTLS"],
            path: "Tests/LupineTestKit",
            swiftSettings: houseRules),
        .testTarget(
            name: "LupineHTTPTests",
            dependencies: ["LupineHTTP", "LupineTestKit"],
            resources: [.copy("Wire")],
            swiftSettings: houseRules),
        .testTarget(
            name: "LupineCodingTests",
            dependencies: ["LupineCoding", "LupineTestKit"],
            swiftSettings: houseRules),
        .testTarget(
            name: "LupineTLSTests",
            dependencies: ["LupineTLS", "LupineTestKit", "CLupineOpenSSL"],
            swiftSettings: houseRules),
        .testTarget(
            name: "LupineTransportTests",
            dependencies: [
                "LupineTransport", "LupineOrigin", "LupineHTTP", "LupineCoding", "LupineTLS", "LupineTestKit",
                "lupine-transport-probe",
            ],
            swiftSettings: houseRules),
        .testTarget(
            name: "LupineLoadingTests",
            dependencies: [
                "LupineLoading", "LupineOrigin", "LupineTransport", "LupineHTTP", "LupineCoding", "LupineTLS",
                "LupineTestKit",
                "lupine-loading-probe",
            ],
            swiftSettings: houseRules),
        .executableTarget(
            name: "lupine-loading-probe", dependencies: ["LupineLoading", "CLupineHeap"],
            path: "Tests/LoadingProbe",
            swiftSettings: houseRules),
        .testTarget(
            name: "LupineOriginTests",
            dependencies: [
                "LupineOrigin", "LupineTransport", "LupineHTTP", "LupineCoding", "LupineTLS", "LupineTestKit",
                "lupine-origin-probe",
            ],
            swiftSettings: houseRules),
        .executableTarget(
            name: "lupine-origin-probe", dependencies: ["LupineOrigin", "LupineTLS", "LupineTestKit"],
            path: "Tests/OriginProbe",
            swiftSettings: houseRules),
        .systemLibrary(name: "CLupineHeap", path: "Tests/CLupineHeap"),
        .executableTarget(
            name: "lupine-transport-probe",
            dependencies: [
                "LupineTransport", "LupineOrigin", "LupineHTTP", "LupineTLS", "LupineTestKit", "CLupineHeap",
                "CLupineOpenSSL",
            ],
            path: "Tests/TransportProbe",
            swiftSettings: houseRules),
        .testTarget(
            name: "ConformanceTests",
            dependencies: [
                "LupineLoading", "LupineTransport", "LupineOrigin", "LupineHTTP", "LupineTLS",
                "LupineTestKit",
                "lupine-transport-probe",
            ],
            path: "Tests/Conformance",
            swiftSettings: houseRules),
        .executableTarget(
            name: "LupineDemo",
            dependencies: ["LupineLoading", "LupineTransport", "LupineOrigin", "LupineTLS", "LupineTestKit"],
            path: "Tests/Demo", swiftSettings: houseRules),
        .testTarget(
            name: "Snippets", dependencies: ["LupineLoading", "LupineTransport"], path: "Tests/Snippets",
            swiftSettings: houseRules),
        .testTarget(
            name: "ArchitectureTests", dependencies: ["LupineOrigin"],
            exclude: ["unsafe-files.txt", "shape-exempt.txt"],
            swiftSettings: houseRules),
    ]
)
