// swift-tools-version: 6.2
import PackageDescription

// A package of its own that uses Penumbra's kernels, without libvips and without the farm. Yours would say
//     .package(url: "…/penumbra", branch: "main")
// A branch or a revision, not a version: the kernels are compiled for three CPU levels by compiler flags, and SwiftPM
// takes such flags from a dependency only where its exact commit was chosen.
let penumbra = Context.environment["PENUMBRA"] ?? "../.."

let package = Package(
    name: "blur-a-raster",
    dependencies: [.package(name: "penumbra", path: penumbra)],
    targets: [
        .executableTarget(
            name: "blur-a-raster", dependencies: [.product(name: "Kernels", package: "penumbra")])
    ]
)
