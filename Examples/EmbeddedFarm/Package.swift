// swift-tools-version: 6.3
import PackageDescription

// A program of its own that runs jobs in its process. Yours would name the repository's URL.
let penumbra = Context.environment["PENUMBRA"] ?? "../.."

let package = Package(
    name: "EmbeddedFarm",
    dependencies: [.package(name: "penumbra", path: penumbra)],
    targets: [
        .executableTarget(
            name: "EmbeddedFarm", dependencies: [.product(name: "RenderFarm", package: "penumbra")])
    ]
)
