import Catalogs
import Filters
import Foundation
import JobModel
import PluginLoading
import TestSupport
import Testing

/// Builds the C plugins beside this file and loads them.
struct PluginFixture {
    private static let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    static let headers = here.appendingPathComponent("../../Sources/Pixels/CPenumbraPlugin/include")

    /// The header as it was when plugins first could be built.
    static let firstHeaders = here.appendingPathComponent("Fixtures/first")

    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Compiles `Fixtures/<source>.c` to a library in the folder, and returns its path.
    @discardableResult
    func build(
        _ source: String, as library: String? = nil, _ defines: [String] = [], headers: URL = Self.headers
    ) throws -> String {
        let path = folder.file(library ?? "lib\(source).so")
        let file = Self.here.appendingPathComponent("Fixtures/\(source).c").path
        let compiler = Process()
        compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        compiler.arguments =
            ["cc", "-std=c11", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off"]
            + ["-I", headers.path] + defines.map { "-D" + $0 } + [file, "-o", path]
        try compiler.run()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0, "\(source).c compiles")
        return path
    }

    func load(
        isImplicit: Bool = false, reservedNames: [String] = [], policy: PluginPolicy = PluginPolicy(),
        isCancelled: Bool = false, trial: PluginTrial? = nil
    ) -> (plugins: [LoadedPlugin], problems: [String]) {
        let loaded = PluginLoader(
            reservedNames: reservedNames, policy: policy, isCancelled: CancellationQuestion { isCancelled },
            trial: trial
        ).load([PluginFolder(folder.path, isImplicit: isImplicit)])
        return (loaded.plugins, loaded.problems + loaded.unpinned.map(\.description))
    }

    /// With what the trial refused.
    func loadTelling(trial: PluginTrial) -> LoadedPlugins {
        PluginLoader(reservedNames: [], trial: trial).load([PluginFolder(folder.path)])
    }

    /// The filter of the one plugin that the source makes.
    static func filter(
        _ source: String, _ values: [String: ParameterValue] = [:], _ defines: [String] = [],
        headers: URL = Self.headers
    ) throws -> any Filter {
        let fixture = try PluginFixture()
        try fixture.build(source, defines, headers: headers)
        let (plugins, problems) = fixture.load()
        #expect(problems == [])
        return try #require(plugins.first).entry.makeFilter(values)
    }

    /// The folder of the running program, where the plugins of this package are built too.
    static var buildFolder: String {
        get throws {
            let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            return URL(fileURLWithPath: program).deletingLastPathComponent().path
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// For tests whose process has a child that tries plugins. `Scripts/test-sanitized` sets the variable.
    static var triesPlugins: Self {
        .enabled(
            if: ProcessInfo.processInfo.environment["PENUMBRA_TEST_SANITIZER"] != "thread",
            "the child of a process with threads may wait for ever for locks of ThreadSanitizer")
    }
}
