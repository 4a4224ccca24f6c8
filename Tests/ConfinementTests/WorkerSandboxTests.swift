import Catalogs
import Confinement
import Testing

@Suite struct WorkerSandboxTests {
    private func sandbox(_ word: String?, folders: String? = nil, getsOpenFiles: Bool = true) throws -> WorkerSandbox {
        try WorkerSandbox(
            in: { ["PENUMBRA_SANDBOX": word, "PENUMBRA_SANDBOX_FOLDERS": folders][$0] ?? nil },
            getsOpenFiles: getsOpenFiles)
    }

    @Test func `a worker that nobody tells has the default`() throws {
        #expect(try sandbox(nil) == WorkerSandbox(mode: .auto, mayWrite: false))
        #expect(try sandbox("auto").mode == .auto)
        #expect(try sandbox("require").mode == .require)
        #expect(try sandbox("off").mode == .off)
    }

    @Test func `a worker may write if it creates folders, or gets no open files`() throws {
        #expect(try sandbox(nil, folders: "yes").mayWrite)
        #expect(try !sandbox(nil, folders: "no").mayWrite)
        #expect(try sandbox(nil, getsOpenFiles: false).mayWrite)
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
        #expect(whole.combined(with: whole.withFolders) == whole.withFolders)
    }
}
