import Coordination
import JobModel
import Planning
import RenderFarm
import Reports
import Scheduling
import Settings

extension InPlaceSession {
    init(_ place: LocationOptions) async throws {
        // Signals are heard before the first worker starts.
        let settings = try Settings.load(place)
        try await self.init(Farm(settings), control: Signals().control)
    }
}

/// What commands that change pictures in place print alike.
extension ConsoleReporter {
    func search(_ paths: [String], _ session: InPlaceSession) -> PictureSearch {
        let search = session.search(paths.map(RawArguments.bytes), in: currentFolder())
        for problem in search.problems { complain(problem) }
        return search
    }

    /// Lists what of the folders is as sharp as before, or may be. It is told where silence is asked for, too.
    ///
    /// - Parameter all: what names those that are not listed.
    func tell(_ passedBy: PictureSearch.SkippedFiles, all: String) {
        func list(_ files: [InputFile], _ one: String, _ several: String, reasons: [String]? = nil) {
            guard !files.isEmpty else { return }
            complain(
                "\(Figures.count(files.count)) \(files.count == 1 ? one : several)", files.map(\.path),
                reasons: reasons, all: all)
        }
        list(
            passedBy.links.map(\.link),
            "link to pictures elsewhere was not followed, and what they lead to was not blurred",
            "links to pictures elsewhere were not followed, and what they lead to was not blurred")
        list(
            passedBy.folderLinks, "link to a folder elsewhere was not followed, and no picture in it was blurred",
            "links to folders elsewhere were not followed, and no picture in them was blurred")
        list(
            passedBy.unnamed, "picture is hidden or has no picture's name, and was not blurred",
            "pictures are hidden or have no picture's name, and were not blurred")
        list(
            passedBy.hidden.map(\.folder), "hidden folder was passed by, and the pictures in it were not blurred",
            "hidden folders were passed by, and the pictures in them were not blurred",
            reasons: passedBy.hidden.map(Self.words))
        list(
            passedBy.unread, "picture or film is in a format that Penumbra does not read, and was not blurred",
            "pictures or films are in formats that Penumbra does not read, and were not blurred")
    }

    private static func words(_ hidden: PictureSearch.SkippedFiles.Hidden) -> String {
        let pictures = Figures.plural(hidden.pictures.count, "picture")
        return hidden.isWhole ? pictures : "\(pictures) found, and not all of it could be looked into"
    }

    /// - Returns: how a command ends that was stopped.
    func tell(_ stop: StopReason?, left: Int) -> RunOutcome {
        guard let stop else { return .done }
        var summary = RunSummary()
        summary.stop = stop
        complain(StopWords.describe(stop, left: left))
        return RunOutcome(summary)
    }
}
