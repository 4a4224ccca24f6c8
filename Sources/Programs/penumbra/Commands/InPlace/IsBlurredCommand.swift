import ArgumentParser
import Coordination
import InPlace
import JobModel
import Planning
import RenderFarm
import Reports
import SafeFiles

struct IsBlurredCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "is-blurred",
        abstract: "Check whether pictures are blurred. The exit code is the answer.",
        discussion: """
            A picture is blurred if its bytes are those that 'penumbra blur' wrote. Records of other users are not trusted, \
            except those of the picture's owner. A folder stands for all pictures in it and below. It also \
            stands for the files that 'penumbra blur' lists there and does not blur, such as hidden pictures.

            Exit codes:

              0   All pictures are blurred.
              1   At least one picture is not blurred, or may not be.
              64  The command line is wrong.
              66  A picture is missing, or there are no pictures at the given paths.
              74  A folder cannot be read.
            """)

    @Argument(help: ArgumentHelp("Pictures, or folders of pictures.", valueName: "picture"), completion: .file())
    var pictures: [String]

    @OptionGroup(title: "Location Options") var location: LocationOptions

    @Flag(name: .shortAndLong, help: "Answer by the exit code alone.")
    var quiet = false

    @Flag(help: "Print JSON lines. The first names their version, and the last is the summary.")
    var json = false

    func validate() throws {
        if pictures.contains("") { throw ValidationError("A path is empty; name pictures or folders.") }
    }

    func run() async throws {
        try await ConsoleReporter(json: json, quiet: quiet).handling { reporter in
            let session = try await InPlaceSession(location)
            let search = reporter.search(pictures, session)
            var skipped = search.passedBy()
            if search.pictures.isEmpty, skipped.isNothing, search.problems.isEmpty {
                throw FarmError(.missingInput, "there are no pictures at the given paths")
            }
            let (inspected, stop) = try await InspectedPicture.inspect(
                at: search.pictures.map(\.file), session.originals, readsOriginals: false,
                settings: session.farm.runSettings, loop: session.loop)
            if stop != nil { return reporter.report(stop, left: inspected.count) }
            let (more, stopBefore) = try await session.takeBlurred(from: &skipped)
            if stopBefore != nil { return reporter.report(stopBefore, left: more.count) }
            let answers = (inspected + more).map { InPlaceAnswer($0) }
            show(answers, of: search)
            let statuses = answers.map(\.status)
            if json || !quiet { reporter.report(skipped, all: "--json") }
            let sharp = skipped.isNothing ? RunOutcome.done : .someFailed
            return max(statuses.max() ?? .done, sharp, search.problems.isEmpty ? .done : .storage)
        }
    }

    /// The most pictures of folders that are named because they are not blurred.
    private static let mostSharp = 20

    /// Pictures that the command line names all have a line. Of those in folders that are not blurred, only some have one.
    private func show(_ answers: [InPlaceAnswer], of search: PictureSearch) {
        if json { return answers.forEach { $0.line.print() } }
        guard !quiet else { return }
        let named = Set(search.pictures.filter(\.isNamed).map { PathKey($0.file.path) })
        var sharp = 0
        for answer in answers {
            let text =
                "\(PathText.shown(answer.line.path, from: currentFolder())): \(VisibleText.message(answer.words))"
            guard answer.status != .done else {
                Console.print(text)
                continue
            }
            let isNamed = named.contains(PathKey(answer.line.path))
            if !isNamed { sharp += 1 }
            if isNamed || sharp <= Self.mostSharp { Console.complain(text) }
        }
        if sharp > Self.mostSharp {
            Console.complain("… and \(Figures.count(sharp - Self.mostSharp)) more; --json names all")
        }
        guard answers.count > 1 else { return }
        let blurred = answers.count { $0.status == .done }
        Console.print("\(Figures.count(blurred)) of \(Figures.plural(answers.count, "picture")) blurred")
    }
}

/// The answer of `penumbra is-blurred` for one picture.
struct InPlaceAnswer {
    let line: InPlaceLine
    let words: String
    let status: RunOutcome

    static let nothingThere = "no such file or folder; check its name, or mount its disk"

    init(_ inspected: InspectedPicture) {
        var kept: StoredOriginal?
        (words, status, kept) = Self.answer(inspected)
        let state =
            switch inspected.condition {
            case .blurred: inspected.isUntrusted ? "not blurred" : "blurred"
            case .edited: "edited since"
            case .unknown, .original, .missing: status == .missingInput ? "gone" : "not blurred"
            }
        var line = InPlaceLine(inspected.picture, state: state)
        (line.filters, line.original) = (kept?.record.filters, kept?.path)
        self.line = line
    }

    private static func answer(_ inspected: InspectedPicture) -> (String, RunOutcome, StoredOriginal?) {
        if let distrust = inspected.distrust { return (distrust.message, .someFailed, inspected.originals.first) }
        return switch inspected.condition {
        case .blurred(let kept) where inspected.isUntrusted:
            (
                "a record of another user says that it is blurred (\(kept.record.filters)), but that record is not trusted",
                .someFailed, kept
            )
        case .blurred(let kept): ("blurred (\(kept.record.filters))", .done, kept)
        case .edited(let kept): ("edited since it was blurred (\(kept.record.filters))", .someFailed, kept)
        case .original: ("is not blurred", .someFailed, nil)
        case .missing(let kept):
            inspected.isUnreadable
                ? ("cannot be read", .someFailed, kept) : ("no such file", .missingInput, kept)
        case .unknown: inspected.exists ? ("is not blurred", .someFailed, nil) : (Self.nothingThere, .missingInput, nil)
        }
    }
}
