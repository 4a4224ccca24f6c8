import Catalogs
import Confinement
import Testing

@Suite struct WorkerSandboxTests {
    private func mode(_ word: String?) throws -> SandboxMode {
        try WorkerSandbox.mode { name in name == "PENUMBRA_SANDBOX" ? word : nil }
    }

    @Test func `a worker that nobody tells has the default`() throws {
        #expect(try mode(nil) == .auto)
        #expect(try mode("auto") == .auto)
        #expect(try mode("require") == .require)
        #expect(try mode("off") == .off)
    }

    @Test func `a word that a worker does not know is refused, because it may be stricter`() {
        #expect(throws: WorkerSandboxError.unknownMode("strict")) { try mode("strict") }
        #expect(throws: WorkerSandboxError.unknownMode("")) { try mode("") }
        #expect(
            "\(WorkerSandboxError.unknownMode("strict"))"
                == "PENUMBRA_SANDBOX is 'strict', which this penumbra-worker does not know; reinstall both programs together"
        )
    }

    @Test func `without a sandbox, nothing is entered and nothing is missing`() throws {
        let report = try WorkerSandbox.enter(.off)
        #expect(report == .off)
    }

    @Test func `a process with threads is not confined by halves`() {
        // This one has many, and goes on as it is.
        #expect {
            try WorkerSandbox.enter(.auto)
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
}
