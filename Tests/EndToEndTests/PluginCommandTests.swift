import Foundation
import Testing

/// `penumbra plugin new`, `check` and `list`, as an author uses them.
@Suite(.serialized) struct PluginCommandTests {
    let workspace: Workspace

    init() throws { workspace = try Workspace() }

    private func run(_ arguments: String..., environment: [String: String] = [:]) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace, environment: environment)
    }

    @Test func `a plugin in C that was just begun builds, keeps the contract, and works`() async throws {
        let begun = try await run("plugin", "new", "less-color", "--language", "c", "-o", "mine")
        #expect(begun.code == 0, "\(begun.errors)")
        #expect(
            workspace.files(below: "mine") == [
                ".gitignore", "Makefile", "README.md", "less-color.c", "penumbra_plugin.h",
            ])
        let made = try await Program.run("/usr/bin/make", ["-C", "mine", "check"], in: workspace)
        #expect(made.code == 0, "\(made.output)\(made.errors)")
        #expect(made.output.contains("  ok       tile invariance"))
        #expect(!made.output.contains("BROKEN"))
        try workspace.drawPhotos()
        let path = ["PENUMBRA_PLUGIN_PATH": "\(workspace.path)/mine"]
        let applied = try await run(
            "apply", "less-color: {amount: 100}", "photos/a.png", "-o", "gray.png", environment: path)
        #expect(applied.code == 0, "\(applied.errors)")
        let listed = try await run("plugin", "list", environment: path)
        #expect(listed.output.contains("\nless-color    0.1.0    no      \(workspace.path)/mine/libLessColor.so "))
    }

    @Test func `a plugin in C that looks around is like its slow twin, and keeps the contract`() async throws {
        let begun = try await run("plugin", "new", "grow", "--language", "c", "--kind", "area")
        #expect(begun.code == 0, "\(begun.errors)")
        let made = try await Program.run("/usr/bin/make", ["-C", "grow", "check"], in: workspace)
        #expect(made.code == 0, "\(made.output)\(made.errors)")
        #expect(made.output.contains("grow is like its twin\n"))
        #expect(made.output.contains("  ok       declared region of interest"))
        #expect(!made.output.contains("BROKEN"))
        // A step too little, and the twin and the contract both find it.
        let source = String(decoding: try workspace.read("grow/grow.c"), as: UTF8.self)
        let narrow = source.replacing("d <= radius", with: "d < radius")
        try workspace.write(narrow, to: "grow/grow.c")
        let wrong = try await Program.run("/usr/bin/make", ["-C", "grow", "check"], in: workspace)
        #expect(wrong.code == 2)
        #expect(wrong.output.contains("radius 1: "), "\(wrong.output)")
        try workspace.write(source.replacing("radius = (int32_t)values[0]", with: "radius = 2"), to: "grow/grow.c")
        _ = try await Program.run("/usr/bin/make", ["-C", "grow"], in: workspace)
        let checked = try await run("plugin", "check", "grow")
        #expect(
            checked.output.contains("  BROKEN   declared region of interest: it reads beyond its halo: 1 px left, "))
    }

    @Test func `the test of a plugin in C works when the filter gets more parameters and functions of libm`()
        async throws
    {
        try #require(try await run("plugin", "new", "grow", "--language", "c", "--kind", "area").code == 0)
        let source = String(decoding: try workspace.read("grow/grow.c"), as: UTF8.self)
        let more =
            "{.name = \"gain\", .kind = PENUMBRA_NUMBER, .minimum = 1, .maximum = 2, .fallback = 1, .summary = \"Gain\"},"
        let parameters = "static const penumbra_parameter parameters[] = {\n"
        let changed = source.replacing(parameters, with: "\(parameters)    \(more)\n")
            .replacing("values[0]", with: "values[1]")
            .replacing("#include <stdlib.h>", with: "#include <math.h>\n#include <stdlib.h>")
            .replacing("to[i] = largest;", with: "to[i] = largest > 2 ? sqrtf(largest) : largest;")
        try workspace.write(changed, to: "grow/grow.c")
        let made = try await Program.run("/usr/bin/make", ["-C", "grow", "check"], in: workspace)
        #expect(made.code == 0, "\(made.output)\(made.errors)")
        #expect(made.output.contains("grow is like its twin\n"))
        // A parameter of another name is no longer set by the test.
        try workspace.write(changed.replacing(".name = \"radius\"", with: ".name = \"size\""), to: "grow/grow.c")
        let renamed = try await Program.run("/usr/bin/make", ["-C", "grow", "check"], in: workspace)
        #expect(renamed.code == 2)
        #expect(renamed.output.contains("the filter has no parameter 'radius'\n"), "\(renamed.output)")
    }

    @Test(arguments: ["c", "swift"], ["point", "area"])
    func `every file of a new plugin says that it is under MIT-0`(language: String, kind: String) async throws {
        let begun = try await run(
            "plugin", "new", "less-color", "--language", language, "--kind", kind, "--sdk", ExampleTests.project.path,
            "-o",
            "mine")
        try #require(begun.code == 0, "\(begun.errors)")
        for file in workspace.files(below: "mine") where file != ".gitignore" {
            let text = String(decoding: try workspace.read("mine/\(file)"), as: UTF8.self)
            let words = file == "README.md" ? "is under MIT-0" : " SPDX-License-Identifier: MIT-0\n"
            #expect(text.contains(words), "\(file)")
        }
    }

    @Test func `names that manifests cannot write, and folders that are there, are refused`() async throws {
        let name = try await run("plugin", "new", "Sepia", "--language", "c")
        #expect(name.code == 64)
        #expect(
            name.errors
                == "'Sepia' cannot be the name of a filter\n   = use small letters, digits, - and _, and begin with a letter\n"
        )
        let taken = try await run("plugin", "new", "gaussian", "--language", "c")
        #expect(taken.code == 64)
        #expect(taken.errors == "a filter 'gaussian' is built in\n   = choose another name\n")
        try workspace.write("mine", to: "sepia/notes.txt")
        let folder = try await run("plugin", "new", "sepia", "--language", "c")
        #expect(folder.code == 64)
        #expect(
            folder.errors
                == "\(workspace.path)/sepia: the folder exists\n   = choose another name, or another folder with -o\n")
        #expect(workspace.files(below: "sepia") == ["notes.txt"])
    }

    @Test func `check refuses a plugin that calls itself as a filter of Penumbra, as workers do`() async throws {
        try await workspace.buildPlugin("gaussian", render: "copy(tile);")
        let result = try await run("plugin", "check", "plugins/libgaussian.so")
        #expect(result.code == 1)
        #expect(
            result.output == """
                plugins/libgaussian.so
                  ok       opening
                  BROKEN   description: it names its filter 'gaussian', which is Penumbra's own; rename it
                  ok       silence

                """)
        let filters = try await run("filters", environment: ["PENUMBRA_PLUGIN_PATH": "\(workspace.path)/plugins"])
        #expect(
            filters.errors.contains(
                "libgaussian.so names its filter 'gaussian', which is Penumbra's own; rename it\n"), "\(filters.errors)"
        )
    }

    @Test func `who has no Swift is told so when a plugin in Swift begins`() async throws {
        let begun = try await run(
            "plugin", "new", "less-color", "--sdk", ExampleTests.project.path, environment: ["PATH": "/nowhere"])
        #expect(begun.code == 0, "\(begun.errors)")
        #expect(
            begun.errors == """
                this plugin is built with Swift, and there is no program 'swift' in PATH
                   = install Swift 6.3 or later, or write the plugin in C: --language c, with another folder by -o

                """)
        let inC = try await run(
            "plugin", "new", "less-color", "--language", "c", "-o", "in-c", environment: ["PATH": "/nowhere"])
        #expect((inC.code, inC.errors) == (0, ""))
    }

    /// What a plugin does, and the line that tells it.
    private static let misdeeds: [(render: String, line: String)] = [
        (
            "if (tile->channels == 3) abort(); copy(tile);",
            "  BROKEN   all formats and channels: it crashes with signal 6 on the tile x 0…60, y 0…42 (it asked for x 0…60, "
                + "y 0…42; u8 RGB)\n   = to see where: gdb --args /"
        ),
        (
            "fputs(\"out of luck\\n\", stderr); abort();",
            "  BROKEN   all formats and channels: it crashes with signal 6 on the tile x 0…60, y 0…42 (it asked for x 0…60, "
                + "y 0…42; u8 gray); it printed 'out of luck'\n   = to see where: gdb --args /"
        ),
        (
            "exit(0);",
            "  BROKEN   all formats and channels: it ends the process with exit code 0 on the tile x 0…60, y 0…42 (it asked "
                + "for x 0…60, y 0…42; u8 gray)\n"
        ),
        (
            "copy(tile); exit(3);",
            "  BROKEN   all formats and channels: it ends the process with exit code 3 on the tile"
        ),
        (
            "if (tile->target.rect.width == 7) *(volatile int *)8 = 1; copy(tile);",
            "  BROKEN   tile invariance: it crashes with signal 11 on the tile x 0…6, y 0…4 (it asked for x 0…6, y 0…4; u8 gray)"
        ),
        ("copy(tile); puts(\"hello\");", "  BROKEN   silence: it printed "),
        ("copy(tile); fputs(\"hello\", stderr);", "  BROKEN   silence: it printed "),
        (
            "copy(tile); *(volatile char *)malloc(1000) = 1;",
            "  BROKEN   no memory left behind: each call leaves about 10"
        ),
        (
            "copy(tile); ((char *)tile->target.data)[-1] = 0;",
            "  BROKEN   all formats and channels: it writes outside of its tile (beforeFirstRow)"
        ),
    ]

    @Test(arguments: misdeeds)
    func `check finds what a plugin does wrong, and survives it`(misdeed: (render: String, line: String)) async throws {
        try await workspace.buildPlugin("bad", render: misdeed.render)
        let result = try await run("plugin", "check", "plugins/libbad.so")
        #expect(result.code == 1)
        #expect(result.output.contains(misdeed.line), "\(result.output)")
    }

    @Test func `check says what is no plugin`() async throws {
        try workspace.write("no library", to: "libtext.so")
        let text = try await run("plugin", "check", "libtext.so")
        #expect(text.code == 1)
        #expect(text.output.hasPrefix("libtext.so\n  BROKEN   opening: it cannot be opened ("))
        let missing = try await run("plugin", "check", "libnone.so")
        #expect(missing.code == 66)
        #expect(missing.errors == "libnone.so: there is no such file\n")
    }

    @Test func `what crashes, hangs or leaves at load is told, and the rest works`() async throws {
        try await workspace.buildPlugin("good", render: "copy(tile);")
        for (name, start) in [("crash", "*(volatile int *)8 = 1;"), ("leave", "exit(0);")] {
            try await workspace.buildPlugin(name, render: "copy(tile);", atLoad: start)
        }
        let path = ["PENUMBRA_PLUGIN_PATH": "\(workspace.path)/plugins"]
        let filters = try await run("filters", environment: path)
        #expect(filters.output.contains("\ngood "))
        let folder = "plugin \(workspace.path)/plugins"
        #expect(
            filters.errors.contains(
                "\(folder)/libcrash.so crashes with signal 11 while it is opened; remove or fix it"))
        #expect(
            filters.errors.contains(
                "\(folder)/libleave.so ends the process (exit code 0) while it is opened; remove or fix it"))
        try workspace.drawPhotos()
        try workspace.writeManifest(filters: "[good]")
        #expect(try await run("run", "job.yaml", environment: path).code == 0)
    }

    @Test func `a library that was refused is not tried by the workers that follow`() async throws {
        let mark = "\(workspace.path)/tried"
        let note =
            "const int file = open(\"\(mark)\", O_WRONLY | O_CREAT | O_APPEND, 0600); if (write(file, \"+\", 1) == 1) abort();"
        try await workspace.buildPlugin("crash", render: "copy(tile);", atLoad: note)
        try await workspace.buildPlugin("leaving", render: "if (tile->image.width == 61) exit(0); copy(tile);")
        try workspace.draw("photos/b.png", width: 61, height: 40)
        try workspace.writeManifest(filters: "[leaving]")
        // Without the sandbox, a library can count in a file how often it is opened.
        let path = ["PENUMBRA_PLUGIN_PATH": "\(workspace.path)/plugins", "PENUMBRA_SANDBOX": "off"]
        let result = try await run("run", "job.yaml", environment: path)
        // Its first worker left, and others were started.
        #expect(result.errors.contains("the worker left with exit code 0 inside the plugin 'leaving' in 2 attempts"))
        #expect(try workspace.read("tried") == Data("+".utf8))
    }

    @Test func `folders of plugins and pins may have any name`() async throws {
        try await workspace.buildPlugin("good", render: "copy(tile);")
        let sum = try await Program.run("/usr/bin/sha256sum", ["plugins/libgood.so"], in: workspace).output.prefix(64)
        let folder = "\(workspace.path)/a:b,c"
        try FileManager.default.moveItem(atPath: "\(workspace.path)/plugins", toPath: folder)
        try FileManager.default.moveItem(atPath: "\(folder)/libgood.so", toPath: "\(folder)/lib:a,b.so")
        try workspace.write(
            "plugin_folders: ['\(folder)']\nplugins: pinned-only\nplugin_pins:\n  - file: 'lib:a,b.so'\n    sha256: \(sum)\n",
            to: "config/penumbra/penumbra.yaml")
        let list = try await run("plugin", "list")
        #expect(
            list.output.contains("\ngood    1.0.0    yes     \(folder)/lib:a,b.so "), "\(list.output)\(list.errors)")
    }

    @Test func `check tries every library of a folder, and says so when there is none`() async throws {
        try await workspace.buildPlugin("good", render: "copy(tile);")
        try await workspace.buildPlugin("bad", render: "exit(0);")
        let result = try await run("plugin", "check", "plugins")
        #expect(result.code == 1)
        #expect(
            result.output.split(separator: "\n").filter { !$0.hasPrefix(" ") } == [
                "plugins/libbad.so", "plugins/libgood.so",
            ])
        #expect(result.output.contains("  skipped  extreme values: it has no parameters\n"))
        try workspace.write("", to: "empty/README")
        let empty = try await run("plugin", "check", "empty")
        #expect(empty.code == 66)
        #expect(empty.errors == "empty: this folder has no lib….so\n   = name the library of a plugin\n")
    }

    @Test func `only plugins that are pinned run where that is wanted`() async throws {
        try await workspace.buildPlugin("good", render: "copy(tile);")
        let folder = "plugin_folders: [\(workspace.path)/plugins]\n"
        try workspace.write(folder + "plugins: pinned-only\n", to: "config/penumbra/penumbra.yaml")
        let sum = try await Program.run("/usr/bin/sha256sum", ["plugins/libgood.so"], in: workspace).output.prefix(64)
        let (path, pin) = ("\(workspace.path)/plugins/libgood.so", "{file: libgood.so, sha256: \(sum)}")
        let words =
            "plugin \(path) has no pin, and 'plugins: pinned-only' refuses those; to use it, add '\(pin)' to "
            + "'plugin_pins'\n"
        let refused = try await run("filters", "good")
        #expect(refused.code == 64)
        #expect(
            refused.errors == """
                no filter is called 'good'
                   = \(path) is there, and refused by 'plugins: pinned-only': add '\(pin)' to 'plugin_pins' in the config file

                """)
        try workspace.writeManifest(filters: "[good]")
        #expect(
            try await run("check", "job.yaml").errors == """
                job.yaml:3:11: error: unknown filter 'good'
                3 | filters: [good]
                  |           ^^^^
                  = \(path) is there, and refused by 'plugins: pinned-only': add '\(pin)' to 'plugin_pins' in the config file

                """)
        let list = try await run("plugin", "list")
        #expect(list.code == 0)
        #expect(list.errors.contains(words))
        let doctor = try await run("doctor")
        #expect(doctor.code == 0, "\(doctor.output)")
        #expect(doctor.output.contains("\nnote  \(words)"))
        try workspace.write(
            folder + "plugins: pinned-only\nplugin_pins:\n  - file: libgood.so\n    sha256: \(sum)\n",
            to: "config/penumbra/penumbra.yaml")
        #expect(try await run("filters", "good").code == 0)
        #expect(try await run("plugin", "list").output.contains("good    1.0.0    yes"))
    }
}
