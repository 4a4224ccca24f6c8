import ArgumentParser
import Coordination
import InPlace
import JobModel
import Planning
import RenderFarm
import Reports

struct UnblurCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unblur",
        abstract: "Put the originals of blurred pictures back.",
        discussion: """
            A blurred picture becomes what it was before 'penumbra blur', byte for byte, with its time, permissions, owner \
            and attributes. A folder stands for all blurred pictures in it and below. Links in it are not followed.

            A picture that is not blurred stays as it is. --force is needed if a picture was edited since it was blurred, \
            or if only another user's record says that it is blurred. A picture of a folder that was removed since is \
            named: --force puts it back, and 'penumbra gc --give-up' forgets its original. If a blurred picture was renamed \
            or copied, its original is put back under the new name. The original is kept for further copies, until 'penumbra \
            gc --originals'.

            Exit codes:

              0   Done, or there is nothing to do.
              1   Some pictures were refused, such as edited ones, or pictures or originals are gone.
              64  The command line is wrong.
              66  A picture is missing.
              74  A disk or folder is full, read-only or forbidden.
              75  Another blur or unblur is running.
            """)

    @Argument(help: ArgumentHelp("Pictures, or folders of pictures.", valueName: "picture"), completion: .file())
    var pictures: [String]

    @Flag(help: "Put originals back even where pictures were edited since, or are gone. Edits are lost.")
    var force = false

    @OptionGroup(title: "Location Options") var location: LocationOptions

    @Option(
        help: ArgumentHelp("How long to wait for another blur or unblur to end: 90, 5m.", valueName: "time"),
        transform: TimeArgument.read)
    var lockWait: TimeArgument?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if pictures.contains("") { throw ValidationError("A path is empty; name pictures or folders.") }
    }

    func run() async throws {
        try await ConsoleReporter(output).handling { reporter in
            let session = try await InPlaceSession(location)
            return try await session.locked(lockWait?.seconds ?? 0) { try await unblur(session, reporter) }
        }
    }

    private func unblur(_ session: InPlaceSession, _ reporter: ConsoleReporter) async throws -> RunOutcome {
        let search = reporter.search(pictures, session)
        var skipped = search.passedBy()
        let wanted = await session.withKept(search, skipped)
        let links = skipped.links
        let (_, stopBefore) = try await session.takeBlurred(from: &skipped)
        if stopBefore != nil { return reporter.report(stopBefore, left: wanted.count) }
        let others = Set(skipped.links)
        let blurredLinks = links.filter { !others.contains($0) && !search.holds($0.target) }.map(\.link.path)
        let lost = session.originals.foldersWithoutStore().filter {
            search.holds(InputFile(path: PathNames.joined($0, Originals.folderName), dir: ""))
        }
        reportBlurred(blurredLinks, lost, reporter)
        let report = InPlaceReport(.unblur, reporter)
        let stop = try await session.unblur(wanted, isForced: force) { report.add($0) }
        let count = report.count("unblurred")
        let hasOthers = report.count("not blurred") + report.count("left") > 0
        let done =
            count > 0 || !hasOthers && report.status == .done ? "put back \(Figures.plural(count, "original"))" : ""
        report.end(done, [("not blurred", "not blurred"), ("left", "left")], others: [])
        let searchOutcome = search.problems.isEmpty ? RunOutcome.done : .storage
        let blurred = blurredLinks.isEmpty && lost.isEmpty ? RunOutcome.done : .someFailed
        return max(report.status, searchOutcome, blurred, reporter.report(stop, left: report.count("left")))
    }

    /// Lists pictures that stay blurred, or may stay blurred.
    private func reportBlurred(_ links: [String], _ lost: [String], _ reporter: ConsoleReporter) {
        if !links.isEmpty {
            reporter.complain(
                links.count == 1
                    ? "1 link to a blurred picture elsewhere was not followed, and its original was not put back"
                    : "\(Figures.count(links.count)) links to blurred pictures elsewhere were not followed, and their originals "
                        + "were not put back", links, reasons: nil, all: "--json")
        }
        if !lost.isEmpty {
            reporter.complain(Originals.words(lost: lost.count), lost, reasons: nil, all: "--json")
        }
    }
}
