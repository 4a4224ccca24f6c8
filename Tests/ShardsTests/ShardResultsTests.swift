import Catalogs
import Foundation
import JobModel
import Scheduling
import Shards
import Testing
import WorkerProtocol

@Suite struct ShardResultsTests {
    private let folder: URL
    private var results: ShardResults
    private let id = Shard.ID(run: "r", epoch: 2, number: 1)

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "results-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder.appending(path: "results"), withIntermediateDirectories: true)
        results = ShardResults(folder: ShardFolder(folder.path), run: "r", epoch: 2, grace: .seconds(5))
    }

    private var picture: URL { folder.appending(path: "00.png") }

    private func put(_ id: Shard.ID, as name: String = "1.2.a.json", refusal: String? = nil) throws {
        let encoding = OutputEncoding(
            encoder: "libpng", layout: .gray, samples: .u8, frames: 1, shrink: 1, penumbra: "0.1.0")
        let image = ImageFacts(fileFormat: "png", width: 1, height: 1, layout: .gray, format: .u8)
        let receipt = OutputReceipt(
            path: picture.path, digest: Digest(high: 1, low: 1), bytes: 4, image: image, bands: [],
            pixels: EncodedPixels(digest: Digest(high: 1, low: 1), encoding: encoding))
        let result = ShardResult(
            shard: id, attempt: "a", location: "element 12_3 on n2",
            ends: [TaskEnd(LeaseID(7), .done(.outputs([receipt], of: nil)))],
            refusal: refusal)
        try JSONEncoder().encode(result).write(to: folder.appending(path: "results/\(name)"))
    }

    private mutating func take(at seconds: Int) -> [ShardResult] {
        results.take(of: [1], at: Timestamp(.seconds(seconds))) { "/l/12_\($0).out" }
    }

    @Test func `results keep the names of their first version`() throws {
        let result = ShardResult(shard: id, attempt: "a", location: "element 12_3 on n2", ends: [], refusal: "no")
        let json =
            #"{"attempt":"a","ends":[],"place":"element 12_3 on n2","refusal":"no","shard":{"epoch":2,"number":1,"run":"r"}}"#
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(result), as: UTF8.self) == json)
        #expect(try JSONDecoder().decode(ShardResult.self, from: Data(json.utf8)) == result)
    }

    @Test mutating func `a result counts when the files that it names show, with all their bytes`() throws {
        try put(id)
        #expect(take(at: 0).isEmpty)
        try Data([1, 2]).write(to: picture)
        #expect(take(at: 4).isEmpty)
        try Data([1, 2, 3, 4]).write(to: picture)
        let taken = take(at: 4)
        #expect(taken.count == 1)
        guard case .done? = taken.first?.ends.first?.outcome else {
            Issue.record("the picture is there")
            return
        }
    }

    @Test mutating func `a file that never shows fails its task by name, with the element and its log`() throws {
        try put(id)
        #expect(take(at: 0).isEmpty)
        #expect(take(at: 4).isEmpty)
        let message =
            "\(picture.path): written by element 12_3 on n2, and does not show here whole after 5 s; raise 'grace' under "
            + "'slurm', or look after the shared file system; see /l/12_1.out"
        #expect(take(at: 5).map(\.ends) == [[TaskEnd(LeaseID(7), .failed(TaskFailure(.transient, message)))]])
    }

    @Test mutating func `what an element of other programs says that it wrote has to show, too`() throws {
        try put(id, refusal: "it has another version")
        let taken = take(at: 0)
        #expect(taken.map(\.refusal) == ["it has another version"])
        guard case .failed? = taken.first?.ends.first?.outcome else {
            Issue.record("the picture is not there")
            return
        }
    }

    @Test(arguments: [
        Shard.ID(run: "another", epoch: 2, number: 1), Shard.ID(run: "r", epoch: 1, number: 1),
        Shard.ID(run: "r", epoch: 2, number: 9),
    ]) mutating func `results of other runs, coordinators and shards are not taken`(other: Shard.ID) throws {
        try Data([1, 2, 3, 4]).write(to: picture)
        try put(other)
        #expect(take(at: 0).isEmpty)
        #expect(take(at: 60).isEmpty)
    }

    @Test mutating func `of an element that ran twice one result is taken`() throws {
        try Data([1, 2, 3, 4]).write(to: picture)
        try put(id, as: "1.2.a.json")
        try put(id, as: "1.2.b.json")
        #expect(take(at: 0).count == 1)
    }

    private static let long = String(repeating: "x", count: 16_001)

    private static let lies = [
        ShardResult(shard: Shard.ID(run: "r", epoch: 2, number: 1), attempt: "a", location: long, ends: []),
        ShardResult(shard: Shard.ID(run: "r", epoch: 2, number: 1), attempt: long, location: "n2", ends: []),
    ]

    @Test mutating func `a result with names that no element writes is not taken`() throws {
        for lie in Self.lies {
            try JSONEncoder().encode(lie).write(to: folder.appending(path: "results/1.2.a.json"))
            let taken = take(at: 0)
            #expect(taken.isEmpty)
        }
    }

    @Test mutating func `nor is one with more missing parts of a sandbox than it has`() throws {
        func rest(_ parts: Int) -> String {
            let missing = Array(repeating: "\"no\"", count: parts).joined(separator: ",")
            return #""ends":[],"sandbox":{"calls":true,"files":"any","missing":[\#(missing)]}"#
        }
        #expect(try take(rest(11)).isEmpty)
        let sandbox = try take(rest(2)).first?.sandbox
        #expect(sandbox == SandboxReport(limitsCalls: true, files: .any, missing: ["no", "no"]))
    }

    private mutating func take(_ rest: String) throws -> [ShardResult] {
        let json = #"{"attempt":"a","place":"n2","shard":{"epoch":2,"number":1,"run":"r"},\#(rest)}"#
        try Data(json.utf8).write(to: folder.appending(path: "results/1.2.a.json"))
        return take(at: 60)
    }

    @Test(arguments: [
        #""refusal":"TEXT","ends":[]"#,
        #""ends":[],"sandbox":{"calls":false,"files":"any","missing":["TEXT"]}"#,
        #""ends":[{"lease":{"number":7},"outcome":{"failed":{"_0":{"kind":{"data":{}},"message":"TEXT"}}}}]"#,
        #""ends":[{"lease":{"number":7},"outcome":{"died":{"_0":{"manner":{"killed":{}},"lastWords":"TEXT"},"inPlugins":[]}}}]"#,
        #""ends":[{"lease":{"number":7},"outcome":{"died":{"_0":{"manner":{"brokeProtocol":{"_0":"TEXT"}},"lastWords":""},"inPlugins":[]}}}]"#,
    ]) mutating func `nor is one with a sentence that no element writes`(rest: String) throws {
        #expect(try take(rest.replacing("TEXT", with: Self.long)).isEmpty)
        #expect(try take(rest.replacing("TEXT", with: "no")).count == 1)
    }

    @Test mutating func `nor is one of many levels`() throws {
        let levels = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(try take(#""ends":[],"more":\#(levels)"#).isEmpty)
        #expect(try take(#""ends":[],"more":[[[]]]"#).count == 1)
    }

    @Test func `a refusal that names too much is cut where it is made`() {
        let result = ShardResult(shard: id, attempt: "a", location: "n2", ends: [], refusal: Self.long)
        #expect(result.refusal?.utf8.count == 16_000)
    }
}
