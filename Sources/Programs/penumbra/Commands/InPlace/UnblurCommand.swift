import ArgumentParser
import Coordination
import Planning
import Reports

struct UnblurCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unblur",
        abstract: "Put the originals of blurred pictures back.",
        discussion: """
            A picture that 'penumbra blur' has blurred becomes again what it was, byte for byte, with its time, rights, owner \
            and attributes. A picture that is not blurred stays as it is. One that was edited since it was blurred, too, \
            unless --force is given. So does one that only a record of another user calls blurred. A folder stands for all \
            blurred pictures in it and below. A blurred picture that has another name now gets its original there. That \
            original stays kept, too, since there may be further copies, until 'penumbra gc --originals'.

            Exit codes: 0 done; 1 some were refused, such as pictures that were edited since they were blurred; 66 a \
            picture is missing; 74 a disk or folder is full, read-only or forbidden; 75 another blur or unblur is going on.
            """)

    @Argument(help: ArgumentHelp("Pictures, or folders of pictures.", valueName: "picture"), completion: .file())
    var pictures: [String]

    @Flag(help: "Put originals back even where pictures were edited since, or are gone. Edits are lost.")
    var force = false

    @OptionGroup(title: "Place Options") var place: PlaceOptions

    @Option(
        help: ArgumentHelp("How long to wait for another blur or unblur to end: 90, 5m.", valueName: "time"),
        transform: TimeArgument.read)
    var lockWait: TimeArgument?

    @Flag(name: .shortAndLong, help: "Print nothing when all is well.")
    var quiet = false

    @Flag(help: "Print JSON lines, the first {\"schema\":1}, the last the summary.")
    var json = false

    func validate() throws {
        if pictures.contains("") { throw ValidationError("A path is empty; name pictures or folders.") }
    }

    func run() async throws {
        try await Reporting(json: json, quiet: quiet).handling { reporting in
            let session = try await InPlaceSession(place, reporting)
            return try await session.locked(lockWait?.seconds ?? 0) { try await unblur(session) }
        }
    }

    private func unblur(_ session: InPlaceSession) async throws -> ExitStatus {
        let search = session.search(pictures)
        let wanted = session.withKept(search)
        let report = InPlaceReport(.unblur, session.reporting)
        let stop = try await Unblurring.unblur(
            wanted, session.originals, isForced: force, settings: session.installation.runSettings,
            loop: session.loop, ended: { report.add($0) })
        let count = report.count("unblurred")
        let done =
            count > 0 || wanted.isEmpty ? "put back \(Figures.plural(count, "original"))" : ""
        report.end(done, [("not blurred", "not blurred"), ("left", "left")], others: 0)
        let trouble = search.problems.isEmpty ? ExitStatus.done : .badPlace
        return max(report.status, trouble, session.tell(stop, left: report.count("left")))
    }
}
