import Foundation
import Testing

/// The arrows of ARCHITECTURE.md, read from the sources' import lines.
@Suite struct ImportTests {
    /// Which groups a group may import, beside itself.
    private static let allowedGroups: [String: Set<String>] = [
        "Model": [],
        "Pixels": ["Model"],
        "Farm": ["Model"],
        "Service": ["Model", "Farm"],
        "Programs": ["Model", "Pixels", "Farm", "Service"],
    ]

    /// Which modules may import a library, or another module that is kept behind a door.
    private static let doors: [String: Set<String>] = [
        "CVips": ["ImageFiles"],
        "CPango": ["Typesetting"],
        "CRaw": ["ImageFiles"],
        "CXXHash": ["Digests"],
        "CCrypto": ["ContentNames", "HTTPService"],
        "CZlib": ["ImageFiles", "Page"],
        "CConfinement": ["Confinement"],
        "CChannel": ["Engines", "WorkerRuntime"],
        "CProcessLimits": ["Engines"],
        "CPenumbraPlugin": ["PluginLoading", "FilterKit", "FilterKitTesting"],
        "CPluginTrial": ["PluginLoading", "FilterKitTesting"],
        "CCPUFeatures": ["Kernels"],
        "CCrashRecord": ["WorkerRuntime"],
        "CProcessState": ["WorkerRuntime"],
        "CLaunchers": ["WorkerRuntime"],
        "CPairSums": ["RowKernels"],
        "CShuffles": ["RowKernels"],
        "CStreaming": ["RowKernels"],
        "RowKernelsV2": ["Kernels"],
        "RowKernelsV3": ["Kernels"],
        "RowKernelsV4": ["Kernels"],
        "Subprocess": ["Engines", "Supervision"],
        "SystemPackage": ["Engines", "Supervision"],
        "DequeModule": ["Scheduling"],
        "HeapModule": ["Scheduling"],
        "GRDB": ["JobStorage", "QueueStorage"],
        "NIOCore": ["HTTPService"],
        "NIOPosix": ["HTTPService"],
        "NIOHTTP1": ["HTTPService"],
        "Logging": ["HTTPService", "penumbra-service"],
        "ArgumentParser": ["penumbra", "penumbra-service"],
        "Yams": [],
    ]

    /// The standard library's own and the system's.
    private static let system: Set<String> = [
        "Builtin", "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Swift", "Synchronization", "Testing",
    ]

    private let files: [SourceTree.File]
    private let groupOf: [String: String]

    init() throws {
        files = try SourceTree.swiftFiles(below: "Sources")
        groupOf = Dictionary(files.map { ($0.module, $0.group) }) { first, _ in first }
    }

    @Test func `no group imports one that it must not know`() {
        for file in files {
            for name in file.imports {
                guard let group = groupOf[name], group != file.group else { continue }
                let allowed = Self.allowedGroups[file.group] ?? []
                #expect(allowed.contains(group), "\(file.path) imports \(name) of \(group)")
            }
        }
    }

    @Test func `Pixels and Farm meet in WorkerRuntime alone`() {
        for file in files where file.group == "Programs" && file.module != "WorkerRuntime" {
            let groups = Set(file.imports.compactMap { groupOf[$0] })
            #expect(!groups.contains("Pixels"), "\(file.path) imports Pixels")
        }
    }

    @Test func `libraries stay behind their doors`() {
        for file in files {
            for name in file.imports where groupOf[name] == nil && !Self.system.contains(name) {
                let modules = Self.doors[name]
                #expect(modules?.contains(file.module) == true, "\(file.path) imports \(name)")
            }
        }
    }

    @Test func `Model performs no I/O and reads no clock`() {
        for file in files where file.group == "Model" {
            #expect(Set(file.imports).isDisjoint(with: Self.system), "\(file.path) imports \(file.imports)")
        }
    }

    @Test func `the scheduler and the manifest reader are pure`() {
        for file in files where ["Scheduling", "Manifests", "Exports"].contains(file.module) {
            #expect(Set(file.imports).isDisjoint(with: Self.system), "\(file.path) imports \(file.imports)")
            #expect(!file.text.contains("Clock"), "\(file.path) mentions a clock")
        }
    }

    /// Time zones and decoding come from FoundationEssentials. Times are given to it.
    @Test func `the queue of the service and the bodies of its API are pure`() {
        for file in files where ["Queueing", "ServiceAPI"].contains(file.module) {
            #expect(
                Set(file.imports).isSubset(of: ["JobModel", "FoundationEssentials", "Queueing"]),
                "\(file.path) imports \(file.imports)")
            for word in [
                "Clock", "Date()", "Date.now", "FileManager", "ProcessInfo", "SystemRandom", ".random(", "await ",
            ] {
                #expect(!file.text.contains(word), "\(file.path) mentions \(word)")
            }
        }
    }

    @Test func `what happens to pictures is decided without a clock and without I/O`() {
        let parts = ["PictureQueue", "BrokenPictures", "WorkerSession", "CacheIndex"]
        for file in files where file.module == "Pictures" && parts.contains(where: file.path.contains) {
            #expect(Set(file.imports).isDisjoint(with: Self.system), "\(file.path) imports \(file.imports)")
            #expect(!file.text.contains("await "), "\(file.path) waits")
        }
    }

    @Test func `what is told, and when, is decided without a clock and without I/O`() {
        let shells = ["CurlSender", "MailSender", "WebhookSecret"]
        for file in files where file.module == "Notifications" && !shells.contains(where: file.path.contains) {
            #expect(
                Set(file.imports).isSubset(of: ["JobModel", "Queueing", "Reports", "FoundationEssentials"]),
                "\(file.path) imports \(file.imports)")
            for word in ["Clock", "Date()", "Date.now", "FileManager", "SystemRandom", ".random(", "await "] {
                #expect(!file.text.contains(word), "\(file.path) mentions \(word)")
            }
        }
    }

    /// What decides of shards and of a cluster's jobs; times and listings are given to it.
    private static let pureFiles = [
        "Cluster/BatchSystem", "Cluster/ClusterState", "Shards/HandoffState", "Shards/ShardState",
        "Shards/VirtualWorkers",
        "BatchSystems/Commands/CommandAnswers",
    ]

    @Test func `what decides of a cluster reads no clock, no folder and no command`() throws {
        for name in Self.pureFiles {
            let path = "Sources/Farm/\(name).swift"
            let file = try #require(files.first { $0.path == path }, "\(path) is gone")
            #expect(Set(file.imports).isDisjoint(with: Self.system), "\(file.path) imports \(file.imports)")
            for word in ["Clock", "ShardFolder", "await "] {
                #expect(!file.text.contains(word), "\(file.path) mentions \(word)")
            }
        }
    }

    @Test func `imports are declared in the package`() throws {
        let manifest = try String(contentsOf: SourceTree.root.appending(path: "Package.swift"), encoding: .utf8)
        for module in Set(files.map(\.module)) {
            // The inner loops are one folder that is compiled as a module for each CPU level.
            let name = module == "RowKernels" ? "RowKernelsV4" : module
            #expect(manifest.contains("\"\(name)\""), "\(module) is not in Package.swift")
        }
    }

    @Test func `the inner loops import nothing that holds code for another CPU`() {
        for file in files where file.module == "RowKernels" {
            let allowed: Set = ["Builtin", "CPairSums", "CShuffles", "CStreaming"]
            #expect(allowed.isSuperset(of: file.imports), "\(file.path) imports \(file.imports)")
        }
    }

    @Test func `a forbidden arrow is found`() {
        let file = SourceTree.File(path: "Sources/Farm/Planning/X.swift", text: "package import Kernels\n")
        #expect(file.group == "Farm")
        #expect(file.imports == ["Kernels"])
        #expect(groupOf["Kernels"] == "Pixels")
        #expect(Self.allowedGroups["Farm"]?.contains("Pixels") == false)
    }
}
