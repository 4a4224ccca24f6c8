import ArgumentParser
import Coordination
import Foundation
import Glibc
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
            "The address of a service: a socket's path, or http://127.0.0.1:PORT. Default: PENUMBRA_SERVER, 'server' in a "
                + "config file, or the service beside the state folder.", valueName: "address"), completion: .file())
    var server: String?

    @Option(
        help: ArgumentHelp(
            "A file with a token, which only its owner may read. Default: the token in PENUMBRA_TOKEN, or 'token_file' in a "
                + "config file.",
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

    private func settings() throws -> Settings {
        var location = LocationOptions()
        (location.configFile, location.stateDir, location.scratch, location.workers) = (configFile, stateDir, nil, nil)
        return try Settings.load(location)
    }

    /// Where the service listens.
    private struct Place {
        let address: ServiceAddress
        /// Whether the address is a guess, because the user has named none. The user may mean another service.
        var isGuessed = false
        /// What names the service; nil if it is the service of a folder.
        var origin: SettingOrigin?
        /// Whether the kernel tells it who calls, so that no token is needed.
        var isOfFolder = false
    }

    /// Flags, then the variable, then the config files, then the service beside the state folder.
    private func place() throws -> Place {
        if let server { return Place(address: try ServiceAddress(text: server), origin: .flag("--server")) }
        if let serviceDir {
            let folder = ServiceFolder(PathText.normalized(serviceDir, in: currentFolder()))
            return Place(address: try ServiceAddress(socket: folder.controlSocket), isOfFolder: true)
        }
        let settings = try settings()
        if let server = settings.server.value, !(stateDir != nil && settings.server.origin.isFile) {
            do {
                return Place(address: try ServiceAddress(text: server), origin: settings.server.origin)
            } catch {
                throw FarmError(error.outcome, "\(settings.server.origin.description): \(error.message)")
            }
        }
        let folder = ServiceFolder(besideStateFolder: settings.stateFolder.value)
        return Place(
            address: try ServiceAddress(socket: folder.controlSocket), isGuessed: stateDir == nil, isOfFolder: true)
    }

    /// The client of the service that the options, the variable or the config files name.
    func client(_ options: APIClient.Options = APIClient.Options()) throws -> APIClient {
        try client(at: try place(), options)
    }

    private func client(
        at place: Place, _ options: APIClient.Options = APIClient.Options()
    ) throws -> APIClient {
        let environment = ProcessInfo.processInfo.environment
        var file = tokenFile.map { PathText.normalized($0, in: currentFolder()) }
        if file == nil, !place.isOfFolder, environment[BearerToken.variable]?.isEmpty ?? true {
            file = try settings().tokenFile.value
        }
        return APIClient(
            place.address, token: try BearerToken.find(environment: environment, file: file), options: options)
    }

    private static let otherService =
        "\n   = or name a service that somebody else has started: 'server' in a config file, PENUMBRA_SERVER, or --server"

    /// The folder of the service that the Debian package starts.
    private static let packagedFolder = "/var/lib/penumbra-service"

    private func hint(about error: ServiceError) -> String {
        guard tokenFile == nil, server == nil, serviceDir == nil else { return "" }
        let exists = access(Self.packagedFolder, F_OK) == 0
        return error.hint(forRoot: geteuid() == 0, folder: exists ? Self.packagedFolder : nil)
    }

    /// Runs the body of a command that talks to a service, and throws its exit code.
    ///
    /// Its calls block, so they have a thread of their own.
    func talking(_ body: @escaping @Sendable (APIClient) throws -> RunOutcome) async throws {
        let (place, client): (Place, APIClient)
        do {
            place = try self.place()
            client = try self.client(at: place)
        } catch let error as ServiceError {
            throw FarmError(error.outcome, error.message + hint(about: error))
        }
        let outcome = try await Blocking.run { () throws -> RunOutcome in
            do {
                return try body(client)
            } catch let error as ServiceError {
                if error.problem == .noService, let origin = place.origin {
                    throw FarmError(error.outcome, NamedServiceExamination.noService(at: place.address, of: origin))
                }
                let hint = error.problem == .noService && place.isGuessed ? Self.otherService : hint(about: error)
                throw FarmError(error.outcome, error.message + hint)
            }
        }
        if let failure = Console.outputFailure {
            throw FarmError(.storage, "standard output cannot be written: \(String(cString: strerror(failure)))")
        }
        throw ExitCode(outcome.rawValue)
    }
}

extension SettingOrigin {
    var isFile: Bool { if case .file = self { true } else { false } }
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
