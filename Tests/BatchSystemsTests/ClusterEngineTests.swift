import BatchSystems
import Cluster
import Engines
import Foundation
import Scheduling
import Shards
import Testing
import WorkerProtocol

@Suite struct ClusterEngineTests {
    private let slurm: FakeSlurm
    private let engine: ClusterEngine

    init() throws {
        slurm = try FakeSlurm()
        let folder = slurm.folder.path
        engine = ClusterEngine(
            client: slurm.client, options: SlurmOptions(),
            setup: ClusterEngine.Setup(
                folder: ShardFolder("\(folder)/run"), logs: "\(folder)/logs", run: "r", epoch: 1,
                program: "/bin/penumbra",
                versions: [:], workers: Shard.Workers(plugins: PluginConditions(), silence: .seconds(30)))
        ) { _ in }
    }

    private let lease = Lease(
        id: LeaseID(1), task: TaskID(FrameID(1), .frame), attempt: 1, round: 0, worker: WorkerID(1, slot: SlotID(1)),
        deadline: Timestamp(.seconds(60)), timeLimit: .seconds(60), spec: .compare(DigestTask(files: [])))

    @Test(arguments: [false, true])
    func `a run that ends while it submits leaves no job behind`(isCancelled: Bool) async throws {
        try slurm.program("scontrol", "echo 'MaxArraySize = 100'")
        try slurm.program("sbatch", "echo > begun; while [ ! -e go ]; do :; done; echo 7 > accepted; echo 7")
        try slurm.program("squeue", "exit 0")
        try slurm.program("scancel", "[ ! -e accepted ] || echo \"$@\" >> cancelled")
        let (commands, command) = AsyncStream.makeStream(of: EngineCommand.self)
        command.yield(.start(lease))
        let run = Task { await engine.run(commands) { _ in } }
        while !slurm.has("begun") { await Task.yield() }
        if isCancelled { run.cancel() } else { command.finish() }
        try slurm.put("go")
        await run.value
        #expect(try slurm.text("cancelled") == "--name=penumbra-r-1-1\n", "after it was accepted")
    }
}
