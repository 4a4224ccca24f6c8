// swift-tools-version: 6.3
import Foundation
import PackageDescription

// Every module and every arrow on one screen. Farm never imports Pixels, Pixels never imports Farm: they meet in
// WorkerRuntime alone. Tests/ArchitectureTests reads the sources' import lines and fails on an arrow that is not here.

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
    // Generic types are made by functions, not from their names. A name is looked up among ten thousand conformances, hundreds of
    // times before the first picture.
    .unsafeFlags(["-Xfrontend", "-disable-concrete-type-metadata-mangled-name-accessors"]),
]

func module(
    _ group: String, _ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(group)/\(name)", resources: resources,
        swiftSettings: settings)
}

/// The inner loops, compiled once for each level of x86-64 from the same files. Other architectures have one level: there
/// all three modules are the same code, and the first is used. Only these modules may use instructions that a CPU can
/// lack; ARCHITECTURE.md says how that is kept so.
/// `PENUMBRA_ARCHITECTURE` names the architecture if it is not that of the compiler: see Scripts/test-arm64.
#if arch(x86_64)
    let isX86 = Context.environment["PENUMBRA_ARCHITECTURE"] ?? "x86_64" == "x86_64"
#else
    let isX86 = false
#endif
let rowKernelLevels =
    isX86
    ? ["RowKernelsV2": "x86-64-v2", "RowKernelsV3": "x86-64-v3", "RowKernelsV4": "x86-64-v4"]
    : ["RowKernelsV2": "", "RowKernelsV3": "", "RowKernelsV4": ""]

func rowKernels(_ name: String, _ level: String) -> Target {
    let wide = level == "x86-64-v4" ? ["-Xcc", "-mprefer-vector-width=512", "-DWIDE_VECTORS"] : []
    let flags = level.isEmpty ? [] : ["-Xcc", "-march=\(level)"] + wide
    return .target(
        name: name, dependencies: ["CPairSums", "CShuffles", "CStreaming"],
        path: "Sources/Pixels/RowKernelLevels/\(name)",
        swiftSettings: settings + [.enableExperimentalFeature("BuiltinModule"), .unsafeFlags(["-Ounchecked"] + flags)])
}

/// The filters of Plugins/, each a library of its own.
let swiftPlugins = ["ColorAdjust", "Grain", "Halftone", "Invert", "Pixelate", "Vignette"]
let shippedPlugins = swiftPlugins + ["Posterize"]

/// Functions of libraries are found when a program starts, so that the table of their addresses can be read-only from then on.
let boundAtStart: [LinkerSetting] = [.unsafeFlags(["-Xlinker", "-znow"])]

func plugin(_ name: String) -> Target {
    .target(
        name: name, dependencies: ["FilterKit"], path: "Plugins/\(name)", swiftSettings: settings,
        linkerSettings: boundAtStart)
}

func program(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Sources/Programs/\(name)", resources: resources,
        swiftSettings: settings, linkerSettings: boundAtStart)
}

/// Tests that compute pixels of their own are optimized. The compiler would take longer to optimize the others than they run.
let testsThatComputePixels: Set = [
    "DigestsTests", "FiltersTests", "ImageFilesTests", "KernelsTests", "PluginLoadingTests", "RasterTests",
    "RenderingTests",
    "ShippedPluginsTests",
]

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, path: "Tests/\(name)", exclude: exclude,
        swiftSettings: settings + [
            // No module imports tests, so they are read once, and not once more for their interface.
            .unsafeFlags(["-no-emit-module-separately-wmo"] + (testsThatComputePixels.contains(name) ? [] : ["-Onone"]))
        ])
}

/// What `penumbra plugin new` writes.
let pluginTemplates = [
    "swift-package.txt", "swift-filter.txt", "swift-test.txt", "swift-readme.txt", "c-filter.txt", "c-makefile.txt",
    "c-readme.txt", "penumbra_plugin.h", "swift-area-filter.txt", "c-area-filter.txt", "c-area-makefile.txt",
    "c-area-test.txt",
]

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let collections = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nio = ["NIOCore", "NIOPosix", "NIOHTTP1"].map { Target.Dependency.product(name: $0, package: "swift-nio") }
let sqlite = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess")
let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")

/// The sources of a release have their dependencies in vendor/ (`make dist`), so that they build without a network.
let isVendored = FileManager.default.fileExists(atPath: Context.packageDirectory + "/vendor")

func dependency(
    _ repository: String, from version: Version, traits: Set<Package.Dependency.Trait> = [.defaults]
) -> Package.Dependency {
    guard isVendored else { return .package(url: "https://github.com/\(repository)", from: version, traits: traits) }
    return .package(path: "vendor/\(repository.split(separator: "/").last ?? "")", traits: traits)
}

let dependencies =
    [
        dependency("apple/swift-argument-parser", from: "1.8.2"),
        dependency("apple/swift-collections", from: "1.6.0"),
        dependency("apple/swift-system", from: "1.8.1"),
        dependency("swiftlang/swift-subprocess", from: "1.0.2", traits: []),
        dependency("apple/swift-nio", from: "2.101.2"),
        dependency("apple/swift-log", from: "1.16.2"),
        dependency("groue/GRDB.swift", from: "7.10.0"),
        dependency("jpsim/Yams", from: "6.2.2"),  // tests only
    ] + (isVendored ? [] : [dependency("swiftlang/swift-docc-plugin", from: "1.5.0")])  // make docs only

let package = Package(
    name: "penumbra",
    products: [
        .executable(name: "penumbra", targets: ["penumbra"]),
        .executable(name: "penumbra-worker", targets: ["penumbra-worker"]),
        .executable(name: "penumbra-service", targets: ["penumbra-service"]),
        .library(name: "Kernels", targets: ["Kernels", "Raster", "Geometry", "Catalogs", "Arithmetic"]),
        .library(name: "RenderFarm", targets: ["RenderFarm"]),
        .library(name: "FilterKit", targets: ["FilterKit"]),
        .library(name: "FilterKitTesting", targets: ["FilterKitTesting"]),
        .library(name: "BenchmarkedKernels", type: .dynamic, targets: ["BenchmarkedKernels"]),
    ] + shippedPlugins.map { .library(name: $0, type: .dynamic, targets: [$0]) },
    dependencies: dependencies,
    targets: [
        // Model: values; no I/O, no clock.
        module("Model", "Geometry"),
        module("Model", "Catalogs"),
        module("Model", "JobModel", ["Geometry", "Catalogs"]),
        .systemLibrary(name: "CCrypto", path: "Sources/Model/CCrypto", pkgConfig: "libcrypto"),
        .systemLibrary(name: "CZlib", path: "Sources/Model/CZlib", pkgConfig: "zlib"),
        module("Model", "ContentNames", ["CCrypto"]),

        // Pixels
        .systemLibrary(name: "CXXHash", path: "Sources/Pixels/CXXHash", pkgConfig: "libxxhash"),
        .systemLibrary(name: "CVips", path: "Sources/Pixels/CVips", pkgConfig: "vips"),
        .systemLibrary(name: "CPango", path: "Sources/Pixels/CPango", pkgConfig: "pangoft2"),
        .target(name: "CRaw", path: "Sources/Pixels/CRaw", linkerSettings: [.linkedLibrary("raw_r")]),
        .target(name: "CPenumbraPlugin", path: "Sources/Pixels/CPenumbraPlugin"),
        module("Pixels", "FileAccess"),
        module("Pixels", "Digests", ["CXXHash", "ContentNames", "JobModel", "FileAccess"]),
        module("Pixels", "Raster", ["Geometry", "Catalogs", "FileAccess"]),
        .target(name: "CPairSums", path: "Sources/Pixels/CPairSums"),
        .target(name: "CShuffles", path: "Sources/Pixels/CShuffles"),
        .target(name: "CStreaming", path: "Sources/Pixels/CStreaming"),
        .target(name: "CCPUFeatures", path: "Sources/Pixels/CCPUFeatures"),
        module("Pixels", "Arithmetic"),
        module(
            "Pixels", "Kernels",
            ["Geometry", "Catalogs", "Arithmetic", "Raster", "CCPUFeatures"]
                + rowKernelLevels.keys.sorted().map { .target(name: $0) }),
        module("Pixels", "FilterKit", ["Geometry", "Arithmetic", "CPenumbraPlugin"]),
        module("Pixels", "Filters", ["Geometry", "Catalogs", "JobModel", "Arithmetic", "Raster", "Kernels"]),
        module("Pixels", "Typesetting", ["Geometry", "Kernels", "Filters", "FileAccess", "CPango"]),
        module("Pixels", "GuardedMemory"),
        module("Pixels", "FilterKitTesting", ["Geometry", "GuardedMemory", "CPenumbraPlugin", "CPluginTrial"]),
        .target(name: "CPluginTrial", dependencies: ["CPenumbraPlugin"], path: "Sources/Pixels/CPluginTrial"),
        module(
            "Pixels", "PluginLoading",
            [
                "Geometry", "Catalogs", "JobModel", "Raster", "Digests", "Kernels", "Filters", "FilterKitTesting",
                "GuardedMemory", "CPenumbraPlugin", "CPluginTrial",
            ]),
        module(
            "Pixels", "Rendering",
            ["Geometry", "Catalogs", "JobModel", "Raster", "Kernels", "Filters", "Digests"]),
        module(
            "Pixels", "ImageFiles",
            [
                "Geometry", "Catalogs", "JobModel", "Arithmetic", "Raster", "Kernels", "FileAccess", "CVips", "CZlib",
                "CRaw",
            ]),

        // Farm
        module("Farm", "SafeFiles", ["JobModel"]),
        module("Farm", "Manifests", ["Catalogs", "JobModel"]),
        module("Farm", "Planning", ["Catalogs", "JobModel", "SafeFiles"]),
        module("Farm", "Scheduling", ["Geometry", "Catalogs", "JobModel", "WorkerProtocol", collections, heap]),
        module("Farm", "WorkerProtocol", ["Geometry", "Catalogs", "JobModel"]),
        .target(name: "CChannel", path: "Sources/Farm/CChannel"),
        .target(name: "CProcessLimits", path: "Sources/Farm/CProcessLimits"),
        module(
            "Farm", "Engines",
            [
                "Catalogs", "JobModel", "SafeFiles", "WorkerProtocol", "Scheduling", "CChannel", "CProcessLimits",
                subprocess, system,
            ]),
        module(
            "Farm", "Shards",
            ["Geometry", "Catalogs", "JobModel", "SafeFiles", "WorkerProtocol", "Scheduling", "Engines"]),
        module("Farm", "Cluster", ["JobModel", "WorkerProtocol", "Scheduling", "Engines", "Shards"]),
        module("Farm", "BatchSystems", ["JobModel", "Engines", "Cluster"]),
        .target(name: "CConfinement", path: "Sources/Farm/CConfinement"),
        module("Farm", "Confinement", ["Catalogs", "JobModel", "Planning", "CConfinement"]),
        module("Farm", "Exports", ["JobModel"]),
        module("Farm", "Reports", ["JobModel"], resources: [.embedInCode("Web")]),
        module("Farm", "Terminals"),
        module("Farm", "JobStorage", ["JobModel", sqlite]),
        module(
            "Farm", "Runs", ["JobModel", "SafeFiles", "Planning", "Scheduling", "WorkerProtocol", "JobStorage"]),
        module(
            "Farm", "Coordination",
            [
                "Geometry", "Catalogs", "ContentNames", "JobModel", "SafeFiles", "Planning", "Scheduling",
                "WorkerProtocol", "Engines",
                "JobStorage", "Runs",
            ]),
        module(
            "Farm", "InPlace",
            [
                "Catalogs", "JobModel", "ContentNames", "SafeFiles", "Planning", "Scheduling", "WorkerProtocol",
                "Runs", "Coordination",
            ]),

        module("Farm", "Settings", ["Manifests", "Catalogs", "JobModel"]),
        module(
            "Farm", "RenderFarm",
            [
                "Geometry", "Catalogs", "JobModel", "Confinement", "SafeFiles", "Manifests", "Planning", "Scheduling",
                "WorkerProtocol", "Engines", "Shards", "Cluster", "BatchSystems", "JobStorage", "Runs", "Coordination",
                "InPlace", "Reports", "Settings",
            ]),

        // Service
        module("Service", "Queueing", ["JobModel"]),
        module("Service", "QueueStorage", ["JobModel", "SafeFiles", "Queueing", sqlite]),
        module("Service", "ServiceAPI", ["JobModel", "Queueing"]),
        module("Service", "HTTPService", ["JobModel", "Queueing", "CCrypto", logging] + nio),
        module("Service", "Page", ["HTTPService", "Reports", "CZlib"], resources: [.embedInCode("Web")]),
        module("Service", "ServiceClient", ["JobModel", "Queueing", "ServiceAPI"]),
        module(
            "Service", "Supervision",
            [
                "Catalogs", "JobModel", "ContentNames", "SafeFiles", "Manifests", "Planning", "WorkerProtocol",
                "Engines",
                "JobStorage", "Runs", "Coordination", "Settings", "RenderFarm", "Confinement", "Queueing",
                "QueueStorage", "ServiceAPI", subprocess,
                system,
            ]),
        module(
            "Service", "Pictures",
            [
                "Geometry", "Catalogs", "JobModel", "ContentNames", "SafeFiles", "Planning", "Scheduling",
                "WorkerProtocol",
                "Engines", "JobStorage", "Runs", "Coordination", "Confinement",
            ]),
        module(
            "Service", "Endpoints",
            [
                "Geometry", "Catalogs", "JobModel", "SafeFiles", "JobStorage", "Runs", "Coordination", "Settings",
                "RenderFarm", "Reports",
                "Confinement", "Queueing", "QueueStorage", "ServiceAPI", "HTTPService", "Page", "Supervision",
                "Scheduling", "Pictures",
            ], resources: [.embedInCode("Documents/openapi.yaml")]),
        module(
            "Service", "Notifications",
            ["JobModel", "ContentNames", "SafeFiles", "Engines", "Coordination", "Reports", "Settings", "Queueing"]),
        module(
            "Service", "NoticeDelivery",
            [
                "JobModel", "ContentNames", "JobStorage", "Runs", "Coordination", "Settings", "Queueing",
                "QueueStorage",
                "Notifications",
            ]),

        // Programs
        .target(name: "CCrashRecord", path: "Sources/Programs/CCrashRecord"),
        .target(name: "CProcessState", path: "Sources/Programs/CProcessState"),
        .target(name: "CLaunchers", path: "Sources/Programs/CLaunchers"),
        module(
            "Programs", "WorkerRuntime",
            [
                "Geometry", "Catalogs", "JobModel", "WorkerProtocol", "Raster", "Digests", "Kernels", "Filters",
                "Rendering", "FilterKitTesting", "PluginLoading", "Typesetting", "ImageFiles", "FileAccess", "CChannel",
                "Confinement", "CCrashRecord", "CProcessState", "CLaunchers",
            ]),
        module(
            "Programs", "Reference",
            ["Catalogs", "JobModel", "Manifests", "Settings", "Reports", "WorkerProtocol", "ServiceAPI"]),
        program(
            "penumbra",
            [
                "Geometry", "Catalogs", "JobModel", "SafeFiles", "Manifests", "Planning", "Reference", "Scheduling",
                "WorkerProtocol", "Engines", "Shards", "Cluster", "BatchSystems", "JobStorage", "Runs", "Coordination",
                "InPlace", "Confinement", "Exports", "Reports", "Settings", "RenderFarm", "Queueing", "QueueStorage",
                "Notifications", "ServiceAPI", "ServiceClient", "Terminals", argumentParser,
            ], resources: (pluginTemplates + ["config.yaml"]).map { .embedInCode("Templates/\($0)") }),
        program("penumbra-worker", ["WorkerRuntime", "WorkerProtocol"]),
        program(
            "penumbra-service",
            [
                "Catalogs", "JobModel", "SafeFiles", "WorkerProtocol", "Coordination", "Settings", "RenderFarm",
                "Queueing", "QueueStorage", "Notifications", "NoticeDelivery", "ServiceAPI", "HTTPService",
                "Supervision",
                "Endpoints", "Exports", "Pictures",
                "Runs", argumentParser, logging,
            ]),

        // Plugins
        .target(
            name: "Posterize", dependencies: ["CPenumbraPlugin"], path: "Plugins/Posterize", publicHeadersPath: ".",
            linkerSettings: boundAtStart),

        // Tests, and what they and the demo use
        .target(
            name: "TestSupport",
            dependencies: ["Geometry", "Catalogs", "JobModel", "Raster", "Kernels", "Filters", "Rendering"],
            path: "Tests/TestSupport", swiftSettings: settings),
        .target(
            name: "FarmTestSupport",
            dependencies: [
                "Geometry", "Catalogs", "JobModel", "WorkerProtocol", "Scheduling", "Engines", "Coordination",
            ], path: "Tests/FarmTestSupport", swiftSettings: settings),
        .target(
            name: "KernelCases", dependencies: ["Geometry", "Catalogs", "Raster", "Kernels"], path: "Tests/KernelCases",
            swiftSettings: settings),
        .executableTarget(
            name: "kernel-digests", dependencies: ["KernelCases", "Geometry", "Catalogs", "Raster", "Kernels"],
            path: "Tests/Arm64/KernelDigests", swiftSettings: settings),
        .target(
            name: "ExamplePictures", dependencies: ["Geometry", "Catalogs", "JobModel", "Raster", "ImageFiles"],
            path: "Tests/ExamplePictures", swiftSettings: settings),
        .executableTarget(
            name: "make-pictures", dependencies: ["ExamplePictures", "Catalogs"], path: "Tests/make-pictures",
            swiftSettings: settings),
        .target(
            name: "BenchmarkedKernels", dependencies: ["Geometry", "Catalogs", "JobModel", "Raster", "Kernels"],
            path: "Tests/Benchmarks/BenchmarkedKernels", swiftSettings: settings),
        .executableTarget(
            name: "simulate-farm",
            dependencies: [
                "Geometry", "Catalogs", "JobModel", "WorkerProtocol", "Scheduling", "Shards", "Cluster", collections,
            ],
            path: "Tests/Benchmarks/SimulateFarm", swiftSettings: settings),
        .executableTarget(
            name: "plugin-overhead",
            dependencies: [
                "Geometry", "Catalogs", "Raster", "Kernels", "Filters", "PluginLoading", "CPenumbraPlugin",
                "TestSupport",
            ],
            path: "Tests/Benchmarks/PluginOverhead", swiftSettings: settings),
        .executableTarget(
            name: "penumbra-faults", dependencies: ["CChannel", argumentParser], path: "Tests/FaultHarness",
            resources: [
                .embedInCode("Shims/clock.c"), .embedInCode("Shims/power.c"), .embedInCode("Shims/plugin.c"),
                .embedInCode("Shims/place.c"),
            ], swiftSettings: settings),
        tests("ArchitectureTests", []),
        tests("GeometryTests", ["Geometry"]),
        tests("RasterTests", ["Geometry", "Catalogs", "Raster", "FileAccess", "TestSupport"]),
        tests("FileAccessTests", ["FileAccess", "TestSupport"]),
        tests("DigestsTests", ["JobModel", "Digests", "TestSupport"]),
        tests(
            "KernelsTests",
            ["Geometry", "Catalogs", "Arithmetic", "Raster", "Kernels", "KernelCases", "Filters", "TestSupport"]),
        tests("FiltersTests", ["Geometry", "Catalogs", "JobModel", "Raster", "Kernels", "Filters", "TestSupport"]),
        tests(
            "RenderingTests",
            [
                "Geometry", "Catalogs", "JobModel", "Raster", "Kernels", "Filters", "Rendering", "Digests",
                "TestSupport",
            ]),
        tests(
            "PluginLoadingTests",
            [
                "Geometry", "Catalogs", "JobModel", "Raster", "Digests", "Kernels", "Filters", "FilterKitTesting",
                "PluginLoading", "CPluginTrial", "TestSupport",
            ],
            exclude: ["Fixtures"]),
        tests(
            "ShippedPluginsTests",
            [
                "Geometry", "Catalogs", "Raster", "Kernels", "Filters", "FilterKitTesting", "PluginLoading",
                "TestSupport",
            ]),
        tests(
            "ImageFilesTests",
            ["Geometry", "Catalogs", "JobModel", "Raster", "Kernels", "FileAccess", "ImageFiles", "TestSupport"],
            exclude: ["Fixtures"]),
        tests("TypesettingTests", ["Geometry", "Raster", "Kernels", "Filters", "Typesetting"]),
        tests("SafeFilesTests", ["SafeFiles", "TestSupport"]),
        tests("ManifestsTests", ["Manifests", "Catalogs", "JobModel", yams], exclude: ["Corpus"]),
        tests("PlanningTests", ["Planning", "Catalogs", "JobModel", "TestSupport"]),
        tests("SchedulingTests", ["Scheduling", "WorkerProtocol", "Geometry", "Catalogs", "JobModel"]),
        tests("WorkerProtocolTests", ["WorkerProtocol", "Geometry", "Catalogs", "JobModel"]),
        tests(
            "EnginesTests",
            [
                "penumbra-worker", "Catalogs", "JobModel", "WorkerProtocol", "Engines", "Scheduling", "FarmTestSupport",
                "TestSupport", "CChannel", "Confinement", "Geometry", subprocess,
            ]),
        tests(
            "ShardsTests",
            ["Geometry", "Catalogs", "JobModel", "WorkerProtocol", "Engines", "Shards", "Scheduling", "TestSupport"]),
        tests("ClusterTests", ["JobModel", "WorkerProtocol", "Engines", "Shards", "Cluster", "Scheduling"]),
        tests(
            "BatchSystemsTests",
            [
                "Catalogs", "JobModel", "WorkerProtocol", "Engines", "Shards", "Cluster", "BatchSystems", "Scheduling",
                "FarmTestSupport", "TestSupport",
            ]),
        tests("JobStorageTests", ["JobStorage", "JobModel", "TestSupport", sqlite]),
        tests("RunsTests", ["Runs", "SafeFiles", "JobStorage", "JobModel", "Scheduling", "TestSupport"]),
        tests(
            "CoordinationTests",
            [
                "Coordination", "Runs", "SafeFiles", "Manifests", "Planning", "JobStorage", "WorkerProtocol",
                "Scheduling",
                "Engines", "Catalogs", "JobModel", "FarmTestSupport", "TestSupport",
            ]),
        tests("QueueingTests", ["Queueing", "JobModel", "TestSupport"]),
        tests("QueueStorageTests", ["QueueStorage", "Queueing", "JobModel", "TestSupport", sqlite]),
        tests("HTTPServiceTests", ["HTTPService", "Coordination", "Queueing", "TestSupport", logging]),
        tests("PageTests", ["Page", "HTTPService", "Reports", "TestSupport"]),
        tests(
            "SupervisionTests",
            [
                "Supervision", "Confinement", "Settings", "QueueStorage", "Queueing", "ServiceAPI", "Engines", "Runs",
                "JobStorage",
                "SafeFiles", "JobModel", "TestSupport", sqlite,
            ]),
        tests("ServiceAPITests", ["ServiceAPI", "Queueing", "JobModel"]),
        tests(
            "PicturesTests",
            [
                "penumbra-worker", "Pictures", "Geometry", "Catalogs", "JobModel", "SafeFiles", "Planning",
                "Scheduling",
                "WorkerProtocol", "Coordination", "Filters", "Rendering", "Engines", "Raster", "ExamplePictures",
                "FarmTestSupport",
                "TestSupport",
            ]),
        tests(
            "EndpointsTests",
            [
                "Endpoints", "Pictures", "HTTPService", "Supervision", "QueueStorage", "Queueing", "ServiceAPI",
                "Catalogs",
                "Settings",
                "RenderFarm",
                "JobModel", "Runs", "Scheduling", "TestSupport", yams,
            ]),
        tests("ServiceClientTests", ["ServiceClient", "ServiceAPI", "Queueing", "JobModel", "TestSupport"]),
        tests(
            "NotificationsTests",
            ["Notifications", "ContentNames", "Settings", "Queueing", "JobModel", "TestSupport"]),
        tests(
            "NoticeDeliveryTests",
            ["NoticeDelivery", "Notifications", "QueueStorage", "Settings", "Queueing", "JobModel", "TestSupport"]),
        tests("InPlaceTests", ["InPlace", "SafeFiles", "JobModel", "TestSupport"]),
        // These and other tests run programs. Each build makes all programs; a dependency would make the tests wait for them.
        tests(
            "RenderFarmTests",
            [
                "RenderFarm", "Settings", "Catalogs", "Coordination", "Runs", "JobModel", "JobStorage", "Scheduling",
                "ExamplePictures", "TestSupport", subprocess, system,
            ]),
        tests("ConfinementTests", ["Confinement", "CConfinement", "Catalogs", "JobModel", "TestSupport"]),
        tests("ExportsTests", ["Exports", "JobModel", "TestSupport", yams]),
        tests("ReportsTests", ["Reports", "JobModel", "TestSupport"]),
        tests("TerminalsTests", ["Terminals"]),
        tests("SettingsTests", ["Settings", "Catalogs", "JobModel"]),
        tests(
            "ReferenceTests", ["Reference", "Catalogs", "JobModel", "Manifests", "Settings", "Reports", "ServiceAPI"]),
        tests(
            "ScheduleTests",
            ["Supervision", "Settings", "QueueStorage", "Queueing", "ServiceAPI", "JobModel", "TestSupport"]),
        tests(
            "ServiceTests",
            [
                "ExamplePictures", "JobModel", "Runs", "Catalogs", "Queueing", "QueueStorage", "Confinement",
                "Notifications", "Settings", "RenderFarm", "ServiceAPI", "ServiceClient", "HTTPService", "Supervision",
                "Endpoints", "Pictures", "Raster", "Geometry", "TestSupport", subprocess, system,
            ], exclude: ["Support/flaky.py", "Support/systemd.py"]),
        tests(
            "EndToEndTests",
            [
                "ExamplePictures", "Filters", "Geometry", "Kernels", "Raster", "Catalogs", "JobModel",
                "WorkerProtocol", "Confinement", "TestSupport", subprocess, system,
            ], exclude: ["Support"]),
    ] + rowKernelLevels.sorted { $0.key < $1.key }.map { rowKernels($0.key, $0.value) }
        + swiftPlugins.map(plugin),
    swiftLanguageModes: [.v6]
)

// `Scripts/test-sanitized` builds the tests of some modules, and only what these need.
if let chosen = Context.environment["PENUMBRA_TESTS"]?.split(separator: " ").map(String.init) {
    package.targets.removeAll { $0.type == .test && !chosen.contains($0.name) }
    // With ThreadSanitizer, this pass of Swift 6.3 crashes in `WatchedInputs.look()`.
    if let renderFarm = package.targets.first(where: { $0.name == "RenderFarm" }) {
        renderFarm.swiftSettings?.append(.unsafeFlags(["-Xllvm", "-sil-disable-pass=copy-propagation"]))
    }
}
