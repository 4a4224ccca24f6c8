import Coordination
import FoundationEssentials
import InPlace
import JobModel
import Planning
import RenderFarm
import Reports
import Scheduling
import Settings

/// Reports the results of `blur` and `unblur`: lines for pictures that somebody may want to know of, and counts at the end.
final class InPlaceReport {
    /// The command that changes the pictures.
    enum Command {
        case blur
        case unblur
    }

    private let command: Command
    private let reporter: ConsoleReporter
    private let folder = currentFolder()
    private var counts: [String: Int] = [:]
    private(set) var status = RunOutcome.done
    /// Blurred pictures whose colour space or sample format changed.
    private var converted: [InPlaceConversion: [String]] = [:]
    /// The number of originals that were put back under another name than that of the blurred picture.
    private var kept = 0

    /// The most lines of one kind that are printed.
    private static let mostLines = 20
    /// The most files that one line names.
    private static let namedFiles = 3

    init(_ command: Command, _ reporter: ConsoleReporter) { (self.command, self.reporter) = (command, reporter) }

    func count(_ state: String) -> Int { counts[state] ?? 0 }

    func add(_ results: [InPlaceResult], filters: String? = nil) {
        reporter.endProgress()
        for result in results {
            let line = InPlaceLine(result, of: command, filters: filters)
            status = max(status, result.outcome.runOutcome)
            counts[line.state, default: 0] += 1
            if case .blurred = result.outcome {
                for kind in result.conversions { converted[kind, default: []].append(result.picture.path) }
            }
            if case .unblurred(_, _, _, isKept: true) = result.outcome { kept += 1 }
            if reporter.json { line.print() } else { show(result, line) }
        }
    }

    private func show(_ result: InPlaceResult, _ line: InPlaceLine) {
        guard let message = line.message, count(line.state) <= Self.mostLines else { return }
        // Messages of workers begin with the path.
        let path = "\(result.picture.path): "
        let words = message.hasPrefix(path) ? String(message.dropFirst(path.count)) : message
        let text = "\(PathText.shown(result.picture.path, from: folder)): \(VisibleText.message(words))"
        switch result.outcome {
        case .alreadyBlurred, .notBlurred: reporter.say(text)
        default: Console.complain(text)
        }
    }

    private static func words(_ kind: InPlaceConversion, _ count: Int) -> String {
        let be = count == 1 ? "is" : "are"
        switch kind {
        case .lab:
            return "\(Figures.plural(count, "picture")) in Lab \(be) in RGB now; 'penumbra unblur' puts Lab back"
        case .doubles:
            return
                "\(Figures.plural(count, "picture")) with samples of 64 bits \(count == 1 ? "has" : "have") samples of 32 "
                + "now; 'penumbra unblur' puts 64 bits back"
        case .furtherPictures:
            return
                "\(Figures.plural(count, "file")) held further pictures, such as a gain map, a depth map or a second eye: the "
                + "first picture alone is left, and blurred; 'penumbra unblur' puts all back"
        case .cmyk:
            return "\(Figures.plural(count, "picture")) in CMYK \(be) in sRGB now; 'penumbra unblur' puts CMYK back"
        case .grayMap:
            return
                "\(Figures.plural(count, "gray portable map")) \(be) in RGB now (P6); 'penumbra unblur' puts gray back"
        }
    }

    /// `5 other files skipped: a.txt, b.txt, c.txt and 2 more`.
    private func words(skipping others: [InputFile]) -> String {
        let (first, rest) = (others.prefix(Self.namedFiles), others.count - Self.namedFiles)
        return "\(Figures.plural(others.count, "other file")) skipped: "
            + first.map { PathText.shown($0.path, from: folder) }.joined(separator: ", ")
            + (rest > 0 ? " and \(Figures.count(rest)) more" : "")
    }

    /// Prints the end of the report: `blurred 3 pictures …, 1 already blurred, 1 other file skipped: photos/notes.txt`.
    func end(_ done: String, _ kinds: [(state: String, words: String)], others: [InputFile]) {
        for kind in InPlaceConversion.allCases {
            guard let paths = converted[kind] else { continue }
            let words = Self.words(kind, paths.count)
            if kind == .furtherPictures { reporter.list(words, paths) } else { reporter.say(words) }
        }
        if kept > 0 {
            reporter.say(
                kept == 1
                    ? "1 picture was blurred under another name; its original stays kept, too, until 'penumbra gc --originals'"
                    : "\(Figures.count(kept)) pictures were blurred under other names; their originals stay kept, too, until "
                        + "'penumbra gc --originals'")
        }
        guard !reporter.json else { return }
        let rest = kinds.compactMap { kind in
            count(kind.state) > 0 ? "\(Figures.count(count(kind.state))) \(kind.words)" : nil
        }
        let skipped = count("skipped")
        let skips =
            (skipped > 0
                ? ["\(Figures.plural(skipped, "picture")) left as \(skipped == 1 ? "it is" : "they are")"] : [])
            + (others.isEmpty ? [] : [words(skipping: others)])
        for (state, number) in counts.sorted(by: { $0.key < $1.key }) where number > Self.mostLines {
            guard !["blurred", "unblurred", "left"].contains(state) else { continue }
            let all = command == .blur ? "'penumbra is-blurred --json'" : "--json"
            let text = "… and \(Figures.count(number - Self.mostLines)) more: \(state); \(all) names all"
            // It goes to the same stream as the lines before.
            if ["already blurred", "not blurred"].contains(state) { reporter.say(text) } else { reporter.note(text) }
        }
        guard !done.isEmpty || !skips.isEmpty else { return }
        reporter.say(([done].filter { !$0.isEmpty } + rest + skips).joined(separator: ", "))
    }
}

/// The JSON line of a picture that a command changed in place.
struct InPlaceLine: JSONLine {
    let event = "picture"
    let path: String
    let pathBase64: String?
    /// `blurred`, `already blurred`, `blurred otherwise`, `unblurred`, `not blurred`, `edited since`, `gone`, `skipped`,
    /// `refused`, `busy`, `unfit`, `left`.
    let state: String
    var message: String?
    var filters: String?
    /// The file of the original.
    var original: String?

    private enum CodingKeys: String, CodingKey {
        case event, path, state, message, filters, original
        case pathBase64 = "path_base64"
    }

    init(_ picture: InputFile, state: String) {
        (path, self.state) = (picture.path, state)
        pathBase64 = picture.bytes.map { Data($0).base64EncodedString() }
    }

    init(_ result: InPlaceResult, of command: InPlaceReport.Command, filters: String?) {
        self.init(result.picture, state: result.outcome.word)
        message = result.outcome.message(command)
        switch result.outcome {
        case .blurred(let older):
            self.filters = filters
            original = older.first?.path
        case .alreadyBlurred(let kept), .blurredOtherwise(let kept), .edited(let kept), .gone(.some(let kept)),
            .removed(let kept):
            (self.filters, original) = (kept.record.filters, kept.path)
        case .unblurred(_, _, let older, _): original = older.first?.path
        case .notBlurred, .gone(nil), .skipped, .refused, .busy, .unfit, .left: break
        }
    }
}

extension InPlaceResult.Outcome {
    var word: String {
        switch self {
        case .blurred: "blurred"
        case .alreadyBlurred: "already blurred"
        case .blurredOtherwise: "blurred otherwise"
        case .unblurred: "unblurred"
        case .notBlurred: "not blurred"
        case .edited: "edited since"
        case .gone, .removed: "gone"
        case .skipped: "skipped"
        case .refused: "refused"
        case .busy: "busy"
        case .unfit: "unfit"
        case .left: "left"
        }
    }

    /// The message behind the picture's path; nil if there is none.
    func message(_ command: InPlaceReport.Command) -> String? {
        switch self {
        case .blurred(let older): older.first.map { "blurred as it was now; its older original is kept at \($0.path)" }
        case .alreadyBlurred(let kept): "already blurred (\(kept.record.filters)); nothing to do"
        case .blurredOtherwise(let kept):
            "blurred with other filters before (\(kept.record.filters)), and left as it is; unblur it first to blur it "
                + "otherwise"
        case .unblurred(let edited, let missing, let older, _): Self.unblurred(edited, missing, older)
        case .notBlurred: "is not blurred; nothing to do"
        case .edited(let kept):
            "edited since it was blurred (\(kept.record.filters)), and left as it is; --force "
                + (command == .blur
                    ? "blurs it as it is now, and keeps the older original, too"
                    : "puts the original back, and the edits are lost")
        case .gone(.none): InPlaceAnswer.nothingThere
        case .gone(.some(let kept)), .removed(let kept):
            "no such file; its original is kept at \(kept.path): 'unblur --force' puts it back, and 'gc --give-up' forgets it"
        case .skipped(let reason): "\(reason); left as it is"
        case .refused(let reason): reason
        case .busy: "another run or command writes to its folder; left as it is"
        case .unfit(let message): message
        case .left: nil
        }
    }

    private static func unblurred(_ edited: Bool, _ missing: [String], _ older: [StoredOriginal]) -> String? {
        let parts =
            (edited ? ["the original is back, in place of what was there"] : [])
            + (missing.isEmpty
                ? []
                : ["the original is back without \(missing.joined(separator: ", ")), which cannot be restored here"])
            + (older.first.map { ["an older original is kept at \($0.path), and 'unblur --force' puts it back"] } ?? [])
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}

extension InPlaceSession {
    init(_ location: LocationOptions) async throws {
        // Signals must be received before the first worker starts.
        let settings = try Settings.load(location)
        try await self.init(Farm(settings), control: Signals().control)
    }
}

/// Output of the commands that change pictures in place.
extension ConsoleReporter {
    func search(_ paths: [String], _ session: InPlaceSession) -> PictureSearch {
        let search = session.search(paths.map(RawArguments.bytes), in: currentFolder())
        for problem in search.problems { complain(problem) }
        return search
    }

    /// Lists pictures in the folders that were not blurred, or may not be. `--quiet` does not suppress it.
    ///
    /// - Parameter all: the command that lists all of them.
    func report(_ skipped: PictureSearch.SkippedFiles, all: String) {
        func list(_ files: [InputFile], _ one: String, _ several: String, reasons: [String]? = nil) {
            guard !files.isEmpty else { return }
            complain(
                "\(Figures.count(files.count)) \(files.count == 1 ? one : several)", files.map(\.path),
                reasons: reasons, all: all)
        }
        list(
            skipped.links.map(\.link),
            "link to pictures elsewhere was not followed, and what they lead to was not blurred",
            "links to pictures elsewhere were not followed, and what they lead to was not blurred")
        list(
            skipped.folderLinks, "link to a folder elsewhere was not followed, and no picture in it was blurred",
            "links to folders elsewhere were not followed, and no picture in them was blurred")
        list(
            skipped.unnamed, "picture is hidden or has no picture's name, and was not blurred",
            "pictures are hidden or have no picture's name, and were not blurred")
        list(
            skipped.hidden.map(\.folder), "hidden folder was skipped, and the pictures in it were not blurred",
            "hidden folders were skipped, and the pictures in them were not blurred",
            reasons: skipped.hidden.map(Self.words))
        list(
            skipped.unread, "picture or film is in a format that Penumbra does not read, and was not blurred",
            "pictures or films are in formats that Penumbra does not read, and were not blurred")
    }

    private static func words(_ hidden: PictureSearch.SkippedFiles.Hidden) -> String {
        let pictures = Figures.plural(hidden.pictures.count, "picture")
        return hidden.isWhole ? pictures : "\(pictures) found, and a part of it could not be read"
    }

    /// - Returns: the outcome of a stopped command.
    func report(_ stop: StopReason?, left: Int) -> RunOutcome {
        guard let stop else { return .done }
        var summary = RunSummary()
        summary.stop = stop
        complain(stop.message(left: left))
        return RunOutcome(summary)
    }
}
