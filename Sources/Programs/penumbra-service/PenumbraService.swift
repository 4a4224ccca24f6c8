import ArgumentParser
import Catalogs
import Endpoints
import Foundation
import HTTPService
import JobModel
import Logging
import QueueStorage
import Queueing
import RenderFarm
import SafeFiles
import ServiceAPI
import Settings
import Supervision
import WorkerProtocol

@main
struct PenumbraService: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "penumbra-service",
        abstract: "Takes jobs from people and programs, runs each of them once, and shares the workers out.",
        usage: "penumbra serve [options]",
        discussion: """
            Commands of this user reach the service by a socket in its folder: 'penumbra submit', 'penumbra queue'. Others reach it by \
            --listen, and need a token ('penumbra token add').

            Every run is a process of 'penumbra run'. It continues if the service is killed, and the next service follows it. SIGTERM ends \
            the service and its runs. The next service resumes these runs.

            Exit codes:

              0   A signal stopped the service.
              64  A value is wrong.
              65  The config file is wrong.
              69  A socket or a program cannot be used.
              74  The disk or the database cannot be used.
              75  Another service has the folder.
            """,
        version: "penumbra-service \(Version.penumbra)")

    @Option(
        help: ArgumentHelp(
            "Also listen at a port of this machine, for browsers and for programs with a token: 127.0.0.1:8642. Another address needs --behind-proxy. May be given again.",
            valueName: "address:port"))
    var listen: [String] = []

    @Flag(help: "Also listen at web.sock in the service's folder, for a proxy.")
    var webSocket = false

    @Flag(help: "All connections but those of the control socket come from a proxy, which adds TLS.")
    var behindProxy = false

    @Option(
        help: ArgumentHelp(
            "A name of this service in addresses, beside localhost. May be given again.", valueName: "name"))
    var host: [String] = []

    @Option(
        help: ArgumentHelp("Where the service keeps its queue. Default: beside the state folder.", valueName: "dir"))
    var serviceDir: String?

    @Option(help: ArgumentHelp("Where runs keep their state.", valueName: "dir"))
    var stateDir: String?

    @Option(name: .customLong("config"), help: ArgumentHelp("The config file.", valueName: "file"))
    var configFile: String?

    @Option(help: ArgumentHelp("Worker processes of all runs together. Default: one a core.", valueName: "n"))
    var workers: Int?

    @Option(help: ArgumentHelp("The most runs that are open at once. Default: 4.", valueName: "n"))
    var maxRuns: Int?

    @Option(
        help: ArgumentHelp(
            "Raise the priority of jobs that wait: 1/10min is a point every ten minutes. Default: off.",
            valueName: "rate"))
    var aging: String?

    func validate() throws {
        if let workers, !(1...1024).contains(workers) {
            throw ValidationError("--workers takes 1 to 1024, not \(workers).")
        }
        if let maxRuns, !ServiceSettings.runRange.contains(maxRuns) {
            throw ValidationError("--max-runs takes 1 to 64, not \(maxRuns).")
        }
        _ = try parsedAging()
        for address in listen { _ = try Self.listener(address) }
        if let wrong = host.first(where: { !HostNames.isName($0) }) {
            throw ValidationError(
                "--host takes a name without a port, as in farm.example.org, not '\(VisibleText.line(wrong))'.")
        }
    }

    private func parsedAging() throws -> Aging? {
        guard let aging else { return nil }
        do {
            return try Aging.read(aging)
        } catch {
            throw ValidationError("--\(error.message)")
        }
    }

    private static func listener(_ text: String) throws -> Listener {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw ValidationError("--listen takes an address and a port, as in 127.0.0.1:8642, not '\(text)'.")
        }
        let name = String(text[..<colon])
        return ["127.0.0.1", "localhost", "[::1]"].contains(name) ? .loopback(port: port) : .address(name, port: port)
    }

    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        do {
            var command = try parse()
            try await command.run()
        } catch let error as FarmError {
            complain(error.message)
            Foundation.exit(error.outcome.rawValue)
        } catch let error as ExitCode {
            Foundation.exit(error.rawValue)
        } catch
            where exitCode(for: error) == .success || error is ValidationError || "\(type(of: error))" == "CommandError"
        {
            // Words of the parser: help, the version, and wrong options.
            let code = exitCode(for: error)
            guard !code.isSuccess else { exit(withError: error) }
            // People start this program by its other name.
            complain(fullMessage(for: error).replacing("penumbra-service --help", with: "penumbra serve --help"))
            Foundation.exit(code.rawValue)
        } catch {
            let known = ServiceFailure(error)
            complain(known.message)
            Foundation.exit(known.outcome.rawValue)
        }
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data((VisibleText.lines(text) + "\n").utf8))
    }

    mutating func run() async throws {
        let current = FileManager.default.currentDirectoryPath
        InheritedPaths.makeAbsolute(in: current)
        var flags = Settings.Flags()
        (flags.stateFolder, flags.workers) = (stateDir, workers)
        flags.configFile = configFile.map { Self.absolute($0, in: current) }
        let settings = try Settings.load(flags, folder: current)
        try settings.refuseNetworkState()
        let state = settings.stateFolder.value
        let folder =
            serviceDir.map { ServiceFolder(Self.absolute($0, in: current)) } ?? ServiceFolder(besideStateFolder: state)
        let configured = settings.service.value
        var limits = Limits(
            workers: settings.workers.value, maxRuns: maxRuns ?? configured.maxRuns ?? ServiceSettings.usualRuns)
        limits.aging =
            aging == nil
            ? configured.aging.flatMap { Aging(points: $0.points, per: .seconds($0.seconds)) } : try parsedAging()
        var setup = Supervisor.Setup(folder: folder, stateFolder: state, limits: limits)
        if let workers { setup.runArguments += ["--workers", "\(workers)"] }
        if let file = settings.configFile { setup.runArguments += ["--config", file] }
        setup.obstacle = { [flags] in Self.mistake(in: flags, current) }
        setup.otherEngine = { [flags] in
            // If the config file is wrong, jobs wait, and `obstacle` says why.
            let engine = (try? Settings.load(flags, folder: current))?.engine.value ?? .local
            return engine == .local ? nil : engine.rawValue
        }
        setup.confined.scratch = settings.scratch.value.map { [$0] } ?? []
        setup.confined.readable =
            (settings.configFiles + [settings.worker.value] + settings.pluginFolders.value
            + settings.programs.value.map(\.path) + settings.sandboxRead.value).map { Self.absolute($0, in: current) }
        var options = HTTPServer.Options(
            listeners: try InheritedSockets.listeners(
                in: ProcessInfo.processInfo.environment, process: getpid()))
        if !options.listeners.contains(where: { if case .inherited(_, .control) = $0 { true } else { false } }) {
            options.listeners.append(.control(path: folder.controlSocket))
        }
        if webSocket || configured.hasWebSocket == true { options.listeners.append(.web(path: folder.webSocket)) }
        options.listeners += try (listen.isEmpty ? configured.listen : listen).map(Self.listener)
        options.isBehindProxy = behindProxy || configured.isBehindProxy == true
        if let wrong = configured.hosts.first(where: { !HostNames.isName($0) }) {
            throw FarmError(
                .badManifest,
                "the config file: service: hosts takes names without ports, as in farm.example.org, not "
                    + "'\(VisibleText.line(wrong))'")
        }
        options.hosts = HostNames(host.isEmpty ? configured.hosts : host)
        try await RunningService(setup, settings, options).run()
    }

    /// The first mistake in the config file as it is now. Every run reads it when it begins. Nil if it has none.
    private static func mistake(in flags: Settings.Flags, _ current: String) -> String? {
        do throws(FarmError) {
            _ = try Settings.load(flags, folder: current)
            return nil
        } catch {
            return error.message.split(separator: "\n").first.map(String.init) ?? "it cannot be read"
        }
    }

    private static func absolute(_ path: String, in folder: String) -> String {
        URL(filePath: path, relativeTo: URL(filePath: folder, directoryHint: .isDirectory)).standardizedFileURL.path
    }
}

/// An error that ends the service, in words.
struct ServiceFailure {
    let message: String
    let outcome: RunOutcome

    init(_ error: any Error) {
        switch error {
        case let error as ListenerError: (message, outcome) = ("\(error)", .unavailable)
        case let error as QueueStoreError: (message, outcome) = (error.message, .storage)
        case let error as FileError: (message, outcome) = (error.message, .storage)
        case _ where FarmError.knows(error):
            let known = FarmError(error)
            (message, outcome) = (known.message, known.outcome)
        default: (message, outcome) = ("the service has failed: \(error)", .unavailable)
        }
    }
}
