import ArgumentParser
import Catalogs
import Coordination
import InPlace
import JobModel
import JobStorage
import Planning
import RenderFarm
import Reports
import Runs

struct GcCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gc",
        abstract: "Forget old runs, and remove files of killed ones.",
        discussion: """
            The records of outputs, all pictures, and the originals of blurred pictures stay. While no run goes on, it \
            also removes recipes that no record has any more. --originals removes the \
            originals that 'penumbra unblur' has put back under other names. --give-up removes the originals of pictures \
            that you have removed. Every run keeps the history small by itself: it keeps a hundred runs of each job, and \
            the attempts of the latest ten.
            """)

    @OptionGroup var options: RunLookupOptions
    @OptionGroup var printing: QuietOption

    @Option(help: ArgumentHelp("How many runs of each job are remembered.", valueName: "n"))
    var keep = 100

    @Flag(help: "Give up interrupted runs too, and remove what they have rendered.")
    var interrupted = false

    @Flag(
        help: ArgumentHelp(
            "Forget originals that were put back under other names, because their pictures had been renamed or copied. "
                + "Forget, too, which folders have lost their .penumbra-originals. Mount the disks of such pictures first."
        ))
    var originals = false

    @Option(
        name: .customLong("give-up"),
        help: ArgumentHelp(
            "Forget the originals of a picture that was removed since it was blurred, or of all such pictures of a folder. They "
                + "cannot be put back then, not even under other names. Repeatable.", valueName: "picture"),
        completion: .file())
    var givenUp: [String] = []

    func validate() throws {
        if givenUp.contains("") { throw ValidationError("A path of --give-up is empty; name a picture or a folder.") }
        if keep < 0 { throw ValidationError("--keep takes 0 or more, not \(keep).") }
    }

    func run() async throws {
        try await ConsoleReporter(json: options.json, quiet: printing.quiet).handling { reporter in
            let archive = try options.archive()
            let before = try archive.runs()
            var givenUp = 0
            // A detached run may have jobs on a cluster. Only 'cancel' ends them.
            for run in before
            where interrupted && run.condition == .interrupted && run.folder.state == archive.state {
                let removal = try await Blocking.run {
                    try archive.abandon(run, reason: "given up", now: currentTime())
                }
                if removal != .refused { givenUp += 1 }
            }
            try await Blocking.run { [keep] in
                RunFolder.sweep(state: archive.state)
                if !before.isEmpty { try StoredRuns.prune(keeping: keep, state: archive.state) }
            }
            let forgotten = before.count - (try archive.runs().count)
            let outcome = try await sweepOriginals(archive.state, reporter)
            if givenUp > 0 { reporter.say("\(Figures.plural(givenUp, "interrupted run")) given up") }
            reporter.say("\(Figures.plural(forgotten, "run")) forgotten")
            return outcome
        }
    }

    /// Removes what killed 'blur' and 'unblur' commands left. A running one does that itself.
    ///
    /// - Returns: the outcome for the originals of `--give-up`.
    private func sweepOriginals(_ state: String, _ reporter: ConsoleReporter) async throws -> RunOutcome {
        guard Originals.areKept(in: state), let lock = try await Originals.lock(state: state, wait: .zero) else {
            guard givenUp.isEmpty || !Originals.areKept(in: state) else {
                throw FarmError(
                    .busy,
                    "a 'penumbra blur' or 'penumbra unblur' is running\n   = give the originals up when it has ended")
            }
            return unknown(givenUp.map(GivenUpPath.init), reporter)
        }
        defer { withExtendedLifetime(lock) {} }
        let kept = Originals(state: state)
        let unneeded = await Blocking.run { kept.sweep() }
        if unneeded > 0 { reporter.say("\(Figures.plural(unneeded, "original")) that no picture needs removed") }
        let outcome = await Blocking.run { abandon(kept, reporter) }
        guard originals else { return outcome }
        let restored = await Blocking.run { kept.forgetRestored() }
        reporter.say(
            "\(Figures.plural(restored.forgotten, "original")) that \(restored.forgotten == 1 ? "was" : "were") put "
                + "back under another name forgotten")
        let lost = await Blocking.run { kept.forgetLostStores() }
        if lost > 0 {
            reporter.say("\(Figures.plural(lost, "folder")) without \(Originals.folderName) forgotten")
        }
        if restored.left > 0 {
            reporter.say(
                "\(Figures.plural(restored.left, "original")) left: the folders of the pictures are not there, or are others now"
            )
        }
        return outcome
    }

    private func abandon(_ kept: Originals, _ reporter: ConsoleReporter) -> RunOutcome {
        guard !givenUp.isEmpty else { return .done }
        var named = givenUp.map(GivenUpPath.init)
        // A folder that was moved is not remembered. Its originals are found where they are now.
        let search = PictureSearch(
            named.map(\.file.exactPath), in: reporter.folder, catalog: Catalog(versions: [:], filters: [], formats: []),
            without: kept.root, storeName: Originals.folderName)
        let folders =
            search.storeFolders + named.map(\.file.path) + named.map { PathText.folder(of: $0.file.path) }
        func isGivenUp(_ picture: InputFile) -> Bool {
            let isMeant = named.map { $0.means(picture) }
            for index in named.indices where isMeant[index] {
                named[index].isKnown = true
                named[index].holdsPictures = named[index].holdsPictures || named[index].holds(picture)
            }
            return isMeant.contains(true)
        }
        let (forgotten, left) = kept.abandon(andIn: folders, isGivenUp)
        let missing = kept.forgetMissingFolders(isGivenUp)
        reporter.say("\(Figures.plural(forgotten, "original")) of removed pictures given up")
        if missing > 0 {
            reporter.say("\(Figures.plural(missing, "folder")) that \(missing == 1 ? "is" : "are") not there forgotten")
        }
        for path in named where path.holdsPictures && path.file.isMissing && forgotten > 0 {
            reporter.warn(
                "\(PathText.shown(path.file.path, from: reporter.folder)): the folder is not there; if it was moved, its pictures "
                    + "stay blurred where they are now")
        }
        if left > 0 {
            reporter.complain(
                "\(Figures.plural(left, "original")) left: the pictures may be on a disk that is not mounted; mount it, or put "
                    + "them back with 'unblur --force'")
        }
        return max(unknown(named, reporter), left > 0 ? .someFailed : .done)
    }

    /// Reports paths that are probably wrong: they do not exist, and have no original.
    private func unknown(_ named: [GivenUpPath], _ reporter: ConsoleReporter) -> RunOutcome {
        let wrong = named.filter { !$0.isKnown && $0.file.isMissing }
        for path in wrong {
            reporter.complain(
                "\(PathText.shown(path.file.path, from: reporter.folder)): no original is kept of it; check its name"
            )
        }
        return wrong.isEmpty ? .done : .missingInput
    }
}

/// A picture or a folder that `--give-up` names.
private struct GivenUpPath {
    let file: InputFile
    /// The picture, or a picture in the folder, has an original.
    var isKnown = false
    /// The folder contains pictures with originals.
    var holdsPictures = false

    init(_ argument: String) {
        file = InputFile(
            bytes: PictureSearch.realPath(RawArguments.bytes(of: argument), in: currentFolder()), dir: "")
    }

    func means(_ picture: InputFile) -> Bool {
        file.exactPath == picture.exactPath || holds(picture)
    }

    func holds(_ picture: InputFile) -> Bool { PictureSearch.holds(file, picture) }
}
