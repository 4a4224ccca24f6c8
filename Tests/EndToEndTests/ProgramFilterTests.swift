import Catalogs
import ExamplePictures
import Foundation
import Geometry
import Glibc
import JobModel
import Raster
import Testing
import WorkerProtocol

/// Other programs as filters of a real worker, which gets its orders by hand.
@Suite(.serialized) struct ProgramFilterTests {
    private let workspace: Workspace
    private let temporary: String

    init() throws {
        workspace = try Workspace()
        temporary = "\(workspace.path)/tmp"
        try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
        try workspace.draw("a.png", width: 90, height: 60)
    }

    private struct Unexpected: Error {}

    /// Writes a program, and returns its digest.
    private func write(_ text: String, to name: String, mode: Int = 0o755) throws -> String {
        try workspace.write(text, to: name)
        try FileManager.default.setAttributes(
            [.posixPermissions: mode], ofItemAtPath: "\(workspace.path)/\(name)")
        return try digest(of: "\(workspace.path)/\(name)")
    }

    private func digest(of path: String) throws -> String {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/sha256sum")
        process.arguments = ["--", path]
        process.standardOutput = output
        try process.run()
        process.waitUntilExit()
        let words = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        return try #require(words.split(separator: " ").first.map(String.init))
    }

    private func worker(_ programs: [String: String], sandbox: String? = nil) throws -> WorkerConversation {
        let conditions = ProgramConditions(
            programs: programs.map { NamedProgram(name: $0.key, path: $0.value) }, readable: [])
        var environment = [ProgramConditions.variable: try conditions.text(), "TMPDIR": temporary]
        environment[SandboxMode.variable] = sandbox
        return try WorkerConversation(in: workspace, environment: environment)
    }

    private func task(
        _ command: ProgramCommand, format: String = "png", input: String = "a.png", save: SaveOptions = SaveOptions()
    ) -> TaskSpec {
        .frame(
            FrameTask(
                input: InputSpec(path: "\(workspace.path)/\(input)", maxPixels: 1_000_000, color: .keep),
                chain: [
                    FilterInvocation(
                        filter: "run", values: ["command": .command(command), "format": .word(format)])
                ],
                outputs: [
                    .init(
                        OutputSpec(format: "tiff", save: save), temporaryPath: "\(workspace.path)/out.tiff",
                        name: "out.tiff")
                ], tileMemory: 1 << 24, frameMemory: 1 << 28))
    }

    /// The failure of a frame that goes through a script of the shell.
    private func failure(
        of script: String, _ arguments: [String] = [], timeLimit: Duration? = nil
    ) throws -> TaskFailure {
        let digest = try write("#!/bin/sh\n\(script)\n", to: "program")
        let worker = try worker(["program": "\(workspace.path)/program"])
        let command = ProgramCommand(program: "program", arguments: arguments, sha256: digest)
        guard case .failed(_, let failure) = try worker.ask(task(command), timeLimit: timeLimit) else {
            throw Unexpected()
        }
        return failure
    }

    /// Draws a picture and compares it with what a program makes of it.
    private func output(
        of worker: WorkerConversation, _ command: ProgramCommand, format: String, _ picture: AnyRaster
    ) throws -> AnyRaster {
        try PictureFiles.write(picture, to: "\(workspace.path)/in.tiff", options: ["compression": .word("none")])
        let answer = try worker.ask(task(command, format: format, input: "in.tiff"))
        guard case .finished = answer else {
            Issue.record("\(answer)")
            throw Unexpected()
        }
        return try PictureFiles.read("\(workspace.path)/out.tiff")
    }

    private static func picture(_ layout: PixelLayout, _ format: SampleFormat) -> AnyRaster {
        let rect = PixelRect(x: 0, y: 0, width: 37, height: 11)
        let count = rect.area * layout.channels
        let picture: AnyRaster =
            switch format {
            case .u8:
                .u8(Raster(rect: rect, layout: layout, samples: (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37) }))
            case .u16:
                .u16(
                    Raster(
                        rect: rect, layout: layout, samples: (0..<count).map { UInt16(truncatingIfNeeded: $0 * 7919) }))
            case .f32:
                .f32(
                    Raster(rect: rect, layout: layout, samples: (0..<count).map { Float($0 % 997) / 500 - 0.25 }))
            }
        return picture.clearingTransparent()
    }

    @Test(arguments: [nil, "require", "off"])
    func `cat changes no pixel, in all formats that hold the pixels`(sandbox: String?) throws {
        let worker = try worker(["cat": "/bin/cat"], sandbox: sandbox)
        let command = ProgramCommand(program: "cat", sha256: try digest(of: "/bin/cat"))
        for format in ["png", "ppm", "tiff"] {
            for layout in PixelLayout.allCases where format != "ppm" || !layout.hasAlpha {
                for samples in SampleFormat.allCases where format == "tiff" || samples != .f32 {
                    let picture = Self.picture(layout, samples)
                    let output = try output(of: worker, command, format: format, picture)
                    #expect(output == picture, "\(format) \(layout) \(samples)")
                }
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty)
    }

    @Test func `a program gets its arguments, and what it returns is the output`() throws {
        // Inverts each sample after the head.
        let script = """
            #!/usr/bin/perl
            binmode STDIN; binmode STDOUT; local $/; my $all = <STDIN>;
            die "two arguments" unless "@ARGV" eq "-x a b";
            $all =~ s/^(P6\\s\\d+ \\d+\\s255\\s)//s; print $1, pack("C*", map { 255 - $_ } unpack("C*", $all));
            """
        let digest = try write(script, to: "invert")
        let worker = try worker(["invert": "\(workspace.path)/invert"], sandbox: "require")
        let command = ProgramCommand(program: "invert", arguments: ["-x", "a b"], sha256: digest)
        guard case .u8(let raster) = Self.picture(.rgb, .u8) else { throw Unexpected() }
        let output = try output(of: worker, command, format: "ppm", .u8(raster))
        #expect(
            output
                == .u8(Raster(rect: raster.rect, layout: raster.layout, samples: raster.samples.map { 255 - $0 })))
    }

    @Test func `a picture is made of fewer channels and bits that a program returns`() throws {
        // A gray picture of 8 bits, whatever it gets.
        let digest = try write(
            "#!/bin/sh\ncat > /dev/null\nprintf 'P5\\n37 11\\n255\\n'\nhead -c 407 /dev/zero\n", to: "gray")
        let worker = try worker(["gray": "\(workspace.path)/gray"])
        let command = ProgramCommand(program: "gray", sha256: digest)
        let output = try output(of: worker, command, format: "ppm", Self.picture(.rgb, .u16))
        #expect(output == AnyRaster(zeroed: output.rect, layout: .rgb, format: .u16))
    }

    @Test func `a program that fails gives its exit code and its last words`() throws {
        let failure = try failure(of: "echo one >&2; echo 'no model found' >&2; exit 3")
        #expect(failure.kind == .value)
        #expect(failure.message == "the program 'program' ended with exit code 3: one / no model found")
        #expect(try self.failure(of: "exit 4").message == "the program 'program' ended with exit code 4")
        #expect(
            try self.failure(of: "kill -SEGV $$").message
                == "the program 'program' was ended by signal 11 (Segmentation fault)")
    }

    @Test func `what a program returns is checked before it is decoded`() throws {
        #expect(
            try failure(of: "cat > /dev/null").message
                == "the program 'program' wrote nothing to its standard output; it has to write a PNG there")
        #expect(
            try failure(of: "cat > /dev/null; echo garbage").message
                == "the program 'program' wrote 8 bytes that are no PNG")
        let torn = try failure(of: "head -c 3000").message
        #expect(torn.hasPrefix("the program 'program' returned a PNG that cannot be read: "), "\(torn)")
        #expect(!torn.contains("the answer of"), "\(torn)")
        #expect(
            try failure(of: "cat > /dev/null; cat /dev/zero").message
                == "the program 'program' wrote more than 16 MB, which no picture of this size takes")
    }

    @Test func `a picture of another shape is refused`() throws {
        try PictureFiles.write(Scene.eclipse(width: 30, height: 20), to: "\(workspace.path)/small.png")
        try PictureFiles.write(Self.picture(.rgba, .u8), to: "\(workspace.path)/clear.png")
        try PictureFiles.write(Self.picture(.rgb, .u16), to: "\(workspace.path)/deep.png")
        func failure(_ file: String, for input: String) throws -> String {
            let bytes = try workspace.read(file).base64EncodedString(
                options: [.lineLength76Characters, .endLineWithLineFeed])
            let digest = try write(
                "#!/bin/sh\ncat > /dev/null\nbase64 -d <<END\n\(bytes)\nEND\n", to: "program")
            let worker = try worker(["program": "\(workspace.path)/program"])
            let task = task(ProgramCommand(program: "program", sha256: digest), input: input)
            guard case .failed(_, let failure) = try worker.ask(task) else { throw Unexpected() }
            #expect(failure.kind == .value)
            return failure.message
        }
        #expect(
            try failure("small.png", for: "a.png")
                == "the program 'program' returned 30 × 20 pixels for 90 × 60; it has to keep the size")
        try PictureFiles.write(Self.picture(.rgb, .u8), to: "\(workspace.path)/b.png")
        #expect(
            try failure("clear.png", for: "b.png")
                == "the program 'program' returned transparency for a picture without; it has to leave that out")
        #expect(
            try failure("deep.png", for: "b.png")
                == "the program 'program' returned samples of 16 bits for 8 bits; it has to keep them")
        try PictureFiles.write(Self.picture(.gray, .u8), to: "\(workspace.path)/c.png")
        #expect(
            try failure("b.png", for: "c.png")
                == "the program 'program' returned colours for a gray picture; it has to return gray")
    }

    @Test func `a format that cannot hold the pixels is refused`() throws {
        let worker = try worker(["cat": "/bin/cat"])
        let command = ProgramCommand(program: "cat", sha256: try digest(of: "/bin/cat"))
        func failure(_ format: String, _ picture: AnyRaster) throws -> String {
            try PictureFiles.write(picture, to: "\(workspace.path)/in.tiff")
            guard case .failed(_, let failure) = try worker.ask(task(command, format: format, input: "in.tiff")) else {
                throw Unexpected()
            }
            #expect(failure.kind == .value)
            return failure.message
        }
        #expect(
            try failure("ppm", Self.picture(.rgba, .u8))
                == "run: the program 'cat': ppm has no transparency, and this picture has; write 'format: png', or 'flatten' before"
        )
        #expect(
            try failure("png", Self.picture(.rgb, .f32))
                == "run: the program 'cat': png has no floating-point samples, and the filters of this picture have; write 'format: tiff'"
        )
    }

    @Test func `a program that does not end is ended at the time limit of its task`() throws {
        let failure = try failure(of: "echo still here >&2; exec sleep 1000", timeLimit: .milliseconds(400))
        #expect(failure.kind == .limit)
        #expect(
            failure.message
                == "the program 'program' was not done within the 0.4 s of this task: still here; raise 'timeout' if it needs longer"
        )
        #expect(processes(named: "sleep 1000").isEmpty)
    }

    @Test func `what a program does to its output does not reach the next one`() throws {
        // It writes the samples before the head, as writers of TIFF do.
        let seeking = try write(
            """
            #!/usr/bin/perl
            binmode STDIN; local $/; my $all = <STDIN>;
            my ($head) = $all =~ /^(P6\\s\\d+\\s\\d+\\s255\\s)/ or die "no picture\\n";
            sysseek(STDOUT, length $head, 0); syswrite(STDOUT, substr($all, length $head));
            sysseek(STDOUT, 0, 0); syswrite(STDOUT, $head);
            """, to: "seeking")
        let appending = try write(
            """
            #!/usr/bin/perl
            use Fcntl; fcntl(STDOUT, F_SETFL, O_APPEND) or die "no flags: $!\\n";
            exec "/bin/cat";
            """, to: "appending")
        let worker = try worker(
            ["appending": "\(workspace.path)/appending", "seeking": "\(workspace.path)/seeking"])
        let picture = Self.picture(.rgb, .u8)
        for (name, digest) in [("appending", appending), ("seeking", seeking)] {
            let output = try output(
                of: worker, ProgramCommand(program: name, sha256: digest), format: "ppm", picture)
            #expect(output == picture, "\(name)")
        }
    }

    @Test func `the folder of a program is removed, whatever it has in it`() throws {
        let digest = try write(
            """
            #!/usr/bin/perl
            mkdir "closed"; open(my $file, ">", "closed/file"); close $file; chmod 0300, "closed";
            for (1 .. 40) { mkdir "x" x 200; chdir "x" x 200; open(my $deep, ">", "file"); }
            exec "/bin/cat";
            """, to: "program")
        let worker = try worker(["program": "\(workspace.path)/program"])
        guard case .finished = try worker.ask(task(ProgramCommand(program: "program", sha256: digest))) else {
            throw Unexpected()
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary) == [])
    }

    @Test func `a large file of a program's own is not called a picture`() throws {
        let text = try failure(of: "exec head -c 40000000 /dev/zero 1<>large >large").message
        #expect(text.hasPrefix("the program 'program' wrote a file of more than "), "\(text)")
        #expect(text.hasSuffix(" MB in its folder"), "\(text)")
    }

    @Test func `a place that cannot be opened costs itself, and not the sandbox`() throws {
        let loop = "\(workspace.path)/loop"
        try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
        let digest = try write(
            "#!/bin/sh\nif cat '\(workspace.path)/a.png' > /dev/null 2>&1; then exit 9; fi\nexec cat\n", to: "program")
        let conditions = ProgramConditions(
            programs: [NamedProgram(name: "program", path: "\(workspace.path)/program")], readable: [loop])
        let worker = try WorkerConversation(
            in: workspace, environment: [ProgramConditions.variable: try conditions.text(), "TMPDIR": temporary])
        guard case .finished = try worker.ask(task(ProgramCommand(program: "program", sha256: digest))) else {
            throw Unexpected()
        }
    }

    @Test func `a program need not read its input`() throws {
        let bytes = try workspace.read("a.png").base64EncodedString(
            options: [.lineLength76Characters, .endLineWithLineFeed])
        let digest = try write("#!/bin/sh\nexec <&-\nbase64 -d <<END\n\(bytes)\nEND\n", to: "program")
        let worker = try worker(["program": "\(workspace.path)/program"])
        guard case .finished = try worker.ask(task(ProgramCommand(program: "program", sha256: digest))) else {
            throw Unexpected()
        }
        #expect(
            try PictureFiles.read("\(workspace.path)/out.tiff") == PictureFiles.read("\(workspace.path)/a.png"))
    }

    /// The processes whose command lines contain a text.
    private func processes(named text: String) -> [Int32] {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int32($0) }.filter { process in
            guard let line = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") else { return false }
            let words = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
            return words.contains(text)
        } ?? []
    }

    @Test(arguments: ["auto", "off"])
    func `nothing that a program has started outlives it`(sandbox: String) throws {
        let mark = "4321.\(UInt32.random(in: 1...1_000_000))"
        // One in the background, and one that leaves its group and its parent, as a service does.
        let digest = try write(
            "#!/bin/sh\nsleep \(mark) &\n( setsid sh -c 'setsid sleep \(mark) &' & )\ncat\n", to: "program")
        let worker = try worker(["program": "\(workspace.path)/program"], sandbox: sandbox)
        guard case .finished = try worker.ask(task(ProgramCommand(program: "program", sha256: digest))) else {
            throw Unexpected()
        }
        #expect(processes(named: mark).isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty)
    }

    @Test func `a worker that is killed leaves no program behind`() throws {
        let mark = "4321.\(UInt32.random(in: 1...1_000_000))"
        let digest = try write("#!/bin/sh\nsleep \(mark) &\nexec sleep \(mark)\n", to: "program")
        let worker = try worker(["program": "\(workspace.path)/program"])
        try worker.order(task(ProgramCommand(program: "program", sha256: digest)))
        while processes(named: "sleep \(mark)").count < 2 { sched_yield() }
        kill(worker.processID, SIGKILL)
        while !processes(named: mark).isEmpty { sched_yield() }
        while try !FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty { sched_yield() }
    }

    /// What a program finds in its process.
    @Test func `a program gets an empty folder, few variables and no other descriptors`() throws {
        let files = try self.failure(
            of: """
                exec /usr/bin/perl -e 'print STDERR "descriptor $_\\n" for grep { -e "/proc/self/fd/$_" } 0..99; exit 1'
                """)
        #expect(files.message.hasSuffix("exit code 1: descriptor 0 / descriptor 1 / descriptor 2"), "\(files.message)")
        #expect(try self.failure(of: "ls -A >&2; exit 1").message.hasSuffix("ended with exit code 1"))
        let environment = try self.failure(of: "env | sort | grep -v ^PWD | tr '\\n' ' ' >&2; exit 1").message
        #expect(
            environment.contains(
                "HOME=/nonexistent LC_ALL=C PATH=/usr/local/bin:/usr/bin:/bin TMPDIR=\(temporary)/penumbra-program-"))
        #expect(!environment.contains("PENUMBRA"), "\(environment)")
    }

    @Test func `a program reaches no other files, networks or processes`() throws {
        try workspace.write("secret", to: "secret")
        let own = workspace.path
        for (attempt, script) in [
            ("read", "cat '\(own)/secret' >&2"), ("write", "echo x > '\(own)/written'"),
            ("list", "ls '\(own)' >&2"), ("kill", "kill -0 \(getpid())"),
            ("network", "/usr/bin/perl -e 'use Socket; socket(my $s, PF_INET, SOCK_STREAM, 0) or exit 1'"),
            ("leave", "/usr/bin/perl -e 'use POSIX; defined(POSIX::setpgid(0, 0)) or exit 1'"),
        ] {
            let digest = try write("#!/bin/sh\n\(script) && exit 7\nexit 9\n", to: "program")
            let worker = try worker(["program": "\(own)/program"], sandbox: "require")
            let answer = try worker.ask(task(ProgramCommand(program: "program", sha256: digest)))
            guard case .failed(_, let failure) = answer else { throw Unexpected() }
            #expect(failure.message.contains("exit code 9"), "\(attempt): \(failure.message)")
        }
        #expect(!workspace.exists("written"))
        // Its own folder is open to it.
        let digest = try write("#!/bin/sh\ncat > mine && mkdir more && cat mine && test -w more\n", to: "program")
        let worker = try worker(["program": "\(own)/program"], sandbox: "require")
        guard case .finished = try worker.ask(task(ProgramCommand(program: "program", sha256: digest))) else {
            throw Unexpected()
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty)
    }

    @Test func `only the file of the plan is run`() throws {
        let digest = try write("#!/bin/sh\ncat\n", to: "program")
        let path = "\(workspace.path)/program"
        let worker = try worker(["program": path])
        let command = ProgramCommand(program: "program", sha256: digest)
        guard case .finished = try worker.ask(task(command)) else { throw Unexpected() }
        func failure(_ command: ProgramCommand) throws -> TaskFailure {
            guard case .failed(_, let failure) = try worker.ask(task(command)) else { throw Unexpected() }
            return failure
        }
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, 255)
        let machine = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        _ = try write("#!/bin/sh\ncat -\n", to: "program")
        let other = try failure(command)
        #expect(other.kind == .input)
        #expect(
            other.message
                == "the program 'program', \(path), is not the file with which the job was planned; run the job again, and give all "
                + "machines the same file (this one is \(machine))")
        try workspace.remove("program")
        #expect(try failure(command).message == "the program 'program', \(path): there is no such file")
        _ = try write("#!/bin/sh\ncat\n", to: "program", mode: 0o644)
        #expect(
            try failure(command).message
                == "the program 'program', \(path): this user may not execute it; run chmod +x on it")
        _ = try write("#!/bin/sh\ncat\n", to: "program", mode: 0o757)
        #expect(
            try failure(command).message
                == "the program 'program', \(path): every user may write to it; run chmod o-w on it")
        _ = try write("#!/bin/sh\ncat\n", to: "program")
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: workspace.path)
        #expect(
            try failure(command).message
                == "the program 'program', \(path): every user may replace it; run chmod o-w on \(PathNames.folder(of: path) ?? "")"
        )
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: workspace.path)
        _ = try write("#!/nowhere/interpreter\n", to: "program")
        #expect(
            try failure(ProgramCommand(program: "program", sha256: self.digest(of: path))).message
                == "the program 'program', \(path): its first line names the interpreter '/nowhere/interpreter', which cannot be "
                + "executed (No such file or directory)")
        // A program whose loader is not there.
        var binary = try Data(contentsOf: URL(filePath: "/bin/true"))
        binary.replaceSubrange(try #require(binary.range(of: Data("/ld-linux".utf8))), with: Data("/no-linux".utf8))
        try binary.write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        let text = try failure(ProgramCommand(program: "program", sha256: self.digest(of: path)))
        #expect(
            text.message
                == "the program 'program', \(path): its interpreter cannot be executed, or a library that loads it: they must "
                + "exist, below /usr or in 'sandbox_read' (No such file or directory)")
        _ = try write("cat\n", to: "program")
        #expect(
            try failure(ProgramCommand(program: "program", sha256: self.digest(of: path))).message
                == "the program 'program', \(path): it has no '#!' line, and is no program for this processor")
        _ = try write("#!/bin/sh\ncat\n", to: "program", mode: 0o4755)
        #expect(
            try failure(command).message
                == "the program 'program', \(path): it would run as another user; run chmod ug-s on it")
        try FileManager.default.createDirectory(
            atPath: "\(workspace.path)/open/bin", withIntermediateDirectories: true)
        _ = try write("#!/bin/sh\ncat\n", to: "open/bin/program")
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: "\(workspace.path)/open")
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(
            atPath: path, withDestinationPath: "\(workspace.path)/open/bin/program")
        #expect(
            try failure(command).message
                == "the program 'program', \(path): every user may replace it; run chmod o-w on \(workspace.path)/open")
        #expect(
            try failure(ProgramCommand(program: "another", sha256: digest)).message
                == "the program 'another' is not allowed on this machine, \(machine); add it to 'programs' in the config file there"
        )
    }

    @Test func `a program that changes while it runs is noticed`() throws {
        let path = "\(workspace.path)/program"
        // Without a sandbox, it can do this itself.
        let digest = try write("#!/bin/sh\ncat\ntouch '\(path)'\n", to: "program")
        let worker = try worker(["program": path], sandbox: "off")
        guard case .failed(_, let failure) = try worker.ask(task(ProgramCommand(program: "program", sha256: digest)))
        else { throw Unexpected() }
        #expect(failure.kind == .input)
        #expect(failure.message == "the program 'program', \(path), changed while it ran; run the job again")
    }

    @Test func `a worker without programs runs none`() throws {
        let worker = try WorkerConversation(in: workspace)
        let command = ProgramCommand(program: "cat", sha256: try digest(of: "/bin/cat"))
        guard case .failed(_, let failure) = try worker.ask(task(command)) else { throw Unexpected() }
        #expect(failure.message.hasPrefix("the program 'cat' is not allowed on this machine, "), "\(failure.message)")
    }
}
