// swift-tools-version: 6.2
import PackageDescription

/// The fuzz targets, in a package of their own so that the library's build never sees them. `House` links to the
/// library's sources: they are compiled here again, with libFuzzer's instrumentation, and lend their `package` API.
let houseRules: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// The pipeline is built as in the library's own package.
let pipelineRules: [SwiftSetting] =
    [.swiftLanguageMode(.v5)] + houseRules.dropFirst() + [
        .enableUpcomingFeature("InferSendableFromCaptures"),
        .enableUpcomingFeature("GlobalActorIsolatedTypesUsability"),
    ]

/// A libFuzzer program: `Targets/<name>`, whose C-named entry point replaces `main`.
func fuzzTarget(_ name: String, _ dependencies: Target.Dependency...) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Targets/\(name)",
        swiftSettings: houseRules + [.unsafeFlags(["-parse-as-library"])])
}

let package = Package(
    name: "lupine-fuzz",
    targets: [
        .target(name: "LupineHTTP", path: "House/LupineHTTP", swiftSettings: houseRules),
        .target(
            name: "LupineHTTP2", dependencies: ["LupineHTTP"], path: "House/LupineHTTP2",
            swiftSettings: houseRules),
        .target(name: "CLupineLinux", path: "House/CLupineLinux"),
        .systemLibrary(name: "CLupineZlib", path: "House/CLupineZlib", pkgConfig: "zlib"),
        .systemLibrary(name: "CLupineBrotli", path: "House/CLupineBrotli", pkgConfig: "libbrotlidec"),
        .target(
            name: "LupineCoding", dependencies: ["CLupineZlib", "CLupineBrotli"], path: "House/LupineCoding",
            swiftSettings: houseRules),
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
            swiftSettings: pipelineRules),
        .target(
            name: "LupineOrigin",
            dependencies: ["LupineTransport", "LupineHTTP", "LupineHTTP2", "LupineCoding", "LupineTLS"],
            path: "House/LupineOrigin", swiftSettings: houseRules),
        .target(
            name: "LupineTesting",
            dependencies: [
                "Lupine", "LupineLoading", "LupineOrigin", "LupineTransport", "LupineHTTP", "LupineTLS",
            ],
            path: "House/LupineTesting", swiftSettings: houseRules),
        // Its internals are lent to targets by `@testable`: it has no `package` names.
        .target(
            name: "LupineCommand", dependencies: ["Lupine", "LupineTransport"], path: "House/LupineCommand",
            swiftSettings: houseRules + [.unsafeFlags(["-enable-testing"])]),
        .target(
            name: "CodingFuzzKit", dependencies: ["LupineCoding"], path: "Targets/CodingFuzzKit",
            swiftSettings: houseRules),
        fuzzTarget("GzipFuzz", "CodingFuzzKit", "LupineCoding"),
        fuzzTarget("DeflateFuzz", "CodingFuzzKit", "LupineCoding"),
        fuzzTarget("BrotliFuzz", "CodingFuzzKit", "LupineCoding"),
        fuzzTarget("CodingStackFuzz", "CodingFuzzKit", "LupineCoding"),
        fuzzTarget("CertificateFuzz", "LupineTLS"),
        fuzzTarget("HostNameFuzz", "LupineTLS"),
        fuzzTarget("PKCS12Fuzz", "LupineTLS"),
        .target(
            name: "TrustFuzzKit", dependencies: ["LupineTLS"], path: "Targets/TrustFuzzKit",
            swiftSettings: houseRules),
        fuzzTarget("OCSPFuzz", "LupineTLS", "TrustFuzzKit"),
        fuzzTarget("RevocationListFuzz", "LupineTLS", "TrustFuzzKit"),
        fuzzTarget("MessageFuzz", "FuzzKit", "LupineCoding"),
        fuzzTarget("SocksFuzz", "LupineTransport"),
        fuzzTarget("URLFuzz", "LupineTransport"),
        fuzzTarget("CacheEntryFuzz", "FuzzKit", "LupineLoading"),
        fuzzTarget("CacheIndexFuzz", "FuzzKit", "LupineLoading"),
        fuzzTarget("ChallengeFuzz", "FuzzKit", "LupineLoading"),
        fuzzTarget("DataURLFuzz", "FuzzKit", "LupineLoading"),
        fuzzTarget("CookieFuzz", "FuzzKit", "LupineLoading"),
        fuzzTarget("ResumeDataFuzz", "FuzzKit", "LupineLoading"),
        fuzzTarget("ContentDispositionFuzz", "FuzzKit", "LupineLoading"),
        fuzzTarget("ContentRangeFuzz", "FuzzKit", "LupineLoading"),
        fuzzTarget("RequestArchiveFuzz", "FuzzKit", "LupineLoading"),
        fuzzTarget("ServerSentEventsFuzz", "FuzzKit", "Lupine"),
        fuzzTarget("NDJSONFuzz", "FuzzKit", "Lupine"),
        fuzzTarget("RecordingFuzz", "FuzzKit", "LupineTesting"),
        fuzzTarget("CookieFileFuzz", "FuzzKit", "Lupine", "LupineCommand"),
        fuzzTarget("JSONPainterFuzz", "FuzzKit", "LupineCommand"),
        fuzzTarget("NetrcFuzz", "FuzzKit", "LupineCommand"),
        fuzzTarget("SessionFileFuzz", "FuzzKit", "Lupine", "LupineCommand"),
        .target(name: "FuzzKit", path: "Targets/FuzzKit", swiftSettings: houseRules),
        .target(
            name: "ReferenceKit", dependencies: ["LupineHTTP"], path: "Targets/ReferenceKit",
            swiftSettings: houseRules),
        fuzzTarget("ChunkedFuzz", "FuzzKit", "ReferenceKit", "LupineHTTP"),
        fuzzTarget("DifferentialFuzz", "FuzzKit", "ReferenceKit", "LupineHTTP"),
        fuzzTarget("ExchangeFuzz", "FuzzKit", "ReferenceKit", "LupineHTTP"),
        fuzzTarget("FieldsFuzz", "FuzzKit", "LupineHTTP"),
        fuzzTarget("HTTP2Fuzz", "FuzzKit", "LupineHTTP", "LupineHTTP2"),
        fuzzTarget("RequestFuzz", "FuzzKit", "LupineHTTP"),
        fuzzTarget("ResponseFuzz", "FuzzKit", "LupineHTTP"),
        fuzzTarget("RoundTripFuzz", "FuzzKit", "LupineHTTP"),
        fuzzTarget("WebSocketFuzz", "FuzzKit", "LupineHTTP"),
    ]
)
