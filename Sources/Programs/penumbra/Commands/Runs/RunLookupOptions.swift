import ArgumentParser
import Coordination
import Planning
import Runs
import Settings

/// What all commands about runs have in common.
struct RunLookupOptions: ParsableArguments {
    @Option(name: .customLong("config"), help: ArgumentHelp("The config file.", valueName: "file"))
    var configFile: String?

    @Option(help: ArgumentHelp("Where runs keep their state.", valueName: "dir"))
    var stateDir: String?

    @Flag(help: "Print JSON lines, the first {\"schema\":1}, the last the summary.")
    var json = false

    var place: LocationOptions {
        var place = LocationOptions()
        (place.configFile, place.stateDir, place.scratch, place.workers) = (configFile, stateDir, nil, nil)
        return place
    }

    func archive(_ shared: RunDirOption? = nil) throws -> RunArchive {
        if let folder = shared?.runDir {
            return try RunArchive(runFolder: PathText.normalized(folder, in: currentFolder()))
        }
        let state = try Settings.load(place).stateFolder.value
        return try RunArchive(state: state)
    }
}

/// Runs that go on without the process which began them.
struct RunDirOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A detached or prepared run's folder, or one that holds such runs, from any machine that sees it.",
            valueName: "dir"))
    var runDir: String?
}

/// One run that has not ended.
struct OpenRunArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "A run, by its name or the beginning of it, or a job, whose latest run is meant. Default: the run that has not "
                + "ended, where there is only one.", valueName: "run"))
    var run: String?
}

/// One run.
struct RunArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "A run, by its name or the beginning of it, or a job, whose latest run is meant. Default: the latest run.",
            valueName: "run"))
    var run: String?
}
