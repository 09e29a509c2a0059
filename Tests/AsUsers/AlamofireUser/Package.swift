// swift-tools-version: 6.2
import PackageDescription

/// A user's package whose sources say `import Alamofire`. `Scripts/alamofire-module` builds it and runs the program.
let package = Package(
    name: "alamofire-user",
    dependencies: [
        .package(path: "../../../Compatibility/Alamofire"),
        .package(name: "lupine", path: "../../.."),
    ],
    targets: [
        .executableTarget(
            name: "AlamofireUser",
            dependencies: ["Alamofire", .product(name: "Lupine", package: "lupine")])
    ]
)
