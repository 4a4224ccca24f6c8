import Foundation
import Testing

/// Warnings of a job that runs nevertheless.
@Suite struct HintTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
    }

    @Test func `an exclude that leaves nothing out is told, and one that names a folder leaves it out`() async throws {
        try workspace.draw("photos/drafts/x.png", width: 20, height: 20)
        try workspace.writeManifest(
            inputs: "photos", output: "out/{dir}/{stem}.png", more: "exclude: [photos/drafts/, photos/draft]")
        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.code == 0)
        #expect(result.errors == "job.yaml: warning: 'photos/draft' of 'exclude' leaves nothing out\n")
        #expect(workspace.files(below: "out") == ["a.png", "b.png", "c.png"])
    }

    @Test func `an empty pattern of --only is refused`() async throws {
        try workspace.writeManifest()
        for arguments in [
            ["run"], ["plan"], ["run", "--only", "a.png"], ["export", "--to", "crontab", "--schedule", "@daily"],
        ] {
            let result = try await Program.run(
                Program.penumbra, arguments + ["job.yaml", "--only", ""], in: workspace)
            #expect(result.code == 64)
            #expect(
                result.errors == """
                    --only has an empty pattern
                       = write a name or a path, such as 'photos/*.jpg', or leave --only out

                    """)
        }
        #expect(!workspace.exists("out"))
    }

    @Test func `an exclude that names a file which is no input is told for what it is`() async throws {
        try workspace.write("read me", to: "photos/readme.txt")
        try workspace.writeManifest(inputs: "photos", more: "exclude: [photos/readme.txt]")
        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.code == 0)
        #expect(result.errors == "job.yaml: warning: 'photos/readme.txt' of 'exclude' leaves nothing out\n")
    }

    @Test func `names with brackets that nothing matches are told with their patterns`() async throws {
        try workspace.draw("odd/IMG [1].png", width: 20, height: 20)
        let hint = "'odd/IMG [1].png' is there: '*', '?', '[' and '{' are wildcards, so write 'odd/IMG [[]1].png'"
        try workspace.writeManifest(inputs: "['odd/IMG [1].png']")
        let alone = try await Program.run("run", "job.yaml", in: workspace)
        #expect(alone.code == 66)
        #expect(alone.errors == "job.yaml: error: no file matches 'odd/IMG [1].png'\n   = \(hint)\n")
        try workspace.writeManifest(inputs: "['odd/IMG [1].png', photos/a.png]", more: "exclude: ['odd/IMG [1].png']")
        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.code == 0)
        #expect(
            result.errors == """
                job.yaml: warning: nothing matches 'odd/IMG [1].png' of 'inputs'; \(hint)
                job.yaml: warning: 'odd/IMG [1].png' of 'exclude' leaves nothing out; \(hint)

                """)
        try workspace.writeManifest(inputs: "['odd/IMG [[]1].png']")
        #expect(try await Program.run("run", "job.yaml", in: workspace).code == 0)
        #expect(workspace.exists("out/IMG [1].png"))
    }

    @Test func `links that lead nowhere are told`() async throws {
        for number in 1...7 {
            try FileManager.default.createSymbolicLink(
                atPath: "\(workspace.path)/photos/n\(number).png", withDestinationPath: "nowhere.png")
        }
        try workspace.writeManifest()
        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.code == 0)
        let told = (1...5).map {
            "job.yaml: warning: photos/n\($0).png is a link that leads nowhere, and is no input: its target is gone, or "
                + "not mounted\n"
        }
        #expect(result.errors == told.joined() + "job.yaml: warning: 2 more links lead nowhere\n")
        #expect(workspace.files(below: "out") == ["a.png", "b.png", "c.png"])
    }

    /// Filters with values that change nothing: built in, and as plugins.
    private static let idle = [
        "gaussian: {radius: 0}", "motion: {length: 0}", "box: {radius: {x: 0, y: 0}}", "disc: {radius: 0}",
        "median: {radius: 0}", "bilateral: {radius: 0}", "sharpen: {amount: 0}", "zoom: {amount: 0}",
        "spin: {angle: 0}", "variable: {radius: 0}", "rotate: {angle: 360}", "resize: {size: 100%}", "crop",
        "color-adjust", "grain: {amount: 0}", "pixelate: {size: 1}", "vignette: {amount: 0}",
    ]

    @Test func `every filter that changes nothing with its values is told by check and plan`() async throws {
        let items = Self.idle + ["gaussian: {radius: 1}", "halftone", "invert", "sharpen", "vignette"]
        try workspace.write(
            "job: test\ninputs: photos/*.png\nfilters:\n"
                + items.map { "  - \($0)\n" }.joined() + "output: out/{stem}.png\n", to: "job.yaml")
        for command in ["check", "plan"] {
            let result = try await Program.run(command, "job.yaml", in: workspace)
            #expect(result.code == 0)
            let warnings = result.errors.split(separator: "\n").filter { $0.contains(": warning: ") }
            #expect(warnings.count == Self.idle.count, "\(result.errors)")
            for (index, (item, warning)) in zip(Self.idle, warnings).enumerated() {
                let name = item.prefix { $0 != ":" }
                let reason = item.contains("radius: ") || name == "motion" ? "a radius of 0" : "these values"
                #expect(warning.hasPrefix("job.yaml:\(index + 4):"), "\(warning)")
                #expect(warning.hasSuffix(": warning: '\(name)' with \(reason) changes no pixel"), "\(warning)")
            }
        }
    }

    @Test func `parameters of plugins and built-in filters that have no effect are told`() async throws {
        try workspace.writeManifest(
            filters: "[{halftone: {cyan_angle: 20, black: 50}}, {variable: {gradient: radial, angle: 30}}]")
        let result = try await Program.run("check", "job.yaml", in: workspace)
        #expect(result.code == 0)
        #expect(
            result.errors == """
                job.yaml:3:23: warning: 'cyan_angle' has no effect with 'colors: gray'
                3 | filters: [{halftone: {cyan_angle: 20, black: 50}}, {variable: {gradient: radial, angle: 30}}]
                  |                       ^^^^^^^^^^
                  = remove it, or write 'colors: cmyk'
                job.yaml:3:39: warning: 'black' has no effect with 'colors: gray'
                3 | filters: [{halftone: {cyan_angle: 20, black: 50}}, {variable: {gradient: radial, angle: 30}}]
                  |                                       ^^^^^
                  = remove it, or write 'colors: cmyk'
                job.yaml:3:82: warning: 'angle' has no effect with 'gradient: radial'
                3 | filters: [{halftone: {cyan_angle: 20, black: 50}}, {variable: {gradient: radial, angle: 30}}]
                  |                                                                                  ^^^^^
                  = remove it, or write 'gradient: tilt or linear'

                """)
        let filter = try await Program.run("filters", "halftone", in: workspace)
        #expect(filter.output.contains("\nblack has an effect only with colors: cmyk\n"))
    }

    @Test(arguments: [
        ("pixelate: {size: 2.5}", "write 2 or 3: only whole numbers will do"),
        ("vignette: {x: 200px}", "write a number without a unit: it is in %, and 200 px of 1000 px are 20"),
        ("disc: {radius: 5%}", "write a number without a unit: it is in px, and 5% of 1000 px are 50"),
        ("variable: {sharp: -5}", "write a value from 0 to 1000000000 px"),
        ("variable: {falloff: -5%}", "write a value from 0 to 1000000000%"),
        ("crop: {width: -5}", "write a value from 0 to 1000000000 px"),
    ])
    func `values that make no sense are refused with what would`(filter: String, remedy: String) async throws {
        try workspace.writeManifest(filters: "[\(filter.contains("{") ? "{\(filter)}" : filter)]")
        let result = try await Program.run("check", "job.yaml", in: workspace)
        #expect(result.code == 65)
        #expect(result.errors.hasSuffix("\n  = \(remedy)\n"), "\(result.errors)")
    }
}
