import Foundation
import Glibc

/// Jobs are handed in to a service while it, its runs or their workers are killed. Each key has to become one job, and each job one run
/// that is done.
struct KilledService: Injection {
    enum Way {
        /// The service gets SIGKILL at random moments.
        case moments
        /// The service dies after a step of a start.
        case steps
        /// Coordinators and workers get SIGKILL, and so does the service.
        case processes
        /// A thousand jobs through a hundred SIGKILLs, of the service and of coordinators and workers in turn.
        case many
    }

    let way: Way

    /// The first job renders all. Later ones have work only if they render it again.
    private func isForced(_ key: String) -> Bool { way == .many ? key.hasSuffix("0") : key != "key-1" }

    private static let steps = ["submitted", "named", "launched", "begun", "running", "exited", "ended"]

    func inject(into stage: Stage) throws {
        if way == .many { return try injectMany(into: stage) }
        let service = try ServiceProgram(stage)
        defer { service.kill() }
        let keys = (1...Int.random(in: 2...4, using: &stage.random)).map { "key-\($0)" }
        var open = keys
        var deaths = Int.random(in: 2...5, using: &stage.random)
        // Each one is followed by a pause of seconds, and five in a row would stop the job.
        var runDeaths = way == .processes ? Int.random(in: 1...2, using: &stage.random) : 0
        let end = Moment.now + stage.patience + 60
        while Moment.now < end {
            if !service.isRunning {
                let dies = way == .steps && deaths > 0
                if dies { deaths -= 1 }
                try service.start(dyingAfter: dies ? Self.steps.randomElement(using: &stage.random) : nil)
            }
            if let key = open.first {
                if try service.submit(key, isForced: isForced(key)) != nil { open.removeFirst() }
            } else if try service.jobs()?.allSatisfy(\.hasEnded) ?? false {
                break
            }
            pause(stage.moment(0...0.4))
            if runDeaths > 0, service.killRun(onlyWorkers: stage.random.chance(0.5)) { runDeaths -= 1 }
            if way != .steps, deaths > 0, stage.random.chance(0.5) {
                service.kill()
                deaths -= 1
            }
            stage.result.faults = service.deaths + service.runDeaths
        }
        try settle(service, keys)
    }

    private func injectMany(into stage: Stage) throws {
        let service = try ServiceProgram(stage)
        defer { service.kill() }
        let keys = (1...1_000).map { "key-\($0)" }
        var open = keys[...]
        let end = Moment.now + 3_600
        var nextKill = Moment.now
        while Moment.now < end {
            if !service.isRunning { try service.start(dyingAfter: nil) }
            if let key = open.first {
                if try service.submit(key, isForced: isForced(key)) != nil { open.removeFirst() }
            } else if try service.jobs()?.allSatisfy(\.hasEnded) ?? false {
                break
            } else {
                pause(0.5)
            }
            if service.deaths + service.runDeaths < 100, Moment.now > nextKill {
                if stage.random.chance(0.5) {
                    service.kill()
                } else {
                    // Some moments there is no run.
                    _ = service.killRun(onlyWorkers: stage.random.chance(0.5))
                }
                // Not so often that one job meets five of them in a row, which would stop it.
                nextKill = Moment.now + Double.random(in: 0...4, using: &stage.random)
            }
            stage.result.faults = service.deaths + service.runDeaths
        }
        try settle(service, keys)
    }

    /// A last service, which nobody disturbs.
    private func settle(_ service: ServiceProgram, _ keys: [String]) throws {
        let stage = service.stage
        service.kill()
        try service.start(dyingAfter: nil)
        guard service.isRunning, let jobs = try service.jobs() else {
            return stage.blame(.exitCode, "the service does not start any more: \(service.lastWords)")
        }
        var ids: [Int] = []
        for key in keys { if let id = try service.submit(key, isForced: isForced(key)) { ids.append(id) } }
        if Set(ids).count != keys.count || jobs.count != keys.count {
            stage.blame(.once, "\(keys.count) keys became \(jobs.count) jobs, and lead to \(ids)")
        }
        for job in jobs where job.state != "done" {
            stage.blame(.once, "job \(job.id) is \(job.state), not done: \(job.result)")
        }
        let runs = Set(jobs.map(\.run))
        let stored = try service.runs()
        // The state folder remembers the last hundred runs of a manifest.
        let isRemembered = jobs.count > 100 ? runs.isSuperset(of: stored) : runs == Set(stored)
        if runs.count != jobs.count || Set(stored).count != stored.count || !isRemembered {
            stage.blame(.once, "the jobs have the runs \(runs.sorted()), and the state folder has \(stored.sorted())")
        }
        // Files that were left by a kill are removed soon after the start.
        let end = Moment.now + 10
        while !service.strays.isEmpty, Moment.now < end { pause(0.01) }
        for stray in service.strays { stage.blame(.strays, "service/\(stray)") }
        if let code = service.stop(), code != 0 {
            stage.blame(.exitCode, "the service ended with \(code): \(service.lastWords)")
        }
        stage.checkOrphans()
    }
}

/// The service of a scenario, started again and again.
private final class ServiceProgram {
    struct Job {
        let id: Int
        let state: String
        let run: String
        let result: String
        let hasEnded: Bool
    }

    let stage: Stage
    private(set) var deaths = 0
    private(set) var runDeaths = 0
    private let program: String
    private var process: ChildProcess?
    private var commands = 0

    private var folder: String { "\(stage.workspace.path)/service" }
    private var socket: String { "\(folder)/control.sock" }
    private var log: String { "\(stage.workspace.path)/logs/service" }

    init(_ stage: Stage) throws {
        self.stage = stage
        program = URL(filePath: stage.programs.harness).deletingLastPathComponent().path + "/penumbra-service"
        guard access(program, X_OK) == 0 else { throw Skip(reason: "there is no penumbra-service beside this program") }
    }

    private func environment(_ more: [String: String]) -> [String: String] {
        stage.workspace.environment(stage.programs, adding: more.merging(["PENUMBRA_SERVER": socket]) { own, _ in own })
    }

    // MARK: The program

    var isRunning: Bool { process?.isRunning ?? false }

    /// Returns when it answers, or has died.
    ///
    /// - Parameter step: the step after which it dies; nil to live.
    func start(dyingAfter step: String?) throws {
        let process = try ChildProcess(
            program,
            [
                "--service-dir", folder, "--state-dir", stage.workspace.stateFolder, "--workers",
                "\(stage.variant.workers)",
                "--max-runs", "1",
            ], environment: environment(step.map { ["PENUMBRA_SERVICE_DIE_AFTER": $0] } ?? [:]), output: .file(log),
            errors: .file(log))
        self.process = process
        let end = Moment.now + 10
        while process.isRunning, Moment.now < end, try jobs() == nil { pause(0.02) }
        noteDeath()
    }

    private func noteDeath() {
        guard let ending = process?.poll() else { return }
        process = nil
        if ending == .signaled(SIGKILL) {
            deaths += 1
        } else {
            stage.blame(.exitCode, "the service ended with \(ending): \(lastWords)")
        }
    }

    func kill() {
        process?.signal(SIGKILL)
        _ = process?.wait(seconds: 5)
        noteDeath()
    }

    /// - Returns: the exit code; nil if it did not end in time.
    func stop() -> Int32? {
        process?.signal(SIGTERM)
        let ending = process?.wait(seconds: stage.patience)
        if ending == nil { stage.blame(.inTime, "the service did not end after SIGTERM") }
        process = nil
        return ending?.code
    }

    var lastWords: String {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return String(text.suffix(400))
    }

    // MARK: Its runs

    /// Kills the coordinator of a run, or its workers.
    ///
    /// - Returns: false if there was none.
    func killRun(onlyWorkers: Bool) -> Bool {
        let coordinators = stage.processes.living.filter { process in
            let input = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/0")
            return input?.hasPrefix("\(folder)/runs/") ?? false
        }
        let victims = onlyWorkers ? coordinators.flatMap(ProcessTable.children) : coordinators
        for process in victims { Glibc.kill(process, SIGKILL) }
        runDeaths += victims.count
        return !victims.isEmpty
    }

    // MARK: Commands

    /// - Returns: the number of the job; nil if the service died meanwhile.
    func submit(_ key: String, isForced: Bool) throws -> Int? {
        let force = isForced ? ["--force"] : []
        let answer = try command(["submit", stage.workspace.manifest, "--key", key, "--json"] + force, [0, 69])
        return answer.first?["id"] as? Int
    }

    /// All jobs; nil if the service does not answer.
    func jobs() throws -> [Job]? {
        guard access(socket, F_OK) == 0 else { return nil }
        let lines = try command(["queue", "--all", "--json"], [0, 69])
        guard lastCode == 0 else { return nil }
        return lines.map { line in
            let state = line["state"] as? String ?? "?"
            return Job(
                id: line["id"] as? Int ?? 0, state: state, run: line["run"] as? String ?? "",
                result: line["result"] as? String ?? "", hasEnded: line["ended"] != nil)
        }
    }

    /// The names of all runs of jobs that the state folder knows, but for those that were given up: a run that waits to be resumed is, if
    /// another run of the same manifest begins. Its job gets another run then.
    func runs() throws -> [String] {
        let lines = try command(["status", "--all", "--json", "--state-dir", stage.workspace.stateFolder], [0])
        return lines.filter { $0["exitCode"] as? Int != 137 }.compactMap { $0["run"] as? String }.filter {
            $0.hasPrefix("job-")
        }
    }

    /// Files of runs that have ended.
    var strays: [String] {
        Folder.files("\(folder)/runs").map { "runs/\($0)" }
            + Folder.files("\(folder)/manifests").map { "manifests/\($0)" }
    }

    private var lastCode: Int32 = 0

    /// - Returns: the objects that it printed, one a line.
    private func command(_ arguments: [String], _ allowed: Set<Int32>) throws -> [[String: Any]] {
        commands += 1
        let path = "\(stage.workspace.path)/logs/command-\(commands)"
        let process = try ChildProcess(
            stage.programs.penumbra, arguments, environment: environment([:]), output: .file(path + ".out"),
            errors: .file(path + ".err"))
        guard let ending = process.wait(seconds: stage.patience) else {
            stage.blame(.inTime, "'penumbra \(arguments[0])' did not end within \(Int(stage.patience)) s")
            process.signal(SIGKILL)
            _ = process.wait(seconds: 5)
            lastCode = 137
            return []
        }
        lastCode = ending.code
        if !allowed.contains(ending.code) {
            let words = (try? String(contentsOfFile: path + ".err", encoding: .utf8)) ?? ""
            stage.blame(.exitCode, "'penumbra \(arguments[0])' ended with \(ending): \(words.prefix(400))")
        }
        let text = (try? String(contentsOfFile: path + ".out", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap {
            (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any]
        }
    }
}
