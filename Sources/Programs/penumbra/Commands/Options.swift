import ArgumentParser
import Settings

/// Where settings, state and scratch space are; the same for every command.
struct PlaceOptions: ParsableArguments {
    @Option(name: .customLong("config"), help: ArgumentHelp("The config file.", valueName: "file"))
    var configFile: String?

    @Option(help: ArgumentHelp("Where runs keep their state.", valueName: "dir"))
    var stateDir: String?

    @Option(help: ArgumentHelp("Where canvases and tiles go while a run lasts.", valueName: "dir"))
    var scratch: String?

    @Option(help: ArgumentHelp("Worker processes at once. Default: one a core.", valueName: "n"))
    var workers: Int?

    func validate() throws {
        if let workers, !(1...1024).contains(workers) {
            throw ValidationError("--workers takes 1 to 1024, not \(workers).")
        }
    }
}

/// Which manifests, and what of them is changed for this time.
struct ManifestOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp("Job manifests.", valueName: "manifest"), completion: .file(extensions: ["yaml", "yml"]))
    var manifests: [String]

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Changes a value of the manifest, for this time: 'filters[0].gaussian.radius=14'. May be given again.",
            valueName: "path=value"))
    var overrides: [String] = []
}

/// Which frames of the jobs.
struct SelectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only inputs that match, by path from the manifest's folder or by name.", valueName: "glob"))
    var only: String?

    @Option(help: ArgumentHelp("Only the first n frames.", valueName: "n"))
    var limit: Int?

    @Flag(help: "Nothing to do is no error when no file matches.")
    var allowEmpty = false

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit takes 1 or more, not \(limit).") }
    }
}
