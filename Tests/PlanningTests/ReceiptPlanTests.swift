import Catalogs
import Foundation
import JobModel
import Planning
import TestSupport
import Testing

/// Receipts beside outputs are neither inputs nor in anybody's way.
@Suite struct ReceiptPlanTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func plan(_ inputs: [String], _ output: OutputTemplate = .byName) throws -> JobPlan {
        var job = JobSpec.make(in: folder.path, inputs: inputs, output: output)
        job.receipts = .sidecar
        return try JobPlan(job, catalog: .small, date: "2026-11-21", selection: JobPlan.Selection())
    }

    private func template(_ ending: String) -> OutputTemplate {
        OutputTemplate(source: "", pieces: [.literal("out/"), .field(.stem), .literal(ending)])
    }

    @Test(arguments: ["photos/*", "photos", "**/*", "photos/*.json", "photos/*.receipt.json"])
    func `wildcards and folders pass receipts by`(pattern: String) throws {
        for name in ["a.jpg", "a.jpg.receipt.json", "b.png.receipt.json"] { try folder.touch("photos/\(name)") }
        let inputs = try? plan([pattern, "photos/a.jpg"]).frames.map {
            PathText.shown($0.input.path, from: folder.path)
        }
        #expect(inputs == ["photos/a.jpg"])
    }

    @Test func `outputs beside the inputs are no trouble, whatever their receipts are called`() throws {
        try folder.touch("photos/a.jpg")
        let beside = OutputTemplate(
            source: "", pieces: [.literal("photos/"), .field(.stem), .literal("-b.png")])
        var job = JobSpec.make(in: folder.path, inputs: ["photos/*"], exclude: ["photos/*-b.png"], output: beside)
        job.receipts = .sidecar
        try JobPlan(job, catalog: .small, date: "2026-11-21", selection: JobPlan.Selection()).checkAll()
    }

    @Test func `a receipt that would overwrite an input is refused`() throws {
        try folder.touch("photos/a.jpg")
        try folder.touch("out/a.png.receipt.json")
        let plan = try plan(["photos/a.jpg", "out/a.png.receipt.json"], template(".png"))
        let input = folder.file("out/a.png.receipt.json")
        #expect(throws: PlanError.overwritesInput(output: input, input: input)) { try plan.checkAll() }
    }

    @Test func `an output that is named like another one's receipt is refused`() throws {
        for name in ["a.jpg", "a.receipt.json.jpg"] { try folder.touch("photos/\(name)") }
        let plan = try plan(["photos/*.jpg"], template(".dzi"))
        let problems = try plan.checkAll(below: folder.path)
        let input = "photos/a.receipt.json.jpg"
        #expect(problems.keys.map(\.path) == [input])
        #expect(
            problems[PathKey(input)]?.message(of: input) == """
                photos/a.receipt.json.jpg: the output \(folder.file("out/a.receipt.json")) is named like the receipt of another \
                output; give it another name, or leave out 'receipts: sidecar'
                """)
    }

    @Test func `a receipt's name must fit a file system, too`() throws {
        let stem = String(repeating: "x", count: 240)
        try folder.touch("photos/\(stem).jpg")
        let plan = try plan(["photos/*"], template(".png"))
        let long = folder.file("out/\(stem).png.receipt.json")
        #expect(throws: PlanError.nameTooLong(output: long, input: folder.file("photos/\(stem).jpg"))) {
            try plan.checkAll()
        }
    }
}
