import Coordination
import Foundation
import JobModel
import JobStorage
import TestSupport
import Testing

/// Inputs and outputs that are all gone since the last run.
extension LedgerTests {
    @Test func `an entry of inputs is lost when it matched files and matches none`() {
        let before = ["/a/*": 3, "/b/*": 0, "/c/*": 1, "/d/*": 2].map { (PathKey($0), $1) }
        let now = ["/a/*": 0, "/b/*": 0, "/c/*": 9].map { (PathKey($0), $1) }
        let lost = LostPlaces.inputs(Dictionary(before) { $1 }, Dictionary(now) { $1 })
        #expect(lost.map(\.pattern) == ["/a/*"] && lost.map(\.count) == [3])
        // A list takes the place of the patterns, and says nothing of them.
        #expect(LostPlaces.inputs(Dictionary(before) { $1 }, [:]).isEmpty)
    }

    private func lost(mountedAt mount: String) throws -> [LostPlaces.Outputs] {
        try LostPlaces.outputs(of: job(), state: state) { _ in mount }
    }

    private func publishOnDisk(mountedAt mount: String) throws {
        try publish(["out/a", "out/b"], for: job())
        var places = KnownPlaces()
        places.mounts[PathKey(place.file("out"))] = mount
        try ledger(of: job()).setPlaces(places)
    }

    @Test func `outputs are lost when their index and all of them are gone, and their folder or disk is not`() throws {
        #expect(try lost(mountedAt: "/").isEmpty)
        try publishOnDisk(mountedAt: place.path)
        let folder = place.file("out")
        #expect(try lost(mountedAt: "/").isEmpty, "they are there, wherever the disk is mounted")
        try FileManager.default.removeItem(atPath: index)
        #expect(try lost(mountedAt: "/").isEmpty)
        for name in ["a", "b"] { try FileManager.default.removeItem(atPath: place.file("out/\(name)")) }
        #expect(
            try lost(mountedAt: place.path) == [LostPlaces.Outputs(folder: folder, count: 2, mount: nil)])
        #expect(
            try lost(mountedAt: "/") == [LostPlaces.Outputs(folder: folder, count: 2, mount: place.path)])
        try FileManager.default.removeItem(atPath: folder)
        #expect(try lost(mountedAt: "/") == [LostPlaces.Outputs(folder: folder, count: 2, mount: place.path)])
        #expect(try lost(mountedAt: place.path).isEmpty, "a folder that was removed is made again")
        #expect(try lost(mountedAt: folder).isEmpty, "what is mounted in between is no loss")
    }
}

/// Outputs that other jobs published.
extension LedgerTests {
    private func former(_ contents: LedgerContents) throws -> [FormerOutput] {
        Array(try #require(contents.formers).outputs(at: [place.file("out/a")]).values)
    }

    private func job(at manifest: String) -> JobSpec {
        JobSpec(
            name: "nightly", manifestPath: place.file(manifest), folder: place.path, inputs: [], exclude: [], chain: [],
            outputs: [JobOutput(template: .stem())])
    }

    @Test(arguments: ["database", "index", "both"])
    func `the publisher of an output is known by the database or the index`(known: String) throws {
        let old = job(at: "old.yaml")
        let record = try publish(["out/a"], for: old)[0]
        if known == "database" { try FileManager.default.removeItem(atPath: index) }
        if known == "index" { try FileManager.default.removeItem(atPath: state) }
        #expect(try former(look(old)) == [], "a job is not its own former one")
        let found = try #require(former(look(job(at: "new.yaml"))).first)
        #expect(found.job == "nightly" && found.manifest == old.manifestPath && found.origin == .gone)
        #expect(found.record.path == record.path && found.record.source == record.source)
        #expect(found.record.file == record.file && found.recipe == Recipe.make([.gaussian(12)]).text)
        try write("job: nightly", to: old.manifestPath)
        #expect(try former(look(job(at: "new.yaml"))).first?.origin == .there)
        #expect(try former(look(job("other"))).isEmpty == false)
    }
}
