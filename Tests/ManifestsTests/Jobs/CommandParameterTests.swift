import Catalogs
import JobModel
import Manifests
import Testing

/// `run`, whose programs come from the settings.
@Suite struct CommandParameterTests {
    private static let digest = String(repeating: "7", count: 64)

    private static let programs = [
        AllowedProgram(name: "denoise", path: "/usr/local/bin/denoise", file: .usable(sha256: digest)),
        AllowedProgram(
            name: "lost", path: "/opt/lost/bin/lost", file: .unusable(reason: "there is no such file")),
    ]

    private static func catalog(_ programs: [AllowedProgram]) -> Catalog {
        let run = FilterDescriptor(
            name: "run", kind: .area, summary: "Runs a program", renderingVersion: 1,
            parameters: [
                ParameterDescriptor(
                    "command", .command([]), summary: "The program", requiredLike: #"[denoise, -s, "3"]"#),
                ParameterDescriptor(
                    "format", .choice(["png", "tiff", "ppm"]), fallback: .word("png"), summary: "The format"),
            ])
        return Catalog(
            versions: [:], filters: Catalog.example.filters + [run.allowing(programs)],
            formats: Catalog.example.formats)
    }

    private func reading(_ item: String, _ programs: [AllowedProgram] = programs) -> Reading {
        Reading.filter(item, catalog: Self.catalog(programs))
    }

    private static func command(_ arguments: String...) -> ParameterValue {
        .command(ProgramCommand(program: "denoise", arguments: arguments, sha256: digest))
    }

    @Test(arguments: [
        ("run: [denoise, -s, \"3\"]", ["-s", "3"], "png"), ("run: denoise", [], "png"), ("run: [denoise]", [], "png"),
        ("run: {command: [denoise, -s, 3], format: tiff}", ["-s", "3"], "tiff"),
        ("run: {command: denoise, format: ppm}", [], "ppm"),
        ("run: [denoise, '', a b, 'ä=#']", ["", "a b", "ä=#"], "png"),
        ("run:\n      - denoise\n      - -s", ["-s"], "png"),
    ])
    func `a command has a short and a long form`(item: String, arguments: [String], format: String) {
        let reading = reading(item)
        #expect(reading.messages.isEmpty)
        #expect(
            reading.values
                == [
                    "command": .command(
                        ProgramCommand(program: "denoise", arguments: arguments, sha256: Self.digest)),
                    "format": .word(format),
                ])
    }

    @Test func `a value of a command can be overridden`() {
        let reading = Reading.filter(
            "run: {command: [denoise, -s, 3]}", set: "filters[0].run.command=[denoise, -t]",
            catalog: Self.catalog(Self.programs))
        #expect(reading.messages.isEmpty)
        #expect(reading.values?["command"] == Self.command("-t"))
    }

    @Test func `a program that the settings do not list is refused, with what an administrator adds to which file`() {
        let reading = reading("run: [resharpen, -s, 3]")
        #expect(
            reading.messages == """
                job.yaml:4:11: error: the settings of this machine allow no program 'resharpen'
                4 |   - run: [resharpen, -s, 3]
                  |           ^^^^^^^^^
                  = an administrator allows it by 'programs: {resharpen: /path/of/the/program}' in /etc/penumbra/penumbra.yaml, and a user in ~/.config/penumbra/penumbra.yaml; allowed are 'denoise' and 'lost'
                """)
        #expect(reading.job == nil)
        let none = self.reading("run: resharpen", [])
        #expect(
            none.remedies == [
                "an administrator allows it by 'programs: {resharpen: /path/of/the/program}' in /etc/penumbra/penumbra.yaml, and a user in ~/.config/penumbra/penumbra.yaml; none is allowed yet"
            ])
    }

    @Test func `a name is almost right, or a path, or a whole line of a shell`() {
        #expect(
            reading("run: [denose]").remedies == ["did you mean 'denoise'? allowed are 'denoise' and 'lost'"])
        #expect(
            reading("run: [/usr/local/bin/denoise, -s]").remedies
                == ["write its name in the settings, 'denoise', and not its path"])
        let path = reading("run: [/usr/bin/mogrify.im6, -blur]", [])
        #expect(path.problems == ["4:11: the settings of this machine allow no program '/usr/bin/mogrify.im6'"])
        #expect(path.remedies[0]?.contains("'programs: {mogrify-im6: /path/of/the/program}'") == true)
        let line = reading("run: mogrify -blur 0x3 png:-", [])
        #expect(line.problems == ["4:10: the settings of this machine allow no program 'mogrify -blur 0x3 png:-'"])
        #expect(
            line.remedies[0]?.hasPrefix(
                "write each argument as an item of its own, as in [mogrify, -x]; an administrator")
                == true)
    }

    @Test func `a program whose file cannot be executed is refused`() {
        #expect(
            reading("run: [lost]").messages == """
                job.yaml:4:11: error: the program 'lost', '/opt/lost/bin/lost': there is no such file
                4 |   - run: [lost]
                  |           ^^^^
                  = correct its path under 'programs' in the config file, or correct the file
                """)
    }

    @Test(arguments: [
        ("run", ["4:5: 'run' has no 'command'"]),
        ("run: {format: png}", ["4:5: 'run' has no 'command'"]),
        ("run: []", ["4:10: 'command' is an empty list"]),
        ("run: {command: {program: denoise}}", ["4:20: 'command' must be a program and its arguments, not a mapping"]),
        ("run: [denoise, [3]]", ["4:20: 'command[1]' must be a text, not a list"]),
        ("run: {command: [denoise], format: jpeg}", ["4:39: 'format' cannot be 'jpeg'"]),
    ])
    func `what is no command is refused`(item: String, problems: [String]) {
        #expect(reading(item).problems == problems)
    }

    @Test func `a command has limits`() {
        let many = reading("run: [denoise, \(Array(repeating: "a", count: 257).joined(separator: ", "))]")
        #expect(many.problems == ["4:10: the command has 257 arguments and 521 bytes"])
        #expect(
            many.remedies == [
                "it may have 256 arguments and 32768 bytes; let the program read more from a file of its own"
            ])
        let long = reading("run: [denoise, \(String(repeating: "a", count: 32_761))]")
        #expect(long.problems == ["4:10: the command has 1 argument and 32769 bytes"])
    }

    @Test func `the schema takes both forms`() throws {
        let catalog = Self.catalog(Self.programs)
        let right = [
            "run: denoise", "run: [denoise, -s, 3]", "run: {command: denoise}",
            "run: {command: [denoise, 3], format: ppm}",
        ].map { SchemaCases.job("filters: [{\($0)}]") }
        #expect(right.filter { Reading($0, catalog: catalog).job == nil } == [])
        #expect(try SchemaChecker.accepts(right, catalog: catalog) == right.map { _ in true })
        let wrong = ["run: {}", "run: []", "run: {command: {a: b}}", "run: {command: denoise, format: jpeg}"]
            .map { SchemaCases.job("filters: [{\($0)}]") }
        #expect(wrong.filter { Reading($0, catalog: catalog).job != nil } == [])
        #expect(try SchemaChecker.accepts(wrong, catalog: catalog) == wrong.map { _ in false })
    }
}
