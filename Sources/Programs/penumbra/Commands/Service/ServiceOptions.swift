import ArgumentParser
import Coordination
import Foundation
import JobModel
import Planning
import Queueing
import RenderFarm
import ServiceAPI
import ServiceClient
import Settings

/// Which service a command talks to.
struct ServiceOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The folder of a service of this machine.", valueName: "dir"), completion: .directory)
    var serviceDir: String?

    @Option(
        help: ArgumentHelp(
            "The address of a service: a socket's path, or http://127.0.0.1:PORT. Default: PENUMBRA_SERVER, or the service "
                + "beside the state folder.", valueName: "address"), completion: .file())
    var server: String?

    @Option(
        help: ArgumentHelp(
            "A file with a token, which only its owner may read. Default: the token in PENUMBRA_TOKEN.",
            valueName: "file"), completion: .file())
    var tokenFile: String?

    @Option(
        help: ArgumentHelp("The state folder beside which the service is.", valueName: "dir"), completion: .directory)
    var stateDir: String?

    @Option(
        name: .customLong("config"), help: ArgumentHelp("The config file.", valueName: "file"),
        completion: Completions.manifests)
    var configFile: String?

    func validate() throws {
        if serviceDir != nil, server != nil {
            throw ValidationError("--service-dir and --server both name a service; give one of them.")
        }
    }

    /// The folder of the service of this machine.
    func folder() throws -> ServiceFolder {
        if let serviceDir { return ServiceFolder(PathText.normalized(serviceDir, in: currentFolder())) }
        var location = LocationOptions()
        (location.configFile, location.stateDir, location.scratch, location.workers) = (configFile, stateDir, nil, nil)
        return ServiceFolder(besideStateFolder: try Settings.load(location).stateFolder.value)
    }

    func client(_ options: APIClient.Options = APIClient.Options()) throws -> APIClient {
        let environment = ProcessInfo.processInfo.environment
        let address: ServiceAddress
        if let server = server ?? (serviceDir == nil ? environment["PENUMBRA_SERVER"] : nil) {
            address = try ServiceAddress(text: server)
        } else {
            address = try ServiceAddress(socket: try folder().controlSocket)
        }
        return APIClient(
            address,
            token: try BearerToken.find(
                environment: environment,
                file: tokenFile.map { PathText.normalized($0, in: currentFolder()) }), options: options)
    }

    /// Runs the body of a command that talks to a service, and throws its exit code.
    ///
    /// Its calls block, so they have a thread of their own.
    func talking(_ body: @escaping @Sendable (APIClient) throws -> RunOutcome) async throws {
        let client: APIClient
        do {
            client = try self.client()
        } catch let error as ServiceError {
            throw FarmError(error.outcome, error.message)
        }
        let outcome = try await Blocking.run { () throws -> RunOutcome in
            do {
                return try body(client)
            } catch let error as ServiceError {
                throw FarmError(error.outcome, error.message)
            }
        }
        if let failure = Console.outputFailure {
            throw FarmError(.storage, "standard output cannot be written: \(String(cString: strerror(failure)))")
        }
        throw ExitCode(outcome.rawValue)
    }
}

extension QueueEntry {
    /// `job 17 (night)`
    var title: String { "\(id) (\(VisibleText.line(name)))" }
}

extension Console {
    /// Prints what the service has answered as one line.
    static func printJSONLine(of answer: some Encodable) throws {
        printJSON(String(decoding: try StrictJSON.encode(answer), as: UTF8.self))
    }
}
