/// The kinds of scenarios, each with its line for `penumbra-faults list`.
enum ScenarioKind: String, CaseIterable, Sendable {
    case calm
    case workerKill = "worker-kill"
    case workerStop = "worker-stop"
    case workerCrash = "worker-crash"
    case workerHang = "worker-hang"
    case workerSilent = "worker-silent"
    case quarantine
    case coordinatorKill = "coordinator-kill"
    case interrupt
    case twoRuns = "two-runs"
    case corruptTile = "corrupt-tile"
    case corruptCanvas = "corrupt-canvas"
    case corruptMetadata = "corrupt-metadata"
    case corruptOutput = "corrupt-output"
    case corruptStopped = "corrupt-stopped"
    case messageDelay = "message-delay"
    case messageDuplicate = "message-duplicate"
    case greetingDuplicate = "greeting-duplicate"
    case messageDrop = "message-drop"
    case messageGarble = "message-garble"
    case messageFlip = "message-flip"
    case messageOversize = "message-oversize"
    case diskFull = "disk-full"
    case noInodes = "no-inodes"
    case readOnly = "read-only"
    case quota
    case slowDisk = "slow-disk"
    case fileSizeLimit = "file-size-limit"
    case clockJump = "clock-jump"
    case powerLoss = "power-loss"
    case databaseLoss = "database-loss"
    case databaseDamage = "database-damage"
    case pluginSlow = "plugin-slow"
    case pluginDies = "plugin-dies"
    case pluginFatal = "plugin-fatal"
    case inputReplaced = "input-replaced"
    case inputRemoved = "input-removed"
    case storm
    case lieReport = "lie-report"
    case lieGreeting = "lie-greeting"
    case lieFile = "lie-file"
    case lieRun = "lie-run"
    case lieIndex = "lie-index"
    case lieReceipt = "lie-receipt"
    case lieShard = "lie-shard"
    case lieShardReport = "lie-shard-report"
    case lieBlurReport = "lie-blur-report"
    case lieOriginal = "lie-original"
    case folderSwap = "folder-swap"
    case fewFiles = "few-files"
    case fewThreads = "few-threads"
    case fewAddresses = "few-addresses"
    case fewWatches = "few-watches"
    case fewBytes = "few-bytes"
    case believedLie = "believed-lie"
    case shardKill = "shard-kill"
    case shardTwice = "shard-twice"
    case shardOrder = "shard-order"
    case shardDamage = "shard-damage"
    case shardResume = "shard-resume"
    case serviceKill = "service-kill"
    case serviceStep = "service-step"
    case serviceRunKill = "service-run-kill"
    case serviceMany = "service-many"

    /// Kinds that seeds choose from.
    enum Family: String, CaseIterable, Sendable {
        case standard
        /// Prepared shards that others do.
        case shards
        /// Jobs that are handed in to a service.
        case service

        var kinds: [ScenarioKind] {
            switch self {
            case .standard:
                ScenarioKind.allCases.filter {
                    ![.calm, .believedLie, .serviceMany].contains($0) && !Family.shards.kinds.contains($0)
                        && !Family.service.kinds.contains($0)
                }
            case .shards: [.shardKill, .shardTwice, .shardOrder, .shardDamage, .shardResume]
            case .service: [.serviceKill, .serviceStep, .serviceRunKill]
            }
        }
    }

    var summary: String {
        switch self {
        case .calm: "nothing is disturbed"
        case .workerKill: "workers get SIGKILL at random moments"
        case .workerStop: "workers are stopped (SIGSTOP) and go on later"
        case .workerCrash: "workers crash (SIGSEGV) in the middle of tasks, once in a task"
        case .workerHang: "a worker is stopped for good; 'timeout' ends it"
        case .workerSilent: "a worker is stopped for good; that nothing is heard of it ends it"
        case .quarantine: "one task crashes twice: its picture is set aside, all others are done"
        case .coordinatorKill: "penumbra gets SIGKILL at random moments, and is run again"
        case .interrupt: "penumbra gets SIGINT, SIGTERM or SIGHUP"
        case .twoRuns: "a second run is started while the first one is stopped"
        case .corruptTile: "tile files are damaged between their writing and their reading"
        case .corruptCanvas: "canvases are damaged between their writing and their reading"
        case .corruptMetadata: "the metadata that a canvas task writes for the stitch are damaged"
        case .corruptOutput: "outputs that are written aside are damaged before they are checked ('verify: full')"
        case .corruptStopped: "canvases and tiles are damaged while the whole run is stopped"
        case .messageDelay: "orders and reports come late"
        case .messageDuplicate: "orders and reports come twice"
        case .greetingDuplicate: "a worker says twice that it is ready"
        case .messageDrop: "orders and reports are lost; 'timeout' ends the wait"
        case .messageGarble: "noise is laid over parts of orders and reports"
        case .messageFlip: "single bits of orders and reports are flipped"
        case .messageOversize: "messages claim to have gigabytes"
        case .diskFull: "the disk of the outputs, of the state or of both is full, until room is made (needs root)"
        case .noInodes: "the disk has no inodes left for new files, until others are removed (needs root)"
        case .readOnly:
            "the outputs' disk becomes read-only in the middle of a run, and can be written to later (needs root)"
        case .quota:
            "only so many bytes may be written to the outputs, the state or both (EDQUOT), until they may again"
        case .slowDisk: "writing, syncing and renaming take up to 60 ms"
        case .fileSizeLimit: "no file may grow beyond a limit (RLIMIT_FSIZE), until the limit is gone"
        case .clockJump: "the time of day jumps by days, forwards and backwards"
        case .powerLoss: "everything is killed, and what was not synced is lost"
        case .databaseLoss: "penumbra is killed, and its database removed"
        case .databaseDamage: "the database is truncated, zeroed in part, or has bits flipped"
        case .pluginSlow: "a plugin takes its time on some pictures"
        case .pluginDies: "a plugin crashes, aborts or exits once on some pictures"
        case .pluginFatal: "a plugin crashes on every picture: the job stops and names it"
        case .inputReplaced: "pictures are overwritten or replaced while the job runs"
        case .inputRemoved: "a picture is removed while the job runs, and comes back"
        case .storm: "many of these at once"
        case .lieReport: "workers report what is not so: other paths, counts, sizes, digests, types"
        case .lieGreeting: "workers offer what is not so"
        case .lieFile: "what a worker has written becomes a link, a pipe, a folder, or goes"
        case .lieRun: "the folder of a killed run says what is not so, or holds links, pipes, others' files"
        case .lieIndex: "the same of the indexes beside outputs, with and without the database"
        case .lieReceipt: "the same of receipts"
        case .lieShard: "the same of the shards, results, logs and records of a run that others do"
        case .lieShardReport: "workers of shards report what is not so"
        case .lieBlurReport: "workers lie while pictures are blurred in place and put back"
        case .lieOriginal:
            "the store of blurred pictures' originals says what is not so, or holds links, pipes, others' files"
        case .folderSwap: "in mid-run the folder of outputs becomes a link to another folder"
        case .fewFiles: "only so many files may be open (RLIMIT_NOFILE)"
        case .fewThreads: "a user may have only so many processes and threads (RLIMIT_NPROC; needs root)"
        case .fewAddresses: "a process may have only so many addresses (RLIMIT_AS)"
        case .fewWatches: "folders may be watched only so often ('run --watch'; inotify, in a user namespace)"
        case .fewBytes: "a control group has only so much memory (needs root)"
        case .believedLie: "a worker writes another byte, and nobody reads it back: has to be found ('mutations')"
        case .shardKill: "processes that do prepared shards get SIGKILL; some shards are done again, some never"
        case .shardTwice: "two processes do the same prepared shard at the same time"
        case .shardOrder: "some prepared shards are done, in any order, and the others by 'resume'"
        case .shardDamage: "files of shards that were done are cut, emptied, exchanged, filled with noise or removed"
        case .shardResume: "some prepared shards are done, and 'resume' gets SIGKILL at random moments"
        case .serviceKill: "jobs are handed in while the service gets SIGKILL at random moments"
        case .serviceStep: "jobs are handed in while the service dies between the steps of a start"
        case .serviceRunKill: "jobs are handed in while the service, its coordinators and their workers get SIGKILL"
        case .serviceMany:
            "a thousand jobs through a hundred SIGKILLs of the service, coordinators and workers (15 minutes)"
        }
    }

    var injection: any Injection {
        switch self {
        case .calm: Calm()
        case .workerKill: SignalledWorkers(signal: .kill)
        case .workerStop: SignalledWorkers(signal: .stop)
        case .workerCrash: StruckTasks(faults: [.crash], chance: 0.25, limit: 4)
        case .workerHang: StruckTasks(faults: [.hang], chance: 0.3, limit: 1, timeout: 3)
        case .workerSilent: StruckTasks(faults: [.hang], chance: 0.3, limit: 1, silence: 5)
        case .quarantine: Quarantine()
        case .coordinatorKill: KilledCoordinator()
        case .interrupt: Interruption()
        case .twoRuns: TwoRuns()
        case .corruptTile: DamagedFiles(kinds: ["tile"], chance: 0.5)
        case .corruptCanvas: DamagedFiles(kinds: ["canvas"], chance: 0.8)
        case .corruptMetadata: DamagedFiles(kinds: ["canvas"], chance: 0.8, faults: [.flipMetadata])
        case .corruptOutput: DamagedFiles(kinds: ["frame", "stitch"], chance: 0.5)
        case .corruptStopped: DamageWhileStopped()
        case .messageDelay: StruckTasks(faults: [.delayOrder, .delayReport], chance: 0.5, limit: 8)
        case .messageDuplicate:
            StruckTasks(faults: [.duplicateOrder, .duplicateReport], chance: 0.4, limit: 5, timeout: 3)
        case .greetingDuplicate: StruckTasks(faults: [.duplicateReady], chance: 1, limit: 3, timeout: 3)
        case .messageDrop: StruckTasks(faults: [.dropOrder, .dropReport], chance: 0.3, limit: 1, timeout: 3)
        case .messageGarble: StruckTasks(faults: [.garbleOrder, .garbleReport], chance: 0.3, limit: 4, timeout: 3)
        case .messageFlip: StruckTasks(faults: [.flipOrder, .flipReport], chance: 0.3, limit: 2, timeout: 3)
        case .messageOversize: StruckTasks(faults: [.oversizeOrder, .oversizeReport], chance: 0.3, limit: 4)
        case .diskFull: FullDisk()
        case .noInodes: NoInodes()
        case .readOnly: ReadOnlyDisk()
        case .quota: Quota()
        case .slowDisk: SlowDisk()
        case .fileSizeLimit: SmallFiles()
        case .clockJump: JumpingClock()
        case .powerLoss: PowerLoss()
        case .databaseLoss: LostDatabase()
        case .databaseDamage: DamagedDatabase()
        case .pluginSlow: FaultyPlugin(mode: .slow)
        case .pluginDies: FaultyPlugin(mode: .dies)
        case .pluginFatal: FaultyPlugin(mode: .fatal)
        case .inputReplaced: ReplacedInputs(isRemoved: false)
        case .inputRemoved: ReplacedInputs(isRemoved: true)
        case .storm: Storm()
        case .lieReport: LyingWorkers(faults: [.lie, .madeUp], codes: [0, 1, 69, 74])
        case .lieGreeting: LyingWorkers(faults: [.lieReady], codes: Stage.refusals)
        case .lieFile: LyingWorkers(faults: [.replaceFile], codes: [0, 1, 69, 74])
        case .lieRun: LyingFiles(kind: .runs)
        case .lieIndex: LyingFiles(kind: .indexes)
        case .lieReceipt: LyingFiles(kind: .receipts)
        case .lieShard: LyingFiles(kind: .shards)
        case .lieShardReport: LyingShards()
        case .lieBlurReport: LyingBlur()
        case .lieOriginal: LyingOriginals()
        case .folderSwap: SwappedFolder()
        case .fewFiles: Scarcity(resource: .files)
        case .fewThreads: Scarcity(resource: .threads)
        case .fewAddresses: Scarcity(resource: .addresses)
        case .fewWatches: FewWatches()
        case .fewBytes: Scarcity(resource: .bytes)
        case .believedLie: StruckTasks(faults: [.plantByte], chance: 1, limit: 4)
        case .shardKill: DisturbedShards(way: .killed)
        case .shardTwice: DisturbedShards(way: .twice)
        case .shardOrder: DisturbedShards(way: .unordered)
        case .shardDamage: DisturbedShards(way: .damaged)
        case .shardResume: DisturbedShards(way: .resumed)
        case .serviceKill: KilledService(way: .moments)
        case .serviceStep: KilledService(way: .steps)
        case .serviceRunKill: KilledService(way: .processes)
        case .serviceMany: KilledService(way: .many)
        }
    }

    /// The jobs that it is tried on.
    var variants: [JobVariant] {
        switch self {
        case .corruptTile, .corruptCanvas, .corruptMetadata, .corruptStopped: JobVariant.tiled + [.identity]
        case .corruptOutput: JobVariant.all.filter { $0.more.contains("verify: full") }
        case .pluginSlow, .pluginDies, .pluginFatal, .quarantine, .serviceKill, .serviceStep, .serviceRunKill,
            .serviceMany:
            JobVariant.all.filter { !$0.hasBrokenPicture }
        case .inputReplaced, .inputRemoved:
            JobVariant.all.filter { !$0.hasBrokenPicture && $0.name != "hash-names" && $0.name != "identity" }
        case .lieReceipt: JobVariant.all.filter(\.hasReceipts)
        case .believedLie: JobVariant.whole.filter { $0.name == "frames-png" }
        default: JobVariant.all
        }
    }

    var mayBeginWithOutputs: Bool { ![.inputReplaced, .inputRemoved, .databaseDamage].contains(self) }

    var mayBeginWithEdits: Bool {
        ![
            .powerLoss, .databaseLoss, .inputReplaced, .inputRemoved, .pluginFatal, .quarantine, .diskFull, .noInodes,
            .readOnly, .quota, .lieReport, .lieGreeting, .lieFile, .lieRun, .lieIndex, .lieReceipt, .lieShard,
            .lieShardReport, .serviceKill, .serviceStep, .serviceRunKill, .serviceMany,
        ].contains(self)
    }
}
