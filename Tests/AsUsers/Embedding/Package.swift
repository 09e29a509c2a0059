// swift-tools-version: 6.2
import PackageDescription

/// What a user's package looks like from outside: one program per product, depending on the library by its path.
/// `LinkageTests` builds it and looks at what the programs are linked against.
let package = Package(
    name: "embedding",
    dependencies: [.package(name: "lupine", path: "../../..")],
    targets: [
        .executableTarget(
            name: "EmbeddingLupineTransport",
            dependencies: [.product(name: "LupineTransport", package: "lupine")])
    ]
)
