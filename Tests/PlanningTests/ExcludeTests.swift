import Foundation
import JobModel
import Planning
import TestSupport
import Testing

/// What `exclude` leaves out.
@Suite struct ExcludeTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["a.jpg", "drafts/b.jpg", "drafts/x/c.jpg", "drafts.jpg", "drafts2/d.jpg"] {
            try folder.touch("photos/\(name)")
        }
    }

    private func plan(_ inputs: [String] = ["photos"], exclude: [String]) throws -> JobPlan {
        try JobPlan(
            .make(in: folder.path, inputs: inputs, exclude: exclude), catalog: .small, date: "2026-11-21",
            selection: JobPlan.Selection())
    }

    private func names(_ plan: JobPlan) -> [String] {
        plan.frames.map { String($0.input.path.dropFirst(folder.path.count + "/photos/".count)) }
    }

    @Test(arguments: [
        "photos/drafts", "photos/drafts/", "./photos/../photos/drafts", "**/drafts", "*/drafts/", "p*/draft[s]/",
        "photos/drafts/**",
    ])
    func `a folder is excluded with all that is below it`(entry: String) throws {
        for inputs in [["photos"], ["photos/**/*.jpg"], ["photos/*.jpg", "photos/drafts", "photos/drafts2/d.jpg"]] {
            let plan = try plan(inputs, exclude: [entry])
            #expect(names(plan) == ["a.jpg", "drafts.jpg", "drafts2/d.jpg"])
            #expect(plan.unmatchedExcludes == [])
        }
    }

    @Test(arguments: ["photos/drafts", "photos/drafts/", "photos/drafts/**", "**/drafts/**"])
    func `an excluded folder is not looked into`(entry: String) throws {
        let plan = try plan(
            ["photos/*.jpg", "photos/drafts/*.jpg"], exclude: [entry, "photos/drafts/b.*", "photos/e.*"])
        #expect(names(plan) == ["a.jpg", "drafts.jpg"])
        // How many files it holds is not known, and no reason for a hint.
        #expect(plan.matches == [PathKey(folder.file("photos/*.jpg")): 2])
        #expect(plan.unmatchedPatterns == [])
        #expect(plan.unmatchedExcludes == ["photos/e.*"])
    }

    @Test func `a file that is named in an excluded folder is excluded, too`() throws {
        try folder.touch("photos/drafts/.hidden.jpg")
        let named = ["photos/a.jpg", "photos/drafts/x/c.jpg", "photos/drafts/.hidden.jpg"]
        #expect(names(try plan(named, exclude: ["photos/drafts"])) == ["a.jpg"])
    }

    @Test func `a wildcard in the last name means files, unless a slash follows it`() throws {
        #expect(names(try plan(exclude: ["photos/*"])) == ["drafts/b.jpg", "drafts/x/c.jpg", "drafts2/d.jpg"])
        #expect(names(try plan(exclude: ["photos/*/"])) == ["a.jpg", "drafts.jpg"])
    }

    @Test func `listed files of an excluded folder are left out`() throws {
        let text = Array("photos/a.jpg\nphotos/drafts/b.jpg\n".utf8)
        let list = try FileList(text, name: "list", folder: folder.path)
        let job = JobSpec.make(in: folder.path, inputs: ["photos"], exclude: ["photos/drafts"])
        let plan = try JobPlan(
            job, list: list, catalog: .small, date: "2026-11-21", selection: JobPlan.Selection())
        #expect(names(plan) == ["a.jpg"])
    }

    @Test func `an excluded folder keeps the outputs in it from being inputs`() throws {
        #expect(throws: PlanError.self) { try plan(["**/*.{jpg,png}"], exclude: []).checkAll() }
        try plan(["**/*.{jpg,png}"], exclude: ["out"]).checkAll()
        try plan(["**/*.{jpg,png}"], exclude: ["out/"]).checkAll()
    }

    @Test func `entries that leave nothing out are told, but not those that are for outputs`() throws {
        let entries = ["photos/draft", "photos/*.png", "out", "out/**/*.png", "photos/drafts"]
        #expect(try plan(exclude: entries).unmatchedExcludes == ["photos/draft", "photos/*.png"])
    }

    @Test func `links that lead nowhere are told, but not those that are excluded`() throws {
        for name in ["gone.jpg", "gone.txt", "drafts/gone.jpg"] { try folder.link("photos/\(name)", to: "nowhere") }
        #expect(try plan(exclude: ["photos/drafts"]).danglingLinks == [folder.file("photos/gone.jpg")])
        #expect(try plan(["photos/g*", "photos"], exclude: ["photos/drafts"]).danglingLinks.count == 2)
        #expect(names(try plan(["photos/*"], exclude: [])) == ["a.jpg", "drafts.jpg"])
    }
}
