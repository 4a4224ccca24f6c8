import Glibc

/// A plugin in front of the job's filters that copies pixels, and does worse.
struct FaultyPlugin: StagedInjection {
    enum Mode: String {
        /// Sleeps now and then.
        case slow
        /// Ends its worker, once on one picture and on two pictures at most.
        case dies
        /// Ends every worker.
        case fatal
    }

    let mode: Mode

    func prepare(_ stage: Stage) throws {
        _ = try Shims.build("faulty", PackageResources.plugin_c, in: stage.workspace, folder: "plugins")
        stage.standing["PENUMBRA_PLUGIN_PATH"] = "\(stage.workspace.path)/plugins"
        stage.filter = "faulty"
        if mode == .dies { stage.extraLines.append("timeout: 3s") }
    }

    func clearAway(_ stage: Stage) {}

    func inject(into stage: Stage) throws {
        stage.environment["PENUMBRA_FAULTS_PLUGIN"] = mode.rawValue
        stage.environment["PENUMBRA_FAULTS_FOLDER"] = stage.workspace.faults
        stage.environment["PENUMBRA_FAULTS_SEED"] = "\(stage.random.next() >> 1)"
        let run = try stage.start()
        stage.finish(run, mode == .fatal ? [1] : stage.doneCodes)
        stage.result.faults += Folder.names(stage.workspace.faults).count { $0.hasPrefix("plugin-struck") }
        guard mode == .fatal else { return }
        if !run.lastWords.contains("'faulty'") {
            stage.blame(.causes, "a plugin that always crashes is not named: \(run.lastWords)")
        }
        stage.checkOrphans()
        stage.checkLeftovers()
    }
}
