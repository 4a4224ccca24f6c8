import ArgumentParser
import Foundation
import JobModel
import Queueing
import RenderFarm
import ServiceAPI
import ServiceClient

struct QueueSchedulesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedules",
        abstract: "List the schedules and watched folders of a service.",
        discussion: """
            They are in the config file, in the block 'service', or were made by the API. A schedule of the config file that is \
            disabled stays so until it is enabled again.
            """)

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Print JSON lines, one for each schedule.")
    var json = false

    func run() async throws {
        let json = json
        try await service.talking { client in
            let list = try client.call(ClientRequest(.get, "/schedules"), as: ScheduleList.self)
            for words in list.unreadable { Console.complain(words) }
            let outcome = list.unreadable.isEmpty ? RunOutcome.done : .someFailed
            if json {
                for entry in list.schedules {
                    try Console.printJSONLine(of: entry)
                }
                return outcome
            }
            guard !list.schedules.isEmpty else {
                if list.unreadable.isEmpty {
                    Console.print("no schedules; 'service: schedules:' in the config file has some")
                }
                return outcome
            }
            for line in ScheduleText.table(list.schedules) { Console.print(line) }
            for entry in list.schedules {
                if let problem = entry.problem { Console.complain(problem) }
            }
            return outcome
        }
    }
}

struct QueueScheduleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule",
        abstract: "Enable or disable a schedule or a watched folder.",
        subcommands: [QueueScheduleEnableCommand.self, QueueScheduleDisableCommand.self])
}

struct QueueScheduleEnableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Let schedules submit jobs again.",
        discussion: "Times that have passed meanwhile are not made up for. Changes of a watched folder are.")

    @Argument(
        help: ArgumentHelp("Names, as 'penumbra queue schedules' lists them.", valueName: "name"),
        completion: ServiceCompletions.schedules)
    var names: [String]

    @OptionGroup var service: ServiceOptions

    func run() async throws { try await service.setSchedules(names, enabled: true) }
}

struct QueueScheduleDisableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Keep schedules from submitting jobs.",
        discussion: "Jobs that they have submitted stay, and so do runs that are open.")

    @Argument(
        help: ArgumentHelp("Names, as 'penumbra queue schedules' lists them.", valueName: "name"),
        completion: ServiceCompletions.schedules)
    var names: [String]

    @OptionGroup var service: ServiceOptions

    func run() async throws { try await service.setSchedules(names, enabled: false) }
}

extension ServiceOptions {
    fileprivate func setSchedules(_ names: [String], enabled: Bool) async throws {
        let body = try StrictJSON.encode(ScheduleChange(isEnabled: enabled))
        try await talking { client in
            var outcome = RunOutcome.done
            for name in names {
                do {
                    let entry = try client.call(
                        ClientRequest(.patch, "/schedules/\(APIPath.escaped(name))", body: body), as: ScheduleEntry.self
                    )
                    Console.print("\(VisibleText.line(entry.request.name)): \(ScheduleText.state(entry))")
                } catch let error as ServiceError where error.status != nil && names.count > 1 {
                    // The other schedules are changed nevertheless.
                    Console.complain(error.message)
                    outcome = max(outcome, error.outcome)
                }
            }
            return outcome
        }
    }
}

/// Schedules as text for a person.
private enum ScheduleText {
    static func table(_ schedules: [ScheduleEntry]) -> [String] {
        var table = Table(["schedule", "when", "manifest", "jobs", "last job", "state"])
        for entry in schedules {
            table.add(
                VisibleText.line(entry.request.name), when(entry.request.trigger), manifest(entry.request.job.source),
                "\(entry.submitted)", entry.lastJob.map { "\($0.number)" } ?? "", state(entry))
        }
        return table.lines
    }

    private static func when(_ trigger: ScheduleRequest.Trigger) -> String {
        switch trigger {
        case .times(let cron, let zone, _, _): VisibleText.line(cron.text + (zone.map { " \($0)" } ?? ""))
        case .changes: "changes of its folders"
        }
    }

    private static func manifest(_ source: SubmitRequest.Source) -> String {
        switch source {
        case .file(let path): VisibleText.line(path)
        case .text(_, let folder, let name): "\(VisibleText.line(name ?? "a job")) in \(VisibleText.line(folder))"
        }
    }

    /// `next 2026-11-27 02:00:00 +01:00`
    static func state(_ entry: ScheduleEntry) -> String {
        switch (entry.request.isEnabled, entry.origin) {
        case (false, .removed): "removed from the config file"
        case (false, .config), (false, .api): "disabled"
        case (true, _): entry.next.map { "next \($0.local)" } ?? "watching"
        }
    }
}
