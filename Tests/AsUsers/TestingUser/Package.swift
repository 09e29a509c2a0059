// swift-tools-version: 6.2
import PackageDescription

/// A user's package whose tests use LupineTesting. `Scripts/testing-module` builds it and runs them.
let package = Package(
    name: "testing-user",
    dependencies: [.package(name: "lupine", path: "../../..")],
    targets: [
        .target(name: "Garden", dependencies: [.product(name: "Lupine", package: "lupine")]),
        .testTarget(
            name: "GardenTests",
            dependencies: ["Garden", .product(name: "LupineTesting", package: "lupine")]),
    ]
)
