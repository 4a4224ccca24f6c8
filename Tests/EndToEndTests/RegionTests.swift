import Foundation
import Testing

/// Parts of pictures that are made unreadable: several regions, and regions from files.
struct RegionTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        // a.png has 160 × 120 pixels.
        try workspace.drawOldPhotos()
    }

    private func penumbra(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace)
    }

    private func writeJob(
        _ within: String, inputs: String = "photos/*", to name: String = "job.yaml", output: String = "out/{stem}.png"
    ) throws {
        try workspace.writeManifest(
            name, inputs: inputs, filters: "\n  - pixelate:\n      size: 7\n      within: \(within)", output: output,
            more: "existing: update")
    }

    @Test func `a list of regions gives each picture its own, and only what changed is rendered again`() async throws {
        try workspace.write(
            #"{"a.png": [[10, 10, 20, 15], [40, 5, 10, 10]], "b.png": [[1, 2, 30, 30]], "c.jpg": []}"#, to: "faces.json"
        )
        try writeJob("{from: faces.json}")
        let run = try await penumbra("run", "job.yaml")
        #expect(run.code == 0, "\(run.errors)")

        try writeJob(
            "[{x: 10, y: 10, width: 20, height: 15}, {x: 40, y: 5, width: 10, height: 10}]", inputs: "photos/a.png",
            to: "one.yaml", output: "one/{stem}.png")
        #expect(try await penumbra("run", "one.yaml").code == 0)
        #expect(try workspace.read("out/a.png") == workspace.read("one/a.png"))
        try workspace.writeManifest(
            "same.yaml", inputs: "photos/c.jpg", filters: "[{gaussian: {radius: 0}}]", output: "same/{stem}.png")
        #expect(try await penumbra("run", "same.yaml").code == 0)
        #expect(try workspace.read("out/c.png") == workspace.read("same/c.png"))

        try workspace.write(
            #"{"a.png": [[10, 10, 20, 15], [40, 5, 10, 10]], "b.png": [[1, 2, 30, 31]], "c.jpg": []}"#, to: "faces.json"
        )
        let plan = try await penumbra("plan", "job.yaml")
        #expect(plan.output.hasPrefix("test: 3 frames, 1 to render"), "\(plan.output)")
        #expect(plan.output.contains("}] → [{x: 1, y: 2, width: 30, height: 31"), "\(plan.output)")
        #expect(try await penumbra("run", "job.yaml").output.hasPrefix("test: 1 published, 2 skipped"))
    }

    @Test func `a picture that a list forgets fails alone, unless it is said to have no regions`() async throws {
        try workspace.write(#"{"a.png": [[1, 2, 3, 4]], "x/c.jpg": []}"#, to: "faces.json")
        try writeJob("{from: faces.json}")
        let result = try await penumbra("run", "job.yaml")
        #expect(result.code == 1)
        #expect(
            result.errors == """
                2 frames failed: value wrong for this picture
                  photos/b.png: faces.json does not list it; add it, with an empty list if nothing is to be changed, or write 'unlisted: none'
                  photos/c.jpg: faces.json does not list it, but 'x/c.jpg'; add it, with an empty list if nothing is to be changed, or write 'unlisted: none'

                """)
        #expect(workspace.files(below: "out").filter { $0.hasSuffix("png") } == ["a.png"])
        try writeJob("{from: faces.json, unlisted: none}")
        #expect(try await penumbra("run", "job.yaml").code == 0)
        #expect(workspace.exists("out/c.png"))
    }

    @Test func `COCO boxes are those of a picture of the same shape`() async throws {
        func coco(_ width: Int, _ height: Int) -> String {
            """
            {"images": [{"id": 1, "file_name": "a.png", "width": \(width), "height": \(height)}],
             "annotations": [{"image_id": 1, "category_id": 1, "bbox": [20, 20, 40, 30]}],
             "categories": [{"id": 1, "name": "face"}]}
            """
        }
        try workspace.write(coco(320, 240), to: "faces.json")
        try writeJob("{from: faces.json, categories: [face]}", inputs: "photos/a.png")
        #expect(try await penumbra("run", "job.yaml").code == 0)
        try writeJob(
            "{x: 10, y: 10, width: 20, height: 15}", inputs: "photos/a.png", to: "one.yaml", output: "one/{stem}.png")
        #expect(try await penumbra("run", "one.yaml").code == 0)
        #expect(try workspace.read("out/a.png") == workspace.read("one/a.png"))

        try workspace.write(coco(120, 160), to: "faces.json")
        let result = try await penumbra("run", "job.yaml")
        #expect(result.code == 1)
        #expect(
            result.errors.contains(
                "photos/a.png: the regions of 'pixelate' are of a picture of 120 × 160 pixels, and this one has 160 × 120 pixels; find its regions again\n"
            ))
    }

    private func coco(_ segmentation: String) -> String {
        """
        {"images": [{"id": 1, "file_name": "a.png", "width": 320, "height": 240}],
         "annotations": [{"image_id": 1, "bbox": [20, 20, 100, 80], "segmentation": \(segmentation)}]}
        """
    }

    @Test func `outlines of COCO take the place of boxes if a job asks for them`() async throws {
        // The picture of the file is twice as large.
        try workspace.write(coco("[[20, 20, 60, 20, 60, 50, 20, 50]]"), to: "faces.json")
        try writeJob("{from: faces.json}", inputs: "photos/a.png")
        #expect(try await penumbra("run", "job.yaml").code == 0)
        let boxes = try workspace.read("out/a.png")
        try writeJob("{from: faces.json, shape: outline}", inputs: "photos/a.png")
        let outlined = try await penumbra("run", "job.yaml")
        #expect(outlined.output.hasPrefix("test: 1 published"), "\(outlined.output)\(outlined.errors)")
        #expect(try workspace.read("out/a.png") != boxes)
        try writeJob(
            "{x: 10, y: 10, width: 20, height: 15}", inputs: "photos/a.png", to: "one.yaml", output: "one/{stem}.png")
        #expect(try await penumbra("run", "one.yaml").code == 0)
        #expect(try workspace.read("out/a.png") == workspace.read("one/a.png"))
        // The same pixels as a mask: 20 columns of 240 pixels, then 40 with 30 pixels each.
        let counts = ["4820"] + Array(repeating: "30, 210", count: 39) + ["30", "62590"]
        try workspace.write(
            coco(#"{"size": [240, 320], "counts": [\#(counts.joined(separator: ", "))]}"#), to: "faces.json")
        #expect(try await penumbra("run", "job.yaml", "--force").code == 0)
        #expect(try workspace.read("out/a.png") == workspace.read("one/a.png"))

        try workspace.write(coco("[[20, 20, 60, 20, 60, 52, 20, 50]]"), to: "faces.json")
        let plan = try await penumbra("plan", "job.yaml")
        #expect(plan.output.contains("1 to render"), "\(plan.output)")
        #expect(plan.output.contains("within has other regions"), "\(plan.output)")
    }

    @Test func `outlines give the same bytes in tiles, with a feather and grown`() async throws {
        try workspace.draw("photos/a.png", width: 640, height: 480)
        try workspace.write(coco("[[20, 20, 300, 40.5, 160, 230], [10, 200, 90, 210, 30, 235.5]]"), to: "faces.json")
        func write(_ more: String) throws {
            try workspace.writeManifest(
                inputs: "photos/a.png",
                filters: "[{gaussian: {radius: 9, within: {from: faces.json, shape: outline, grow: 5%}, feather: 3}}]",
                output: "out/{stem}.png", more: more)
        }
        try write("shard: frame")
        let whole = try await penumbra("run", "job.yaml", "--workers", "1")
        #expect(whole.code == 0, "\(whole.errors)")
        let bytes = try workspace.contents(below: "out")
        try write("shard: tile\ntile: 90\nverify: audit")
        #expect(try await penumbra("run", "job.yaml", "--force", "--workers", "2").code == 0)
        #expect(try workspace.contents(below: "out") == bytes)
    }

    @Test func `a wrong outline fails its picture by name`() async throws {
        try workspace.write(coco(#"{"size": [240, 320], "counts": [1, 2]}"#), to: "faces.json")
        try writeJob("{from: faces.json, shape: outline}", inputs: "photos/a.png")
        let result = try await penumbra("run", "job.yaml")
        #expect(result.code == 1)
        #expect(
            result.errors.contains(
                "photos/a.png: faces.json has a mask in annotation 1 of this picture that has 'counts' that do not fill its 'size'; "
                    + "correct it\n"), "\(result.errors)")
    }

    @Test func `each picture may have a file of its own`() async throws {
        try workspace.write("[[10, 10, 20, 15]]", to: "faces/a.json")
        try workspace.write("[[", to: "faces/b.json")
        try writeJob("{from: 'faces/{stem}.json'}")
        let result = try await penumbra("run", "job.yaml")
        #expect(result.code == 1)
        #expect(
            result.errors == """
                2 frames failed: value wrong for this picture
                  photos/b.png: faces/b.json cannot be used: it ends in the middle; export it again
                  photos/c.jpg: its regions are missing: there is no faces/c.json; add it, with an empty list if nothing is to be changed, or write 'unlisted: none'

                """)
        #expect(workspace.exists("out/a.png"))
        mkfifo("\(workspace.path)/faces/c.json", 0o600)
        #expect(
            try await penumbra("run", "job.yaml").errors.contains(
                "photos/c.jpg: faces/c.json cannot be read: it is no file; name files that this user may read\n"))
    }

    @Test(arguments: [
        (
            "{",
            "faces.json: the file with regions cannot be used: it ends in the middle\n   = export it again\n"
        ),
        (
            "[[1, 2, 3, 4]]",
            "faces.json: the file with regions cannot be used: it names no pictures\n   = write {\"photo.jpg\": […]}, or one file "
                + "for each picture by a name with {stem}\n"
        ),
    ])
    func `65: a file that cannot be used stops the job before it begins`(text: String, words: String) async throws {
        try workspace.write(text, to: "faces.json")
        try writeJob("{from: faces.json}")
        let result = try await penumbra("run", "job.yaml")
        #expect(result.code == 65)
        #expect(result.errors == words)
        #expect(!workspace.exists("out"))
    }

    @Test func `a preview shows the regions of its picture`() async throws {
        try workspace.write(#"{"a.png": [[10, 10, 20, 15]]}"#, to: "faces.json")
        try writeJob("{from: faces.json}")
        #expect(try await penumbra("preview", "job.yaml", "photos/a.png", "-o", "p.png").code == 0)
        let result = try await penumbra("preview", "job.yaml", "photos/b.png", "-o", "q.png")
        #expect(result.code == 1)
        #expect(
            result.errors.hasSuffix(
                "photos/b.png: faces.json does not list it; add it, with an empty list if nothing is to be "
                    + "changed, or write 'unlisted: none'\n"))
        #expect(!workspace.exists("q.png"))
    }

    @Test func `tiles, streams and every number of workers give the same bytes`() async throws {
        try workspace.draw("photos/d.png", width: 700, height: 500)
        try workspace.draw("mask.png", width: 90, height: 60)
        func write(_ more: String) throws {
            try workspace.writeManifest(
                inputs: "photos/*",
                filters: """

                      - gaussian:
                          radius: 9
                          within:
                            - {x: 10%, y: 10%, width: 30%, height: 30%}
                            - {x: 60%, y: 50%, width: 30%, height: 40%, corner_radius: 50%}
                          feather: 3
                          inverted: true
                      - invert: {mask: mask.png, feather: 2}
                    """,
                output: "out/{stem}.png", more: more)
        }
        try write("shard: frame")
        let whole = try await penumbra("run", "job.yaml", "--workers", "1")
        #expect(whole.code == 0, "\(whole.errors)")
        let bytes = try workspace.contents(below: "out")
        try write("shard: tile\ntile: 90\nverify: audit")
        #expect(try await penumbra("run", "job.yaml", "--force", "--workers", "2").code == 0)
        #expect(try workspace.contents(below: "out") == bytes)
    }

    @Test func `two pictures do not share the file of one`() async throws {
        try workspace.copy("photos/a.png", to: "photos/x/a.png")
        try workspace.write("[[10, 10, 20, 15]]", to: "faces/a.json")
        try writeJob("{from: 'faces/{stem}.json'}", inputs: "photos/**/a.png", output: "out/{dir}/{stem}.png")
        let result = try await penumbra("run", "job.yaml")
        #expect(result.code == 1)
        #expect(
            result.errors.contains(
                "photos/x/a.png: faces/a.json may belong to this picture or to \(workspace.path)/photos/a.png; add {dir} or {ext} to "
                    + "the name of the files\n"))
        #expect(workspace.files(below: "out").filter { $0.hasSuffix("png") }.isEmpty)
        try workspace.write("[]", to: "faces/x/a.json")
        try writeJob("{from: 'faces/{dir}/{stem}.json'}", inputs: "photos/**/a.png", output: "out/{dir}/{stem}.png")
        #expect(try await penumbra("run", "job.yaml").code == 0)
    }

    @Test func `misspelt names are told where pictures may be unlisted`() async throws {
        try workspace.write(#"{"a.png": [], "bb.png": [[1, 2, 3, 4]]}"#, to: "faces.json")
        try writeJob("{from: faces.json, unlisted: none}")
        let plan = try await penumbra("plan", "job.yaml")
        #expect(plan.errors == "job.yaml: warning: faces.json lists 1 picture that the job does not have: 'bb.png'\n")
        try workspace.write(#"{"aa.png": [], "bb.png": [[1, 2, 3, 4]]}"#, to: "faces.json")
        let run = try await penumbra("run", "job.yaml")
        #expect(run.code == 65)
        #expect(
            run.errors
                == "faces.json: the file with regions cannot be used: it lists no picture of the job, but 'aa.png', 'bb.png'\n"
                + "   = write names that are the ends of the pictures' paths\n")
        try writeJob("{from: 'facse/{stem}.json', unlisted: none}")
        let folder = try await penumbra("check", "job.yaml")
        #expect(folder.code == 66)
        #expect(
            folder.errors
                == "facse: the folder of the files with regions is not there\n   = look for a misspelt name, or mount its disk\n"
        )
        #expect(!workspace.exists("out"))
    }

    @Test func `a misspelt category is told, in one file and in many`() async throws {
        let face = #"{"x": 10, "y": 10, "width": 30, "height": 30, "category": "face"}"#
        try workspace.write(#"{"a.png": [\#(face)], "b.png": [], "c.jpg": []}"#, to: "faces.json")
        try writeJob("{from: faces.json, categories: Face}")
        let check = try await penumbra("check", "job.yaml")
        #expect(check.code == 65)
        #expect(
            check.errors
                == "faces.json: the file with regions cannot be used: none of its regions has the category Face\n"
                + "   = its categories are face\n")
        for name in ["a", "b", "c"] { try workspace.write("[\(face)]", to: "faces/\(name).json") }
        try writeJob("{from: 'faces/{stem}.json', categories: Face}")
        let run = try await penumbra("run", "job.yaml")
        #expect(run.code == 65)
        #expect(
            run.errors
                == "faces/{stem}.json: none of the regions has the category Face\n   = the categories are face\n")
        #expect(!workspace.exists("out"))
    }

    @Test func `regions stand before filters that move pixels`() async throws {
        try workspace.write(#"{"a.png": [[10, 10, 20, 15]]}"#, to: "faces.json")
        try workspace.writeManifest(
            inputs: "photos/a.png",
            filters: "[{crop: {x: 10%, y: 10%, width: 50%, height: 50%}}, {pixelate: {within: {from: faces.json}}}]",
            output: "out/{stem}.png")
        let result = try await penumbra("check", "job.yaml")
        #expect(result.code == 65)
        #expect(
            result.errors.hasPrefix(
                "job.yaml:3:63: error: the regions of 'pixelate' are places in the picture as it is in its file, and 'crop' before it "
                    + "moves them\n"), "\(result.errors)")
        #expect(result.errors.hasSuffix("  = write 'pixelate' before 'crop'\n"))
    }

    @Test(arguments: [
        ("{mask: black.png}", "is black all over the picture's 160 × 120 pixels, or lies outside"),
        ("{mask: white.png, mask_x: 500}", "is black all over the picture's 160 × 120 pixels, or lies outside"),
        (
            "{mask: white.png, mask_x: 0, within: {x: 50, y: 50, width: 9, height: 9}}",
            "is black all over a region of its 'within'"
        ),
    ])
    func `a mask that changes nothing is an error of its picture`(values: String, words: String) async throws {
        func draw(_ value: UInt8, _ name: String) throws {
            try workspace.write(Data("P5\n9 9\n255\n".utf8) + Data(repeating: value, count: 81), to: name)
        }
        try draw(0, "black.png")
        try draw(255, "white.png")
        try workspace.writeManifest(
            inputs: "photos/a.png", filters: "[{invert: \(values)}]", output: "out/{stem}.png")
        for command in [["run", "job.yaml"], ["preview", "job.yaml", "-o", "p.png"]] {
            let result = try await Program.run(Program.penumbra, command, in: workspace)
            #expect(result.code == 1)
            #expect(
                result.errors.contains(
                    "photos/a.png: the 'mask' of 'invert' \(words); what is to be changed is white\n"),
                "\(result.errors)")
        }
    }

    @Test func `64: blur takes no regions from a file`() async throws {
        try workspace.write(#"{"a.png": []}"#, to: "faces.json")
        let result = try await penumbra("blur", "photos/a.png", "--filter", "gaussian: {within: {from: faces.json}}")
        #expect(result.code == 64)
        #expect(
            result.errors
                == "--filter: 'blur' takes no regions from a file\n   = write a job with 'within: {from: …}', and run it by 'penumbra "
                + "run'\n")
    }

    @Test func `files that no picture has are told where pictures may be unlisted`() async throws {
        try workspace.write("[[1, 2, 30, 40]]", to: "faces/a.png.json")
        try writeJob("{from: 'faces/{stem}.json', unlisted: none}")
        let result = try await penumbra("run", "job.yaml")
        #expect(result.code == 66)
        #expect(
            result.errors
                == "faces/a.json: no picture of the job has a file with regions\n   = look for a misspelt name, or mount its disk\n"
        )
        try workspace.write("{}", to: "faces.json")
        try writeJob("{from: faces.json, unlisted: none}")
        let empty = try await penumbra("run", "job.yaml")
        #expect(empty.code == 65)
        #expect(empty.errors.hasPrefix("faces.json: the file with regions cannot be used: it lists no pictures\n"))
        #expect(!workspace.exists("out"))
    }

    @Test func `a list of files does not make a name mean one picture`() async throws {
        try workspace.copy("photos/a.png", to: "photos/x/a.png")
        try workspace.write(#"{"a.png": [[1, 2, 30, 40]], "b.png": []}"#, to: "faces.json")
        try writeJob("{from: faces.json}", inputs: "photos/**/*.png", output: "out/{dir}/{stem}.png")
        try workspace.write("photos/x/a.png\n", to: "list")
        let result = try await penumbra("run", "job.yaml", "--files-from", "list")
        #expect(result.code == 1)
        #expect(result.errors.contains("photos/x/a.png: faces.json has 'a.png', which may be this picture or "))
    }
}
