import ArgumentParser
import JobModel
import RenderFarm
import ServiceClient

/// Lets a command about runs ask a service in place of the state folder.
///
/// Only the flags do. `PENUMBRA_SERVER` is for commands that always talk to a service. If it counted here, too, then a variable that
/// was set for 'penumbra submit' would give 'penumbra status' in a script other runs to show.
struct RunServerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Ask this service, in place of the state folder: a socket's path, or http://127.0.0.1:PORT.",
            valueName: "address"), completion: .file())
    var server: String?

    @Option(
        help: ArgumentHelp(
            "Ask the service with this folder, in place of the state folder.", valueName: "dir"),
        completion: .directory)
    var serviceDir: String?

    @Option(
        help: ArgumentHelp(
            "With --server: a file with a token, which only its owner may read. Default: the token in PENUMBRA_TOKEN.",
            valueName: "file"), completion: .file())
    var tokenFile: String?

    func validate() throws {
        if serviceDir != nil, server != nil {
            throw ValidationError("--service-dir and --server both name a service; give one of them.")
        }
        if tokenFile != nil, server == nil { throw ValidationError("--token-file belongs to --server.") }
    }

    /// Refuses options that the service decides, or that name another place.
    ///
    /// - Parameter given: options of the command that it has no use for with a service, and whether they are given.
    func check(
        _ options: RunLookupOptions, _ shared: RunDirOption? = nil, _ given: [(name: String, isGiven: Bool)] = []
    ) throws {
        guard let flag = server != nil ? "--server" : serviceDir != nil ? "--service-dir" : nil else { return }
        let places = [
            ("--run-dir", shared?.runDir != nil), ("--state-dir", options.stateDir != nil),
            ("--config", options.configFile != nil),
        ]
        if let name = places.first(where: \.1)?.0 {
            throw ValidationError("\(name) is for runs of this machine, and \(flag) asks a service; give one of them.")
        }
        if let name = given.first(where: \.isGiven)?.name {
            throw ValidationError("\(name) cannot be used with \(flag).")
        }
    }

    /// Nil if the state folder is meant.
    var service: ServiceOptions? {
        guard server != nil || serviceDir != nil else { return nil }
        var options = ServiceOptions()
        (options.server, options.tokenFile) = (server, tokenFile)
        (options.serviceDir, options.stateDir, options.configFile) = (serviceDir, nil, nil)
        return options
    }
}

extension ServiceOptions {
    /// Runs the body of a command about runs of a service, and throws its exit code.
    func asking(_ body: @escaping @Sendable (RemoteRuns) throws -> RunOutcome) async throws -> RunOutcome {
        try await talking { try body(RemoteRuns(client: $0)) }
        // Never: it throws the exit code. Callers have to return an outcome.
        return .done
    }
}
