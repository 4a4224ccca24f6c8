// swift-tools-version: 6.3
import PackageDescription

// A package of its own that uses Penumbra's kernels, without libvips and without the farm. Yours would name the
// repository's URL, and a version, a branch or a revision.
let penumbra = Context.environment["PENUMBRA"] ?? "../.."

let package = Package(
    name: "blur-a-raster",
    dependencies: [.package(name: "penumbra", path: penumbra)],
    targets: [
        .executableTarget(
            name: "blur-a-raster", dependencies: [.product(name: "Kernels", package: "penumbra")])
    ]
)
