import Coordination
import Foundation
import JobModel
import JobStorage
import TestSupport
import Testing

/// Inputs and outputs that have all disappeared since the last run.
extension LedgerTests {
    @Test func `an entry of inputs is lost when it matched files and matches none`() {
        let before = ["/a/*": 3, "/b/*": 0, "/c/*": 1, "/d/*": 2].map { (PathKey($0), $1) }
        let now = ["/a/*": 0, "/b/*": 0, "/c/*": 9].map { (PathKey($0), $1) }
        let lost = MissingDisks.inputs(Dictionary(before) { $1 }, Dictionary(now) { $1 })
        #expect(lost.map(\.pattern) == ["/a/*"] && lost.map(\.count) == [3])
        // A list replaces the patterns and says nothing about them.
        #expect(MissingDisks.inputs(Dictionary(before) { $1 }, [:]).isEmpty)
    }

    private typealias Mount = KnownDisks.Mount

    private var out: String { place.file("out") }

    /// Publishes two outputs in a folder that has a disk of its own.
    private func publishOnDisk(_ mount: Mount) throws {
        try publish(["out/a", "out/b"], for: job())
        try ledger(of: job()).setKnownDisks(KnownDisks(mounts: [PathKey("/"): Mount(path: "/"), PathKey(out): mount]))
    }

    private func removeOutputs() throws {
        for name in ["a", "b"] { try FileManager.default.removeItem(atPath: place.file("out/\(name)")) }
    }

    private func lost(_ now: Mount, there: Set<PathKey>? = nil) throws -> [MissingDisks.Outputs] {
        try MissingDisks.outputs(of: job(), state: state, existing: there) { _ in now }
    }

    private func lost(_ cause: MissingDisks.Cause) -> [MissingDisks.Outputs] {
        [MissingDisks.Outputs(cause, count: 2, folder: out)]
    }

    @Test func `outputs are lost when none is what was published, and their disk is mounted no more, index or not`()
        throws
    {
        #expect(try lost(Mount(path: "/")).isEmpty, "nothing was published")
        try publishOnDisk(Mount(path: out))
        #expect(try lost(Mount(path: "/")).isEmpty, "they are there, wherever the disk is mounted")
        try removeOutputs()
        let gone = lost(.notMounted(out))
        #expect(try lost(Mount(path: "/")) == gone, "an index below the mount point tells nothing")
        #expect(MissingDisks.outputsOfDisks(of: job(), state: state) { _ in Mount(path: "/") } == gone)
        try FileManager.default.removeItem(atPath: index)
        #expect(try lost(Mount(path: "/")) == gone)
        try FileManager.default.removeItem(atPath: out)
        #expect(try lost(Mount(path: "/")) == gone)
        #expect(try lost(Mount(path: "\(out)/x")).isEmpty, "what is mounted in between is no loss")
    }

    @Test func `only a published output proves that its disk is present`() throws {
        try publishOnDisk(Mount(path: out, disk: "1"))
        try FileManager.default.moveItem(atPath: "\(out)/a", toPath: place.file("a"))
        for name in ["a", "b"] { try write("of another night", to: "\(out)/\(name)") }
        #expect(try lost(Mount(path: "/")) == lost(.notMounted(out)))
        #expect(try lost(Mount(path: out, disk: "2")) == lost(.otherDisk(out)))
        #expect(try lost(Mount(path: out)).isEmpty, "nothing is known of a disk without a mark")
        try FileManager.default.removeItem(atPath: "\(out)/a")
        try FileManager.default.moveItem(atPath: place.file("a"), toPath: "\(out)/a")
        #expect(try lost(Mount(path: out, disk: "2")).isEmpty)
    }

    @Test func `an empty disk in place of another one has lost the outputs`() throws {
        let disk = place.file("disk")
        try publish(["out/a", "out/b"], for: job())
        try ledger(of: job()).setKnownDisks(KnownDisks(mounts: [PathKey(out): Mount(path: disk)]))
        try removeOutputs()
        try FileManager.default.createDirectory(atPath: "\(disk)/lost+found", withIntermediateDirectories: true)
        #expect(try lost(Mount(path: disk)) == lost(.emptyDisk(disk)))
        try write("mine", to: "\(disk)/mine")
        #expect(try lost(Mount(path: disk)).isEmpty)
    }

    @Test func `on a disk that is mounted, outputs are lost with their index alone, and not with their folder`() throws
    {
        let here = Mount(path: "/")
        try publishOnDisk(here)
        try removeOutputs()
        #expect(try lost(here).isEmpty, "beside their index they were removed")
        try FileManager.default.removeItem(atPath: index)
        #expect(try lost(here) == lost(.emptyFolder(out)))
        #expect(try lost(here, there: []).isEmpty, "the run has just made the folder")
        try FileManager.default.removeItem(atPath: out)
        #expect(try lost(here).isEmpty, "a folder that was removed is made again")
    }

    @Test func `without a known disk an index does not prove that outputs were removed`() throws {
        try publish(["out/a", "out/b"], for: job())
        #expect(try lost(Mount(path: "/")).isEmpty)
        try removeOutputs()
        #expect(try lost(Mount(path: "/")) == lost(.emptyFolder(out)))
        #expect(MissingDisks.outputsOfDisks(of: job(), state: state) { _ in Mount(path: "/") }.isEmpty)
    }

    // MARK: Pictures

    /// A record of a picture that is gone or was found now.
    private func made(of picture: String) -> OutputRecord {
        OutputRecord.make(place.file("out/\(picture)"), input: place.file(picture))
    }

    /// The causes of losses, with the lost pictures, where some of the last run's pictures are found now.
    private func lostPictures(
        _ pictures: [String], found: [String] = [], before: [String: Mount], now: [String: Mount] = [:]
    ) -> [MissingDisks.Cause: [String]] {
        let known = KnownDisks(
            mounts: Dictionary(before.map { (PathKey($0 == "/" ? "/" : place.file($0)), $1) }) { $1 })
        let mounts = Dictionary(now.map { (PathKey(place.file($0)), $1) }) { $1 }
        let lost = MissingDisks.pictures(
            pictures.map(made), inputs: Set(found.map { PathKey(place.file($0)) }), before: known
        ) { mounts[PathKey($0)] ?? Mount(path: "/") }
        return Dictionary(
            lost.map { lost in (lost.cause, lost.records.map { String($0.input.dropFirst(place.path.count + 1)) }) }
        ) { $0 + $1 }
    }

    @Test func `pictures that are gone with their disk are lost, and those that are gone from it were removed`() throws
    {
        let usb = Mount(path: place.file("in/usb"))
        let before = ["/": Mount(path: "/"), "in/usb": usb]
        let pictures = ["in/a.png", "in/b.png", "in/usb/c.png", "in/usb/x/d.png"]
        #expect(
            lostPictures(pictures, found: ["in/a.png"], before: before)
                == [.notMounted(usb.path): ["in/usb/c.png", "in/usb/x/d.png"]], "b was removed")
        #expect(lostPictures(pictures, found: ["in/a.png"], before: before, now: ["in/usb": usb]).isEmpty)
        #expect(
            lostPictures(pictures, found: ["in/usb/c.png"], before: before)
                == [.notMounted(usb.path): ["in/usb/x/d.png"]], "c may lie below the mount point")
        let marked = ["in/usb": Mount(path: usb.path, disk: "1")]
        #expect(
            lostPictures(
                pictures, found: ["in/usb/c.png"], before: marked, now: ["in/usb": Mount(path: "/", disk: "1")]
            ).isEmpty, "the same disk is there, seen from another place")
        try FileManager.default.createDirectory(atPath: usb.path, withIntermediateDirectories: true)
        try write("still here", to: place.file("in/usb/c.png"))
        #expect(
            lostPictures(pictures, before: before) == [.notMounted(usb.path): ["in/usb/x/d.png"]],
            "a picture that is there, and no input any more, is not gone")
    }

    @Test func `older pictures of the same names, below a mount point, are not those of the disk`() throws {
        let usb = Mount(path: place.file("in/usb"))
        try FileManager.default.createDirectory(atPath: usb.path, withIntermediateDirectories: true)
        try write("older", to: place.file("in/usb/c.png"))
        let pictures = ["in/usb/c.png"]
        #expect(
            lostPictures(pictures, found: pictures, before: ["in/usb": usb]) == [.notMounted(usb.path): pictures])
        // A disk that was replaced on purpose may have the same names.
        let card = Mount(path: usb.path, disk: "2")
        #expect(
            lostPictures(
                pictures, found: pictures, before: ["in/usb": Mount(path: usb.path, disk: "1")], now: ["in/usb": card]
            ).isEmpty)
    }

    @Test func `pictures are lost on another disk and on an empty one`() throws {
        let usb = place.file("in/usb")
        let before = ["in/usb": Mount(path: usb, disk: "1")]
        let pictures = ["in/usb/c.png", "in/usb/README.png"]
        #expect(
            lostPictures(
                pictures, found: ["in/usb/README.png"], before: before, now: ["in/usb": Mount(path: usb, disk: "2")])
                == [.otherDisk(usb): ["in/usb/c.png"]])
        try FileManager.default.createDirectory(atPath: usb, withIntermediateDirectories: true)
        #expect(
            lostPictures(pictures, before: before, now: ["in/usb": Mount(path: usb, disk: "1")])
                == [.emptyDisk(usb): pictures])
        try write("mine", to: "\(usb)/mine")
        #expect(lostPictures(pictures, before: before, now: ["in/usb": Mount(path: usb, disk: "1")]).isEmpty)
    }

    @Test func `without a known disk an empty folder has lost its pictures`() throws {
        let pictures = ["in/a/1.png", "in/a/2.png", "in/b/3.png"]
        #expect(lostPictures(pictures, before: [:]).isEmpty, "the folders were removed")
        try FileManager.default.createDirectory(atPath: place.file("in/a"), withIntermediateDirectories: true)
        #expect(
            lostPictures(pictures, before: [:])
                == [.emptyFolder(place.file("in/a")): ["in/a/1.png", "in/a/2.png"]])
        #expect(lostPictures(pictures, before: ["/": Mount(path: "/")]).isEmpty, "they were removed from this disk")
    }

    @Test func `a folder that inputs name and that is gone has lost its pictures, and one of its pictures was removed`()
        throws
    {
        let pictures = ["in/a/1.png", "in/a/x/2.png", "in/b/3.png", "in/c.png", "in/usb/4.png"]
        let usb = Mount(path: place.file("in/usb"))
        let known = KnownDisks(
            mounts: [PathKey("/"): Mount(path: "/"), PathKey(place.file("in/usb")): usb])
        let lost = MissingDisks.pictures(
            pictures.map(made), inputs: [], before: known,
            missing: ["in/a/x", "in/a", "in/c.png", "in/usb"].map(place.file)
        ) { _ in Mount(path: "/") }
        #expect(lost.map(\.cause) == [.notMounted(usb.path), .missing(folder: place.file("in/a"), link: nil)])
        #expect(
            lost.map { $0.records.map(\.input) } == [
                [place.file("in/usb/4.png")], ["in/a/1.png", "in/a/x/2.png"].map(place.file),
            ])
    }

    @Test func `the empty mount point of a folder that was missing has lost its pictures, too`() throws {
        let records = ["in/a/1.png", "in/a/x/2.png"].map(made)
        func lost(_ before: KnownDisks, missing: [String]) -> [MissingDisks.Pictures] {
            MissingDisks.pictures(records, inputs: [], before: before, missing: missing) { _ in Mount(path: "/") }
        }
        let first = lost(KnownDisks(mounts: [PathKey("/"): Mount(path: "/")]), missing: [place.file("in/a")])
        var found = MissingDisks.Findings()
        found.entries = [PathKey(place.file("in/a"))]
        found.outputs = records.map(\.path)
        found.lost = first
        let known = MissingDisks.known(found, job: job(), before: KnownDisks()) { _ in Mount(path: "/") }
        #expect(first.map(\.count) == [2])
        #expect(lost(known, missing: [place.file("in/a")]) == first)
        try FileManager.default.createDirectory(atPath: place.file("in/a"), withIntermediateDirectories: true)
        #expect(lost(known, missing: []).map(\.cause) == [.emptyFolder(place.file("in/a"))])
        try write("another picture", to: place.file("in/a/new.png"))
        #expect(lost(known, missing: []) == [])
    }

    // MARK: What a run records for the next one

    @Test func `a run of a part keeps what matched before, and guards entries that matched nothing so far`() {
        let before = known([], matches: ["/in/*": 20, "/more/*": 0], isEmptyRight: true)
        let after = known([], matches: ["/in/*": 10, "/more/*": 2, "/new/*": 3], isPart: true, before: before)
        #expect(after.inputs == [PathKey("/in/*"): 20, PathKey("/more/*"): 2, PathKey("/new/*"): 3])
        #expect(known([], matches: ["/in/*": 10], before: before).inputs == [PathKey("/in/*"): 10])
    }

    private func known(
        _ inputs: [String], matches: [String: Int?]? = ["/in/*": 1], lost: [MissingDisks.Pictures] = [],
        isEmptyRight: Bool = false, isPart: Bool = false, before: KnownDisks = KnownDisks(), mounts: [String] = []
    ) -> KnownDisks {
        var found = MissingDisks.Findings()
        found.entries = matches.map { Set($0.keys.map { PathKey($0) }) }
        found.matches = Dictionary((matches ?? [:]).compactMap { key, count in count.map { (PathKey(key), $0) } }) {
            $1
        }
        found.inputs = inputs
        found.outputs = [place.file("out/x/a")]
        found.lost = lost
        (found.isEmptyRight, found.isPart) = (isEmptyRight, isPart)
        return MissingDisks.known(found, job: job(), before: before) { folder in
            let mount = mounts.filter { folder == $0 || folder.hasPrefix("\($0)/") }.max { $0.count < $1.count }
            return Mount(path: mount ?? "/")
        }
    }

    private func places(_ mounts: [String]) -> [PathKey: Mount] {
        Dictionary(mounts.map { (PathKey($0), Mount(path: $0)) }) { $1 }
    }

    @Test func `each disk is known by its highest folder on the way to inputs and outputs`() {
        #expect(known(["/in/a/1.png", "/in/b/2.png"]).mounts == places(["/"]))
        #expect(
            known(["/in/a/1.png", "/in/usb/x/2.png", "/in/usb/y/3.png"], mounts: ["/in/usb"]).mounts
                == places(["/", "/in/usb"]))
        // A disk that is mounted where the last run had none.
        let before = KnownDisks(mounts: places(["/", "/old"]))
        #expect(known(["/in/a/1.png"], before: before, mounts: ["/in"]).mounts == places(["/", "/in"]))
    }

    @Test func `a lost disk stays listed with the entries that match nothing`() {
        let before = KnownDisks(inputs: [PathKey("/in/usb/*"): 3], mounts: places(["/", "/in/usb"]))
        let lost = MissingDisks.Pictures(.notMounted("/in/usb"), records: [], disk: PathKey("/in/usb"))
        let now = ["/in/*": 1, "/in/usb/*": 0]
        let later = known(["/in/1.png", "/in/usb/NOT_MOUNTED.png"], matches: now, lost: [lost], before: before)
        #expect(later.mounts == before.mounts)
        #expect(later.inputs == [PathKey("/in/*"): 1, PathKey("/in/usb/*"): 3])
        let right = known(["/in/1.png"], matches: now, isEmptyRight: true, before: before)
        #expect(right.mounts == places(["/"]))
        #expect(right.inputs == [PathKey("/in/*"): 1, PathKey("/in/usb/*"): 0])
    }

    @Test func `a list says nothing about patterns, and about disks that it does not reach`() {
        let before = KnownDisks(inputs: [PathKey("/in/usb/*"): 3], mounts: places(["/", "/in/usb"]))
        #expect(known(["/in/1.png"], matches: nil, before: before) == before)
        #expect(known(["/in/1.png"], matches: nil).mounts == places(["/"]))
    }

    @Test func `an entry whose folder cannot be read keeps its count`() {
        let before = KnownDisks(inputs: [PathKey("/in/shut/*"): 500, PathKey("/in/old/*"): 7])
        let now = known(["/in/1.png"], matches: ["/in/*": 1, "/in/shut/*": nil], before: before)
        #expect(now.inputs == [PathKey("/in/*"): 1, PathKey("/in/shut/*"): 500])
    }

    @Test func `a folder of an unknown disk stays suspicious until it has a file`() throws {
        let folder = place.file("in/a")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var known = KnownDisks()
        func lost() -> [MissingDisks.Pictures] {
            MissingDisks.pictures(["in/a/1.png", "in/a/2.png"].map(made), inputs: [], before: known) { _ in
                Mount(path: "/")
            }
        }
        #expect(lost().map(\.cause) == [.emptyFolder(folder)])
        for _ in 1...2 {
            known = self.known(["/in/1.png"], lost: lost(), before: known)
            #expect(lost().map(\.cause) == [.emptyFolder(folder)])
        }
        // The folder has a picture again, though another one.
        try write("new", to: "\(folder)/9.png")
        #expect(lost().isEmpty)
        #expect(self.known(["\(folder)/9.png"], lost: lost(), before: known).mounts == places(["/"]))
    }

    @Test func `an existing or missing path has the disk that is mounted nearest above it`() {
        let mount = MountLookup.make()
        #expect(mount("/").path == "/")
        for path in ["/proc", "/proc/self", "/proc/self/nothing/here"] { #expect(mount(path).path == "/proc") }
        #expect(mount("/proc").disk == nil, "it has no mark that lasts")
        #expect(mount(place.file("nothing/here")) == mount(place.path))
    }

    @Test func `a link has the disk that it leads to, and that of its folder once it leads nowhere`() throws {
        try FileManager.default.createSymbolicLink(atPath: place.file("link"), withDestinationPath: "/proc/self")
        #expect(MountLookup.make()(place.file("link/x")).path == "/proc")
        try FileManager.default.removeItem(atPath: place.file("link"))
        try FileManager.default.createSymbolicLink(atPath: place.file("link"), withDestinationPath: "nowhere/x")
        #expect(MountLookup.make()(place.file("link/x")) == MountLookup.make()(place.path))
    }
}

/// Outputs that other jobs published.
extension LedgerTests {
    /// - Parameter jobName: the name of the job in the manifest, whatever the file holds.
    private func former(
        _ contents: LedgerContents, at name: String = "out/a", jobName: String? = nil
    ) throws -> [PriorOutput] {
        let path = place.file(name)
        let key = RecipeTable(catalog: .make(), texts: [:]).key(of: .make())
        let output = FrameFiles.Output(path: path, stamp: stamp(at: path), recipe: key)
        return Array(try #require(contents.priorLookup).outputs([output]) { _, _ in jobName }.values)
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
        #expect(try former(look(job(at: "new.yaml"))).first?.origin == .owned)
        #expect(try former(look(job(at: "new.yaml")), jobName: "nightly").first?.origin == .owned)
        #expect(try former(look(job(at: "new.yaml")), jobName: "weekly").first?.origin == .gone)
        #expect(try former(look(job("other"))).isEmpty == false)
    }

    @Test func `an output that was moved without its index is recognised by its stamp`() throws {
        let job = job(at: "old.yaml")
        try publish(["out/a"], for: job)
        try write("job: nightly", to: job.manifestPath)
        try FileManager.default.moveItem(atPath: place.file("out/a"), toPath: place.file("b"))
        let own = try #require(former(look(job), at: "b").first)
        #expect(own.origin == .moved && own.publishedPath == place.file("out/a") && own.record.path == place.file("b"))
        #expect(try former(look(self.job(at: "new.yaml")), at: "b").first?.origin == .elsewhere)
        try write("others", to: place.file("c"))
        #expect(try former(look(job), at: "c") == [])
    }
}
