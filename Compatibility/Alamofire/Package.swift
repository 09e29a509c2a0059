// swift-tools-version: 6.2
import PackageDescription

/// The module `Alamofire` for code that imports it: Lupine under that name. A package of its own, since a target of that name in
/// Lupine's would keep every package out that has one, too.
let package = Package(
    name: "Alamofire",
    products: [.library(name: "Alamofire", targets: ["Alamofire"])],
    dependencies: [.package(name: "lupine", path: "../..")],
    targets: [
        .target(name: "Alamofire", dependencies: [.product(name: "Lupine", package: "lupine")])
    ]
)
