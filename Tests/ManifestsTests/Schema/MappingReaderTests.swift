import Manifests
import Testing

/// The reader as other modules use it: for a file of their own.
@Suite struct MappingReaderTests {
    private struct Engine: Equatable {
        var workers = 0
        var memory = 0
        var folders: [String] = []
    }

    private func read(_ text: String) -> (engine: Engine?, messages: String) {
        let log = DiagnosticLog()
        let source = SourceText(bytes: Array(text.utf8), name: "config.yaml", log: log)
        let engine = BlockParser.parse(source, log: log).flatMap { root -> Engine? in
            guard var reader = MappingReader(root, of: "the configuration", log: log) else { return nil }
            let workers = reader.value("workers", .integer(in: 1...512), default: 4)
            let memory = reader.required("memory", .bytes(in: 1...Int.max), example: "4G")
            let folders = reader.value("plugins", .list(of: .nonEmptyText), default: [])
            reader.finish(aliases: ["threads": "workers"]) { entry in
                entry.key == "cores" ? .other(Words("'cores' is gone", remedy: "write workers")) : nil
            }
            return Engine(workers: workers, memory: memory ?? 0, folders: folders)
        }
        let messages = log.sorted().map { $0.rendered(in: SourceSet(file: source)) }.joined(separator: "\n")
        return (log.hasErrors ? nil : engine, messages)
    }

    @Test func `values are typed and defaults filled in`() {
        #expect(
            read("memory: 2GiB\nplugins: [a, b]\n").engine == Engine(workers: 4, memory: 2 << 30, folders: ["a", "b"]))
    }

    @Test func `a missing key, an alias and an explained key are reported`() {
        #expect(
            read("threads: 8\ncores: 3\n").messages == """
                config.yaml:1:1: error: the configuration has no key 'threads'
                1 | threads: 8
                  | ^^^^^^^
                  = did you mean 'workers'?
                config.yaml:1:1: error: the configuration has no 'memory'
                1 | threads: 8
                  | ^^^^^^^
                  = add 'memory: 4G'
                config.yaml:2:1: error: 'cores' is gone
                2 | cores: 3
                  | ^^^^^
                  = write workers
                """)
    }

    @Test func `a misspelled key that is required is not missing as well`() {
        #expect(
            read("memroy: 4G\n").messages == """
                config.yaml:1:1: error: the configuration has no key 'memroy'
                1 | memroy: 4G
                  | ^^^^^^
                  = did you mean 'memory'?
                """)
    }

    @Test func `overrides replace values of any tree`() {
        let log = DiagnosticLog()
        let source = SourceText(bytes: Array("memory: 1G\n".utf8), name: "config.yaml", log: log)
        let override = Override("memory=2G", name: "PENUMBRA_MEMORY=2G")
        let tree = OverriddenTree(BlockParser.parse(source, log: log), overrides: [override], log: log)
        #expect(
            tree.root.flatMap { root in
                var reader = MappingReader(root, of: "it", log: log)
                return reader?.optional("memory", .bytes(in: 1...Int.max))
            } == 2_000_000_000)
        #expect(tree.texts.map(\.name) == ["PENUMBRA_MEMORY=2G"])
    }
}
