import Cluster
import Foundation
import JobModel
import Testing
import WorkerProtocol

/// The coordinators of a run, with an `sbatch` that accepts everything, or nothing if there is a file `refuses`.
@Suite struct SuccessorJobTests {
    private let programs: FakePrograms
    private let told = Told()

    init() throws {
        programs = try FakePrograms()
        try programs.program("squeue", "exit 0")
        try programs.program(
            "sbatch",
            """
            [ ! -e refuses ] || { echo 'sbatch: error: Invalid qos specification' >&2; exit 1; }
            for word in "$@"; do case "$word" in --begin=*|--job-name=*) echo "$word" >> submitted;; esac; done
            echo 7
            """)
    }

    private func giveBack(epoch: Int, afterError: Bool) async throws -> String? {
        try await SuccessorJob.giveBack(
            "/s/run", afterError: afterError, programs.slurm, ClusterOptions(), programs.setup(epoch: epoch),
            timeout: FakePrograms.timeout
        ) { told.note($0) }
    }

    private func submit(_ coordinator: CoordinatorJob) async throws {
        let submitter = ArraySubmitter(system: programs.slurm, options: ClusterOptions(), setup: try programs.setup()) {
            told.note($0)
        }
        #expect(await submitter.submit(.coordinator(coordinator)) == .accepted(job: "7"))
    }

    private func submitFirst() async throws {
        try await submit(CoordinatorJob(name: "penumbra-r-1-coordinator", after: [], runFolder: "/s/run"))
    }

    @Test func `a run that was taken from a job is given back to one`() async throws {
        try await submitFirst()
        #expect(try await giveBack(epoch: 2, afterError: false) == "7")
        #expect(
            try programs.text("submitted")
                == "--job-name=penumbra-r-1-coordinator\n--job-name=penumbra-r-2-coordinator\n")
    }

    @Test func `after a trouble the job waits for some minutes`() async throws {
        try await submitFirst()
        #expect(try await giveBack(epoch: 3, afterError: true) == "7")
        #expect(try programs.text("submitted").hasSuffix("--job-name=penumbra-r-3-coordinator\n--begin=now+600\n"))
    }

    @Test func `a run that no job ever had is given to none`() async throws {
        #expect(try await giveBack(epoch: 2, afterError: false) == nil)
        #expect(!programs.has("submitted"))
    }

    @Test func `twenty coordinators that come no further are enough, and others are not counted`() async throws {
        func begin(_ job: Int, left: Int) async throws {
            let succession = SuccessorJob(job: "\(job)", runFolder: "/s/run", left: left)
            try await succession.begin(programs.slurm, ClusterOptions(), programs.setup(epoch: job)) { told.note($0) }
        }
        for job in 1...19 { try await begin(job, left: 5) }
        for job in 20...40 { try await begin(job, left: 100 - job) }
        try await begin(41, left: 5)
        #expect(told.all == [])
        try await begin(42, left: 5)
        #expect(told.all == ["this coordinator has no successor: 20 have not come any further with the run"])
        #expect(try programs.text("submitted").split(separator: "\n").count == 41)
    }

    @Test func `a run that is given back has a folder for what its jobs print`() async throws {
        try await submitFirst()
        _ = try await giveBack(epoch: 2, afterError: false)
        #expect(programs.has("logs"))
    }

    @Test func `a refusal by Slurm is reported with a remedy`() async throws {
        try await submitFirst()
        try programs.put("refuses")
        await #expect(
            throws: BatchError.refused(
                "sbatch: error: Invalid qos specification\n   = name another one with 'qos' under 'slurm'")
        ) { _ = try await giveBack(epoch: 2, afterError: false) }
    }
}
