import Coordination
import FoundationEssentials
import InPlace
import JobModel
import Planning
import RenderFarm
import Reports
import SafeFiles

/// What `penumbra blur --list` tells of the pictures of which originals are kept.
struct BlurList {
    let session: InPlaceSession
    let reporting: ConsoleReporter

    /// - Parameter paths: those of pictures and folders that are meant; empty for all.
    func run(_ paths: [String]) async throws -> RunOutcome {
        let search = reporting.search(paths, session)
        let named = Set(search.pictures.filter(\.isNamed).map(\.file.exactPath))
        let folders = search.pictures.map { PathText.folder(of: $0.file.path) } + search.folders.map(\.path)
        let (known, distrusted) = session.originals.pictures(andIn: folders)
        let meant = known.filter { picture in
            paths.isEmpty || search.holds(picture) || named.contains(picture.exactPath)
        }
        // Blurred under other names.
        let isKnown = Set(meant.map(\.exactPath))
        let renamed = search.pictures.map(\.file).filter {
            !isKnown.contains($0.exactPath) && session.originals.mayBeElsewhere($0)
        }
        let pictures = meant + renamed
        for trouble in distrusted { reporting.complain(trouble.message) }
        let (inspected, stop) = try await InspectedPicture.inspect(
            at: pictures, session.originals, readsOriginals: false, settings: session.farm.runSettings,
            loop: session.loop)
        if stop != nil { return reporting.tell(stop, left: pictures.count) }
        print(inspected.flatMap { picture in picture.originals.map { KeptLine(picture, $0) } })
        return distrusted.isEmpty ? .done : .someFailed
    }

    private func print(_ lines: [KeptLine]) {
        if reporting.json {
            for line in lines { JSONLine.kept(line).print() }
        } else if lines.isEmpty {
            reporting.say("no originals are kept")
        } else {
            var table = Table(["state", "since (UTC)", "filters", "picture"])
            for line in lines {
                table.add(
                    line.state, line.day, PathText.visible(line.filters),
                    PathText.shown(line.path, from: currentFolder()))
            }
            for line in table.lines { Console.print(line) }
        }
    }
}

/// An original that is kept.
struct KeptLine: Encodable {
    let event = "kept"
    let path: String
    let pathBase64: String?
    /// `blurred`, `edited since`, `original is there`, `missing`, `unreadable`; `older` where a later original of the
    /// picture is kept, too; `put back elsewhere` where the picture has another name, and its original there;
    /// `another user's` where only a record of another user says that it is blurred.
    let state: String
    let filters: String
    /// Seconds since 1970.
    let time: Int
    let original: String
    let bytes: Int
    let digest: String

    private enum CodingKeys: String, CodingKey {
        case event, path, state, filters, time, original, bytes, digest
        case pathBase64 = "path_base64"
    }

    init(_ picture: InspectedPicture, _ original: StoredOriginal) {
        path = picture.picture.path
        pathBase64 = picture.picture.bytes.map { Data($0).base64EncodedString() }
        (filters, time, self.original) = (original.record.filters, original.record.time, original.path)
        (bytes, digest) = (original.record.original.bytes, original.record.original.digest.description)
        let generation = original.record.generation
        switch picture.condition {
        case .blurred(let own) where own.record.generation == generation:
            state = picture.isUntrusted ? "another user's" : "blurred"
        case .original(let own) where own.record.generation == generation: state = "original is there"
        case .edited(let own) where own.record.generation == generation: state = "edited since"
        case .missing where original.isRestored && !picture.isUnreadable, .unknown where original.isRestored:
            state = "put back elsewhere"
        case .missing(let own) where own.record.generation == generation:
            state = picture.isUnreadable ? "unreadable" : "missing"
        case .blurred, .original, .edited, .missing, .unknown: state = "older"
        }
    }

    /// `2026-11-21 21:30`
    var day: String {
        let date = Date(timeIntervalSince1970: Double(time))
        let text = date.formatted(
            .iso8601.year().month().day().dateTimeSeparator(.space).time(includingFractionalSeconds: false))
        return String(text.prefix(16))
    }
}
