import Catalogs
import JobModel
import Testing
import WorkerProtocol

/// What a worker says of itself, before anything is done with it.
@Suite struct GreetingObjectionTests {
    private static let stamp = FileStamp(device: 1, inode: 2, size: 3, modified: 4, changed: 5)

    private static func text(_ bytes: Int) -> String { String(repeating: "x", count: bytes) }

    private static func catalog(
        versions: [String: String] = ["penumbra": "1"], filters: [FilterDescriptor] = [],
        formats: [FormatDescriptor] = [], problems: [String] = [], unpinned: [UnpinnedPlugin] = [],
        sandbox: SandboxReport = .off
    ) -> Greeting {
        greeting(
            catalog: Catalog(
                versions: versions, filters: filters, formats: formats, pluginProblems: problems,
                unpinnedPlugins: unpinned, sandbox: sandbox))
    }

    private static func greeting(
        versions: [String: String] = [:], catalog: Catalog? = nil, refused: [RefusedLibrary] = [],
        folders: [String] = []
    ) -> Greeting {
        Greeting(
            protocolVersion: Greeting.currentVersion, versions: versions, catalog: catalog, refused: refused,
            folderFormats: folders)
    }

    private static func filter(
        _ name: String = "gaussian", summary: String = "Blurs", _ parameters: [ParameterDescriptor] = [],
        rules: [ParameterRule] = [], origin: FilterDescriptor.Origin = .builtIn
    ) -> [FilterDescriptor] {
        [
            FilterDescriptor(
                name: name, kind: .area, summary: summary, renderingVersion: 1, parameters: parameters, rules: rules,
                origin: origin)
        ]
    }

    private static func parameter(_ kind: ParameterKind, unit: String = "") -> [FilterDescriptor] {
        filter("gaussian", [ParameterDescriptor("radius", kind, unit: unit, summary: "The radius")])
    }

    private static func format(_ name: String = "png", extensions: [String] = ["png"], frameTime: Int? = nil)
        -> [FormatDescriptor]
    {
        [
            FormatDescriptor(
                name: name, extensions: extensions, canRead: true, canWrite: true, sampleFormats: [.u8],
                holdsAlpha: true, frameTime: frameTime, isLossless: true, largestSide: 100, options: [])
        ]
    }

    @Test func `what workers say is believed`() {
        let filters = Self.parameter(.number(minimum: 0, maximum: 1000))
        let catalog = Self.catalog(filters: filters, formats: Self.format(frameTime: 10), problems: ["no"])
        #expect(catalog.objection == nil)
        let refused = RefusedLibrary(path: "/p.so", stamp: Self.stamp, reason: "crashes")
        #expect(Self.greeting(versions: ["penumbra": "1"], refused: [refused], folders: ["dzi"]).objection == nil)
    }

    private static let lies: [(greeting: Greeting, words: String)] = [
        (greeting(versions: [text(1001): "1"]), "a name of 1001 bytes"),
        (greeting(versions: ["penumbra": text(1001)]), "a name of 1001 bytes"),
        (
            greeting(refused: [RefusedLibrary(path: text(16_001), stamp: stamp, reason: "")]),
            "a text of 16001 bytes"
        ),
        (
            greeting(
                refused: Array(repeating: RefusedLibrary(path: "/p", stamp: stamp, reason: ""), count: 10_001)),
            "a greeting with 10001 entries of a kind"
        ),
        (greeting(folders: [text(1001)]), "a name of 1001 bytes"),
        (greeting(folders: Array(repeating: "dzi", count: 10_001)), "a greeting with 10001 entries of a kind"),
        (catalog(versions: ["x": text(1001)]), "a name of 1001 bytes"),
        (catalog(problems: Array(repeating: "no", count: 10_001)), "a catalog with 10001 entries of a kind"),
        (catalog(problems: [text(16_001)]), "a text of 16001 bytes"),
        (catalog(unpinned: [UnpinnedPlugin(path: text(16_001), sha256: "")]), "a text of 16001 bytes"),
        (
            catalog(sandbox: SandboxReport(limitsCalls: false, files: .any, missing: [text(16_001)])),
            "a text of 16001 bytes"
        ),
        (
            catalog(
                sandbox: SandboxReport(limitsCalls: false, files: .any, missing: Array(repeating: "no", count: 11))),
            "a sandbox with 11 missing parts"
        ),
        (catalog(filters: filter(text(1001))), "a name of 1001 bytes"),
        (catalog(filters: filter(summary: text(16_001))), "a text of 16001 bytes"),
        (catalog(filters: filter(origin: .plugin(path: text(16_001)))), "a text of 16001 bytes"),
        (
            catalog(filters: filter(rules: [.replaces(parameter: "a", others: [text(1001)])])),
            "a name of 1001 bytes"
        ),
        (
            catalog(filters: filter(rules: Array(repeating: .replaces(parameter: "a", others: []), count: 1001))),
            "a filter with 0 parameters and 1001 rules"
        ),
        (catalog(filters: parameter(.boolean, unit: text(1001))), "a name of 1001 bytes"),
        (catalog(filters: parameter(.choice([text(1001)]))), "a name of 1001 bytes"),
        (
            catalog(filters: parameter(.choice(Array(repeating: "x", count: 1001)))),
            "a list of 1001 words"
        ),
        // The manifest reader makes ranges of these.
        (catalog(filters: parameter(.number(minimum: 1, maximum: 0))), "a parameter without a range of values"),
        (catalog(filters: parameter(.integer(minimum: 1, maximum: 0))), "a parameter without a range of values"),
        (
            catalog(filters: parameter(.length(within: LengthLimit(pixels: -1, percent: 1)))),
            "a parameter without a range of values"
        ),
        // It is doubled.
        (catalog(formats: format(frameTime: .max)), "a format with times in steps of 9223372036854775807 ms"),
        (catalog(formats: format(frameTime: 0)), "a format with times in steps of 0 ms"),
        (catalog(formats: format(text(1001))), "a name of 1001 bytes"),
        (catalog(formats: format(extensions: Array(repeating: "x", count: 1001))), "a list of 1001 words"),
    ]

    /// The lies are too long for the name of a test.
    @Test(arguments: lies.indices) func `what no worker says is not believed`(index: Int) {
        let objection = Self.lies[index].greeting.objection
        #expect(objection == Self.lies[index].words)
    }
}
