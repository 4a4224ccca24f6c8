import ArgumentParser
import Coordination
import Foundation
import JobModel
import Queueing
import Reference
import RenderFarm
import Runs
import ServiceAPI
import ServiceClient

/// Proposals for shells that a service knows. There are none if no service answers at once.
enum ServiceCompletions {
    /// The numbers of jobs that a command of `penumbra queue` can be used for, the newest first.
    static let jobs = CompletionKind.custom { words, cursor, prefix in
        await jobs(TypedCommandLine(words, cursor: cursor), prefix)
    }

    /// The names of schedules and watched folders.
    static let schedules = CompletionKind.custom { words, cursor, prefix in
        let line = TypedCommandLine(words, cursor: cursor)
        return await ask(line) { client in
            let list = try client.call(ClientRequest(.get, "/schedules"), as: ScheduleList.self)
            return names(list.schedules.map(\.request.name), line, prefix)
        }
    }

    /// The names of tokens.
    static let tokens = CompletionKind.custom { words, cursor, prefix in
        let line = TypedCommandLine(words, cursor: cursor)
        return await ask(line) { client in
            let list = try client.call(ClientRequest(.get, "/tokens"), as: TokenList.self)
            return names(list.tokens.map(\.name), line, prefix)
        }
    }

    /// The names of a service's runs, and of their jobs.
    static func runs(_ line: TypedCommandLine, ended: Int) async -> [String] {
        await ask(line) { client in
            let runs = try RemoteRuns(client: client).runs(ended: ended)
            return runs.map(\.run) + runs.map(\.job)
        }
    }

    // MARK: Jobs

    private static let mostJobs = 100

    private static func jobs(_ line: TypedCommandLine, _ prefix: String) async -> [String] {
        var filter = JobFilter()
        filter.states = states(for: line.word(after: "queue"))
        let query = [filter.text, "limit=\(mostJobs)"].filter { !$0.isEmpty }.joined(separator: "&")
        return await ask(line) { client in
            let list = try client.call(ClientRequest(.get, "/jobs?\(query)"), as: JobList.self)
            return list.jobs.filter { job in
                let number = "\(job.id.number)"
                return number.hasPrefix(prefix) && !line.complete.contains(number)
            }.map(proposal)
        }
    }

    /// The states of jobs that a command changes. Empty for all.
    private static func states(for command: String?) -> Set<JobState.Name> {
        switch command {
        case "show", "label": []
        case "hold", "run-next": [.waiting]
        case "release": [.held]
        case "after": [.held, .waiting]
        case "retry": Set(JobState.Name.ended).subtracting([.done])
        default: Set(JobState.Name.open)
        }
    }

    /// The number, and for the shells that show descriptions, the name and the state.
    private static func proposal(_ job: QueueEntry) -> String {
        let description = "\(VisibleText.line(job.name)), \(job.state.rawValue)"
        return switch CompletionShell.requesting {
        case .fish: "\(job.id.number)\t\(description)"
        case .zsh: "\(job.id.number):\(description)"
        default: "\(job.id.number)"
        }
    }

    // MARK: Asking a service

    private struct TokenList: Decodable { let tokens: [TokenEntry] }

    private static func names(_ names: [String], _ line: TypedCommandLine, _ prefix: String) -> [String] {
        CompletionWords.plain(names).filter { $0.hasPrefix(prefix) && !line.complete.contains($0) }
    }

    /// A person waits for the answer, so it must come soon.
    private static var patience: APIClient.Options {
        var options = APIClient.Options()
        (options.silence, options.total) = (.milliseconds(500), .seconds(1))
        (options.attempts, options.patience) = (1, .zero)
        return options
    }

    /// Asks the service that the command would talk to. Empty if anything is wrong.
    private static func ask(
        _ line: TypedCommandLine, _ body: @escaping @Sendable (APIClient) throws -> [String]
    ) async -> [String] {
        var options = ServiceOptions()
        (options.server, options.tokenFile) = (line.value(of: "--server"), line.value(of: "--token-file"))
        (options.serviceDir, options.stateDir) = (line.value(of: "--service-dir"), line.value(of: "--state-dir"))
        options.configFile = line.value(of: "--config")
        // Whoever presses Tab gets no words, and no message in the middle of the line.
        guard let client = try? options.client(Self.patience) else { return [] }
        return await Blocking.run { (try? body(client)) ?? [] }
    }
}

extension TypedCommandLine {
    /// The command line of this user.
    init(_ words: [String], cursor: Int) {
        self.init(words, cursor: cursor, home: ProcessInfo.processInfo.environment["HOME"])
    }
}
