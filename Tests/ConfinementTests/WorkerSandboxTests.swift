import Catalogs
import Confinement
import Testing

@Suite struct WorkerSandboxTests {
    private func sandbox(
        _ word: String?, folders: String? = nil, read: String? = nil, getsOpenFiles: Bool = true
    ) throws -> WorkerSandbox {
        let variables = [
            "PENUMBRA_SANDBOX": word, "PENUMBRA_SANDBOX_FOLDERS": folders, "PENUMBRA_SANDBOX_READ": read,
        ]
        return try WorkerSandbox(in: { variables[$0] ?? nil }, getsOpenFiles: getsOpenFiles)
    }

    @Test func `a worker that nobody tells has the default`() throws {
        #expect(try sandbox(nil) == WorkerSandbox(mode: .auto, reach: .places(WorkerPlaces())))
        #expect(try sandbox("auto").mode == .auto)
        #expect(try sandbox("require").mode == .require)
        #expect(try sandbox("off").mode == .off)
    }

    @Test func `a worker may write in the folders for its outputs, and everywhere only if it gets no open files`()
        throws
    {
        #expect(try sandbox(nil).reach == .places(WorkerPlaces()))
        #expect(try sandbox(nil, folders: "/").reach == .places(WorkerPlaces()))
        #expect(
            try sandbox(nil, folders: "/out/.penumbra-1-folders:/b").reach
                == .places(WorkerPlaces(writable: ["/out/.penumbra-1-folders", "/b"])))
        #expect(try sandbox(nil, getsOpenFiles: false).reach == .everything)
        #expect(try sandbox(nil, getsOpenFiles: false).reading(["/srv/lib.so"]).reach == .everything)
    }

    @Test func `a worker may read what it is told, the folders of its plugins, and no relative paths`() throws {
        let told = try sandbox(nil, read: "/opt/fonts:models::/run/tiles")
        #expect(told.reach == .places(WorkerPlaces(named: ["/opt/fonts", "/run/tiles"])))
        #expect(
            told.reading(["/srv/plugins"]).reach
                == .places(WorkerPlaces(named: ["/opt/fonts", "/run/tiles"], plugins: ["/srv/plugins"])))
    }

    @Test func `every worker may read fonts and libraries, but not the whole machine`() {
        let variables = [
            "HOME": "/home/ada", "XDG_DATA_HOME": "/data", "LD_LIBRARY_PATH": "/opt/lib::relative:/",
            "FONTCONFIG_FILE": "/f/fonts.conf",
        ]
        let all = WorkerPlaces(named: ["/tiles", "/"]).all { variables[$0] }
        for place in [
            "/home/ada/.fonts", "/home/ada/.config/fontconfig", "/data/fonts", "/opt/lib", "/f/fonts.conf",
            "/tiles", "/usr/lib", "/usr/share", "/proc/cpuinfo",
        ] {
            #expect(all.contains(place), "\(place)")
        }
        for place in ["/", "", "relative", "/home/ada", "/etc", "/proc", "/proc/self", "/tmp", "/usr", "/var"] {
            #expect(!all.contains(place), "\(place)")
        }
    }

    @Test func `a word that a worker does not know is refused, because it may be stricter`() {
        #expect(throws: WorkerSandboxError.unknownMode("strict")) { try sandbox("strict") }
        #expect(throws: WorkerSandboxError.unknownMode("")) { try sandbox("") }
        #expect(
            "\(WorkerSandboxError.unknownMode("strict"))"
                == "PENUMBRA_SANDBOX is 'strict', which this penumbra-worker does not know; reinstall both programs together"
        )
    }

    @Test func `without a sandbox, nothing is entered and nothing is missing`() throws {
        let report = try sandbox("off").enter()
        #expect(report == .off)
        #expect(report.missing.isEmpty)
    }

    @Test func `a process with threads is not confined by halves`() {
        // This one has many, and goes on as it is.
        #expect {
            _ = try sandbox("auto").enter()
        } throws: { error in
            if case WorkerSandboxError.tooManyThreads(let count) = error { count > 1 } else { false }
        }
        #expect(
            "\(WorkerSandboxError.tooManyThreads(3))"
                == "the worker has 3 threads before it is confined, and a sandbox holds for one; report this, and set 'sandbox: off' until it is corrected"
        )
    }

    @Test func `what is required and missing is told with its reasons`() {
        #expect(
            "\(WorkerSandboxError.incomplete(["there is no a", "b is off"]))"
                == "'sandbox: require' cannot be kept, because there is no a, and b is off; correct that, or set 'sandbox: auto'"
        )
    }

    @Test func `two reports together say what holds for both`() {
        let whole = SandboxReport(limitsCalls: true, files: .handedOver)
        let part = SandboxReport(limitsCalls: false, files: .any, missing: ["there is no a"])
        #expect(whole.combined(with: whole) == whole)
        #expect(whole.combined(with: part) == part)
        #expect(part.combined(with: whole) == part)
        #expect(part.combined(with: part) == part)
        #expect(whole.withFolders.files == .ownFolders)
        #expect(whole.combined(with: whole.withFolders) == whole.withFolders)
        let readable = SandboxReport(limitsCalls: true, files: .allReadable, missing: ["there is no b"])
        #expect(whole.combined(with: readable) == readable)
        #expect(readable.combined(with: part).files == .any)
        #expect(readable.withFolders.files == .any)
        #expect(readable.combined(with: whole.withFolders).files == .any)
    }
}
