import Cluster
import Foundation
import JobModel
import Scheduling
import Shards
import Testing
import WorkerProtocol

/// With an `sbatch` that takes as many elements and jobs as the file `room` says, and then refuses as at a site's limit.
@Suite struct ClusterHandoffTests {
    private let programs: FakePrograms
    private let told = Told()

    init() throws {
        programs = try FakePrograms()
        try programs.program("scontrol", "echo 'MaxArraySize = 100'")
        try programs.program("squeue", "exit 0")
        try programs.program("scancel", "echo \"$1\" >> cancelled; [ ! -e \"job-$1\" ] || cat \"job-$1\" >> room")
        try programs.program(
            "sbatch",
            """
            want=1
            for word in "$@"; do case "$word" in --array=0-*) last="${word#--array=0-}"; want=$((${last%%%*} + 1));; esac; done
            room=0
            for number in $(cat room); do room=$((room + number)); done
            if [ "$want" -gt "$room" ]; then
                echo 'sbatch: error: AssocMaxSubmitJobLimit' >&2
                echo 'sbatch: error: Batch job submission failed: Job violates accounting/QOS policy' >&2
                exit 1
            fi
            echo "-$want" >> room
            job=$(($(cat count 2> /dev/null || echo 0) + 1))
            echo $job > count; echo "$want" > "job-$job"
            for word in "$@"; do case "$word" in --export=*) echo "$word" >> exported;; --array=*|--dependency=*) echo "$job $word" >> submitted;; esac; done
            echo $job
            """)
    }

    private func receive(_ shards: Int, room: Int) async throws -> HandoffError? {
        try Data("\(room)\n".utf8).write(to: programs.folder.appending(path: "room"))
        let setup = try programs.setup(variables: ["LANG", "PATH"])
        let handoff = ClusterHandoff(
            system: programs.slurm, options: ClusterOptions(), setup: setup,
            runFolder: "/s/run"
        ) { told.note($0) }
        let tasks = (1...shards).map { number in
            GatheredTask(
                Lease(
                    id: LeaseID(number), task: TaskID(FrameID(number), .frame), attempt: 1, round: 0,
                    worker: WorkerID(number), deadline: Timestamp(.seconds(60)), timeLimit: .seconds(60), estimate: 60,
                    spec: .compare(DigestTask(files: []))))
        }
        return await handoff.receive(tasks, from: 1)
    }

    @Test func `all shards are submitted, and a coordinator after them`() async throws {
        #expect(try await receive(7, room: 20) == nil)
        #expect(try programs.text("submitted") == "1 --array=0-6%16\n2 --dependency=afterany:1\n")
        #expect(told.all == [])
    }

    @Test func `a site that takes less gets what it takes, and the coordinator submits the rest`() async throws {
        #expect(try await receive(7, room: 5) == nil)
        #expect(try programs.text("submitted") == "1 --array=0-2%16\n2 --dependency=afterany:1\n")
        #expect(
            told.all == [
                "Slurm takes no more jobs for now; the run's coordinator submits the rest: sbatch: error: Batch job "
                    + "submission failed: Job violates accounting/QOS policy"
            ])
    }

    @Test func `shards make room for the coordinator`() async throws {
        #expect(try await receive(4, room: 4) == nil)
        #expect(try programs.text("submitted") == "1 --array=0-3%16\n")
        #expect(try programs.text("cancelled") == "1\n")
        #expect(try programs.text("count") == "2\n", "a coordinator that waits for nobody")
    }

    @Test func `a site that takes nothing ends it, and says why`() async throws {
        let trouble = try await receive(4, room: 0)
        #expect(
            trouble?.reason
                == .cluster("sbatch: error: Batch job submission failed: Job violates accounting/QOS policy"))
    }

    @Test func `a cluster's jobs get the named variables alone`() async throws {
        _ = try await receive(3, room: 100)
        let exported = try String(contentsOf: programs.folder.appending(path: "exported"), encoding: .utf8)
        // Elements and coordinators.
        #expect(exported == "--export=LANG,PATH\n--export=LANG,PATH\n")
    }
}
