// swift-tools-version: 6.2
import PackageDescription

/// A user's package: one program per product, with a dependency on the library by path. `LinkageTests` builds it and checks
/// which libraries the programs are linked with.
let package = Package(
    name: "embedding",
    dependencies: [.package(name: "lupine", path: "../../..")],
    targets: [
        .executableTarget(
            name: "EmbeddingLupineTransport",
            dependencies: [.product(name: "LupineTransport", package: "lupine")])
    ]
)
