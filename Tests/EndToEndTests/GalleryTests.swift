import ExamplePictures
import Foundation
import Raster
import TestSupport
import Testing

/// docs/gallery.md shows what the manifests of `jobs/effects` are and make.
@Suite(.serialized) struct GalleryTests {
    /// An effect's manifest.
    struct Effect: Sendable, CustomStringConvertible {
        let name: String
        let manifest: String

        var description: String { name }

        /// The value of a key that is a text on one line.
        func value(_ key: String) -> String {
            let line = manifest.split(separator: "\n").first { $0.hasPrefix("\(key): ") }
            return line.map { String($0.dropFirst(key.count + 2)) } ?? ""
        }
    }

    private static let docs = ExampleTests.project.appending(path: "docs")
    private static let pictures = docs.appending(path: "gallery")

    static let effects: [Effect] = ExampleTests.manifests.filter { $0.hasPrefix("effects/") }.map { file in
        let url = ExampleTests.project.appending(path: "jobs/\(file)")
        let text = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
        return Effect(name: url.deletingPathExtension().lastPathComponent, manifest: text)
    }

    private let page: String

    init() throws {
        page = try String(contentsOf: Self.docs.appending(path: "gallery.md"), encoding: .utf8)
    }

    /// The names of the pictures that the page shows.
    private var shown: Set<String> {
        Set(
            page.split(separator: "](gallery/").dropFirst().compactMap {
                $0.split(separator: ")").first.map(String.init)
            })
    }

    @Test func `every kind of effect is there`() {
        let filters = [
            "gaussian", "motion", "zoom", "spin", "disc", "lens-blur", "box", "sharpen", "median", "bilateral",
            "variable", "material", "backdrop", "overlay", "text", "halftone", "color-adjust", "vignette", "grain",
            "posterize", "invert", "pixelate", "guided", "non-local-means", "levels", "hue", "white-balance",
            "gray-point", "lut", "rotate",
            "shadows-highlights", "clarity", "tone-map", "straighten", "perspective", "trim", "deskew",
        ]
        for filter in filters {
            #expect(Self.effects.contains { $0.manifest.contains("\n  - \(filter)") }, "\(filter)")
        }
    }

    @Test(arguments: [
        "within: {from: ", "shape: outline", "mask: ../", "{stem}-mask.png", "precision: 16", "color: p3",
        "palette: true", "set: {copyright: ", "layers:", "crossfade:", "move:", "there_and_back: true", ".apng",
        ".webp",
        "focus_x: ",
    ])
    func `every part of a manifest that pictures show is there`(part: String) {
        #expect(Self.effects.contains { $0.manifest.contains(part) })
    }

    @Test(arguments: effects)
    func `an effect is shown before and after, with its manifest and its command`(effect: Effect) {
        #expect(effect.value("job") == effect.name)
        let photo = URL(filePath: effect.value("inputs")).deletingPathExtension().lastPathComponent
        #expect(
            page.contains(
                """

                ## \(effect.name)

                \(effect.value("description")).

                | before | after |
                |---|---|
                | ![before](gallery/before-\(photo).webp) | ![after](gallery/\(effect.name).webp) |

                ```yaml
                \(effect.manifest)```

                    penumbra run jobs/effects/\(effect.name).yaml

                """), "run 'make gallery'")
    }

    @Test func `its pictures are there, small, and all of them shown`() throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: Self.pictures, includingPropertiesForKeys: [.fileSizeKey])
        #expect(Set(files.map(\.lastPathComponent)) == shown)
        let sizes = try files.map { try $0.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0 }
        #expect(sizes.allSatisfy { $0 < 80_000 } && sizes.reduce(0, +) < 1_100_000)
    }

    @Test func `its pictures are what the manifests and commands make`() async throws {
        let workspace = try Workspace()
        let jobs = URL(filePath: "\(workspace.path)/jobs")
        try FileManager.default.copyItem(at: ExampleTests.project.appending(path: "jobs"), to: jobs)
        if workspace.exists("jobs/out") { try workspace.remove("jobs/out") }
        let manifests = Self.effects.map { "jobs/effects/\($0.name).yaml" }
        let run = try await Program.run(Program.penumbra, ["run"] + manifests, in: workspace)
        #expect(run.code == 0, "\(run.errors)")
        // What is blurred in place is a copy of a photograph.
        try workspace.copy("jobs/photos/cat.jpg", to: "photo.jpg")
        for command in commands {
            let path = "\(Program.folder):/usr/bin:/bin"
            let result = try await Program.run(
                "/bin/sh", ["-c", command.text], in: workspace, environment: ["PATH": path])
            #expect(result.code == 0, "\(command.text): \(result.errors)")
            let suffix = command.output.split(separator: ".").last ?? ""
            try workspace.copy(command.output, to: "jobs/out/effects/\(command.name).\(suffix)")
        }
        let made = workspace.files(below: "jobs/out/effects").map { "jobs/out/effects/\($0)" }
        let shrunk = try await Program.run(
            Program.penumbra,
            ["apply", "--set", "save.quality=65", "--set", "save.effort=6", "--set", "save.metadata=strip"]
                + ["thumbnail: {size: 480}"] + made + ["-o", "small/{stem}.webp"], in: workspace)
        #expect(shrunk.code == 0, "\(shrunk.errors)")
        for name in shown where !name.hasPrefix("before-") {
            let (new, old) = try (
                PictureFiles.read("\(workspace.path)/small/\(name)"),
                PictureFiles.read(Self.pictures.appending(path: name).path)
            )
            #expect(Self.difference(new, old) < 0.004, "\(name): run 'make gallery'")
        }
    }

    /// The first line to type of each section that runs no manifest, and the picture that it writes, its last word.
    private var commands: [(name: String, text: String, output: String)] {
        page.components(separatedBy: "\n## ").dropFirst().compactMap { section in
            let lines = section.split(separator: "\n")
            guard let line = lines.first(where: { $0.hasPrefix("    penumbra ") }),
                !line.hasPrefix("    penumbra run "), let output = line.split(separator: " ").last
            else { return nil }
            return (String(lines[0]), line.trimmingCharacters(in: .whitespaces), String(output))
        }
    }

    /// The mean distance of two pictures' samples, as a part of the full scale; 1 for pictures of different sizes.
    private static func difference(_ first: AnyRaster, _ second: AnyRaster) -> Double {
        guard first.rect == second.rect, first.layout == second.layout else { return 1 }
        let distances = zip(first.doubles, second.doubles).map { abs($0 - $1) }
        return distances.reduce(0, +) / Double(distances.count) / first.format.full
    }
}
