// swift-tools-version: 6.3
import PackageDescription

// The part of Penumbra that filter plugins in Swift are built with. Scripts/make-sdk copies its modules here.

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func module(_ group: String, _ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Sources/\(group)/\(name)", swiftSettings: settings)
}

let package = Package(
    name: "penumbra",
    products: [
        .library(name: "FilterKit", targets: ["FilterKit"]),
        .library(name: "FilterKitTesting", targets: ["FilterKitTesting"]),
    ],
    targets: [
        module("Model", "Geometry"),
        module("Pixels", "Arithmetic"),
        module("Pixels", "GuardedMemory"),
        .target(name: "CPenumbraPlugin", path: "Sources/Pixels/CPenumbraPlugin"),
        .target(name: "CPluginTrial", dependencies: ["CPenumbraPlugin"], path: "Sources/Pixels/CPluginTrial"),
        module("Pixels", "FilterKit", ["Geometry", "Arithmetic", "CPenumbraPlugin"]),
        module("Pixels", "FilterKitTesting", ["Geometry", "GuardedMemory", "CPenumbraPlugin", "CPluginTrial"]),
    ],
    swiftLanguageModes: [.v6]
)
