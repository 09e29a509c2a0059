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

/// The pipeline inherits shapes of API that the Swift 6 mode cannot spell: `Any` as a serialized object.
let pipelineRules: [SwiftSetting] = [
    .swiftLanguageMode(.v5),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InferSendableFromCaptures"),
    .enableUpcomingFeature("GlobalActorIsolatedTypesUsability"),
]

/// The toolchain has every static program export its public names, for a look-up that the command never makes: 1.1 MB of tables. The
/// command's alone: not every release of SwiftPM lets a package depend on a target with unsafe flags, and what a user's program exports
/// is not a library's to decide.
let commandLinking: [LinkerSetting] = [
    .unsafeFlags(["-Xlinker", "--no-export-dynamic"], .when(configuration: .release))
]

/// A target that stands for a user's: plain Swift 5 or Swift 6 mode, and nothing that the house asks of itself.
let usersSwift5: [SwiftSetting] = [.swiftLanguageMode(.v5)]
let usersSwift6: [SwiftSetting] = [.swiftLanguageMode(.v6)]

let package = Package(
    name: "lupine",
    products: [
        .library(name: "Lupine", targets: ["Lupine"]),
        .library(name: "LupineTransport", targets: ["LupineTransport"]),
        .library(name: "LupineLoading", targets: ["LupineLoading"]),
        .library(name: "LupineTesting", targets: ["LupineTesting"]),
        .executable(name: "lupine", targets: ["lupine-command"]),
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
        .target(name: "LupineHTTP2", dependencies: ["LupineHTTP"], swiftSettings: houseRules),
        .target(
            name: "LupineCoding",
            dependencies: ["CLupineZlib", "CLupineBrotli"],
            swiftSettings: houseRules),
        .target(name: "LupineTLS", dependencies: ["CLupineOpenSSL"], swiftSettings: houseRules),
        .target(
            name: "LupineTransport",
            dependencies: ["CLupineLinux", "LupineHTTP", "LupineHTTP2", "LupineCoding", "LupineTLS"],
            swiftSettings: houseRules),
        .target(
            name: "LupineLoading",
            dependencies: ["LupineTransport", "LupineHTTP", "LupineCoding", "LupineTLS"],
            swiftSettings: houseRules),
        .target(
            name: "Lupine", dependencies: ["LupineLoading", "LupineTransport", "LupineCoding"],
            swiftSettings: pipelineRules),
        .target(
            name: "LupineOrigin",
            dependencies: ["LupineTransport", "LupineHTTP", "LupineHTTP2", "LupineCoding", "LupineTLS"],
            swiftSettings: houseRules),

        // For the tests of programs.
        .target(
            name: "LupineTesting",
            dependencies: [
                "Lupine", "LupineLoading", "LupineOrigin", "LupineTransport", "LupineHTTP", "LupineTLS",
            ],
            swiftSettings: houseRules),

        // The command: on what every user of the library can see, which its lack of package access shows.
        .target(
            name: "LupineCommand", dependencies: ["Lupine", "LupineTransport"], packageAccess: false,
            swiftSettings: houseRules),
        .target(
            name: "LupineShow",
            dependencies: ["LupineCommand", "Lupine", "LupineOrigin", "LupineTLS", "LupineTransport"],
            swiftSettings: houseRules),
        .executableTarget(
            name: "lupine-command", dependencies: ["LupineCommand", "LupineShow"], swiftSettings: houseRules,
            linkerSettings: commandLinking),

        // Tests.
        .testTarget(
            name: "LupineCommandTests",
            dependencies: [
                "LupineCommand", "LupineShow", "lupine-command", "Lupine", "LupineOrigin", "LupineTransport",
                "LupineTLS",
                "LupineTestKit",
            ],
            swiftSettings: houseRules),
        .target(
            name: "LupineTestKit",
            dependencies: [
                "CLupineLinux", "LupineHTTP", "LupineHTTP2", "LupineOrigin", "LupineTLS", "LupineTransport",
            ],
            path: "Tests/LupineTestKit",
            swiftSettings: houseRules),
        .testTarget(
            name: "LupineHTTPTests",
            dependencies: ["LupineHTTP", "LupineTestKit"],
            resources: [.copy("Wire")],
            swiftSettings: houseRules),
        .testTarget(
            name: "LupineHTTP2Tests", dependencies: ["LupineHTTP2", "LupineHTTP"], swiftSettings: houseRules),
        // nghttp2 by plain calls. It is no system library here: those are looked for by every build, also by one without tests.
        .target(
            name: "CNGHTTP2Peer", path: "Tests/CNGHTTP2Peer", linkerSettings: [.linkedLibrary("nghttp2")]),
        .testTarget(
            name: "NGHTTP2DifferentialTests",
            dependencies: ["CNGHTTP2Peer", "LupineHTTP2", "LupineHTTP", "LupineTestKit"],
            path: "Tests/NGHTTP2Differential", swiftSettings: houseRules),
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
                "LupineTransport", "LupineOrigin", "LupineHTTP", "LupineHTTP2", "LupineCoding", "LupineTLS",
                "LupineTestKit", "lupine-transport-probe",
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
        .testTarget(
            name: "LupineTests",
            dependencies: [
                "Lupine", "LupineLoading", "LupineCoding", "LupineOrigin", "LupineTransport", "LupineTLS",
                "LupineHTTP", "LupineTestKit",
                "lupine-transfer-probe",
            ],
            swiftSettings: pipelineRules),
        .executableTarget(
            name: "lupine-transfer-probe", dependencies: ["Lupine", "LupineTLS", "CLupineHeap"],
            path: "Tests/Probes/Transfer",
            swiftSettings: houseRules),
        .executableTarget(
            name: "lupine-loading-probe", dependencies: ["LupineLoading", "CLupineHeap"],
            path: "Tests/Probes/Loading",
            swiftSettings: houseRules),
        .testTarget(
            name: "LupineTestingTests",
            dependencies: [
                "LupineTesting", "Lupine", "LupineLoading", "LupineOrigin", "LupineTransport", "LupineTLS",
                "LupineTestKit",
            ],
            swiftSettings: houseRules),
        .testTarget(
            name: "LupineOriginTests",
            dependencies: [
                "LupineOrigin", "LupineTransport", "LupineHTTP", "LupineHTTP2", "LupineCoding", "LupineTLS",
                "LupineTestKit", "lupine-origin-probe",
            ],
            swiftSettings: houseRules),
        .executableTarget(
            name: "lupine-origin-probe", dependencies: ["LupineOrigin", "LupineTLS", "LupineTestKit"],
            path: "Tests/Probes/Origin",
            swiftSettings: houseRules),
        .systemLibrary(name: "CLupineHeap", path: "Tests/CLupineHeap"),
        .target(name: "CLupineFaults", path: "Tests/CLupineFaults"),
        .executableTarget(
            name: "lupine-fault-probe", dependencies: ["Lupine", "CLupineFaults"],
            path: "Tests/Probes/Faults",
            swiftSettings: houseRules),
        .testTarget(
            name: "FaultTests",
            dependencies: [
                "LupineOrigin", "LupineTransport", "LupineHTTP", "LupineTestKit", "lupine-fault-probe",
            ],
            path: "Tests/Faults", swiftSettings: houseRules),
        .executableTarget(
            name: "lupine-endurance",
            dependencies: [
                "Lupine", "LupineLoading", "LupineOrigin", "LupineTransport", "LupineTLS", "LupineHTTP",
                "CLupineHeap",
            ],
            path: "Tests/Endurance",
            swiftSettings: houseRules),
        .executableTarget(
            name: "lupine-transport-probe",
            dependencies: [
                "LupineTransport", "LupineOrigin", "LupineHTTP", "LupineTLS", "LupineTestKit", "CLupineHeap",
                "CLupineOpenSSL",
            ],
            path: "Tests/Probes/Transport",
            swiftSettings: houseRules),
        .target(
            name: "LupineChaos",
            dependencies: [
                "Lupine", "LupineLoading", "LupineTransport", "LupineOrigin", "LupineHTTP", "LupineHTTP2",
                "LupineCoding", "LupineTLS", "LupineTestKit",
            ],
            path: "Tests/Chaos", swiftSettings: houseRules),
        .executableTarget(
            name: "lupine-chaos-probe", dependencies: ["LupineChaos"], path: "Tests/Probes/Chaos",
            swiftSettings: houseRules),
        .testTarget(
            name: "LupineChaosTests",
            dependencies: [
                "LupineChaos", "Lupine", "LupineLoading", "LupineOrigin", "LupineTransport", "LupineHTTP",
                "LupineHTTP2", "LupineTLS", "LupineTestKit",
            ],
            path: "Tests/ChaosTests", swiftSettings: houseRules),
        .testTarget(
            name: "ConformanceTests",
            dependencies: [
                "Lupine", "LupineLoading", "LupineTransport", "LupineOrigin", "LupineHTTP", "LupineTLS",
                "LupineTestKit",
                "lupine-transport-probe", "lupine-command",
            ],
            path: "Tests/Conformance", exclude: ["HTTP2/Peers"],
            swiftSettings: houseRules),
        .testTarget(
            name: "HostileTests",
            dependencies: [
                "Lupine", "LupineLoading", "LupineTransport", "LupineOrigin", "LupineHTTP", "LupineTLS",
                "LupineTestKit", "lupine-transfer-probe",
            ],
            path: "Tests/Hostile",
            swiftSettings: houseRules),
        // Stand in for packages that the documentation has bridges to. Under names of their own: in the graph of a program's
        // packages none may stand twice.
        .target(name: "LoggingStandIn", path: "Tests/AsUsers/StandIns/Logging", swiftSettings: usersSwift6),
        .target(name: "MetricsStandIn", path: "Tests/AsUsers/StandIns/Metrics", swiftSettings: usersSwift6),
        .target(name: "TracingStandIn", path: "Tests/AsUsers/StandIns/Tracing", swiftSettings: usersSwift6),
        .testTarget(
            name: "Snippets",
            dependencies: [
                "Lupine", "LupineLoading", "LupineTesting", "LupineTransport", "LupineOrigin", "LupineTLS",
                "LupineTestKit", "LoggingStandIn", "MetricsStandIn", "TracingStandIn",
            ],
            path: "Tests/AsUsers/Snippets", swiftSettings: usersSwift6),
        .testTarget(
            name: "GuideTests",
            dependencies: ["Lupine", "LupineOrigin", "LupineTLS", "LupineTestKit"],
            path: "Tests/AsUsers/GuideTests", swiftSettings: usersSwift5),
        // The same files in both language modes.
        .testTarget(
            name: "UserLayer5", dependencies: ["Lupine", "LupineOrigin"], path: "Tests/AsUsers/UserLayer5",
            swiftSettings: usersSwift5),
        .testTarget(
            name: "UserLayer6", dependencies: ["Lupine", "LupineOrigin"], path: "Tests/AsUsers/UserLayer6",
            swiftSettings: usersSwift6),
        .testTarget(
            name: "ArchitectureTests", dependencies: ["LupineOrigin"],
            exclude: [
                "unsafe-files.txt", "shape-exempt.txt", "type-sizes.txt", "callbacks.txt", "consumers.txt",
                "folders.txt",
            ],
            swiftSettings: houseRules),
    ]
)

// LUPINE_TESTS=LupineHTTPTests,LupineTLSTests: only these test targets and what they need, for a sanitizer's build.
if let tests = Context.environment["LUPINE_TESTS"] {
    var needed = Set(tests.split(separator: ",").map(String.init))
    precondition(needed.isSubset(of: package.targets.map(\.name)), "not all are targets: \(tests)")
    var known = 0
    while known < needed.count {
        known = needed.count
        for target in package.targets where needed.contains(target.name) {
            for case .byNameItem(let name, _) in target.dependencies { needed.insert(name) }
        }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products = []
}
