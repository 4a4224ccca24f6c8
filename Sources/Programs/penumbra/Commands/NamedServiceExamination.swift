import Coordination
import Foundation
import JobModel
import Queueing
import RenderFarm
import ServiceAPI
import ServiceClient
import Settings

/// Checks the service and the token that the settings name, for `penumbra doctor`.
struct NamedServiceExamination {
    let server: Setting<String?>
    let tokenFile: Setting<String?>

    func run() async throws -> RunOutcome {
        let token: BearerToken?
        do {
            token = try BearerToken.find(environment: ProcessInfo.processInfo.environment, file: tokenFile.value)
        } catch {
            let origin = tokenFile.value == nil ? "" : "\(tokenFile.origin.description): "
            return fail(origin + error.message + missingFile, error.outcome)
        }
        guard let server = server.value else { return .done }
        var address: ServiceAddress?
        do {
            let named = try ServiceAddress(text: server)
            address = named
            return try await ask(named, token)
        } catch let error as ServiceError {
            return fail(words(about: error, address), error.outcome)
        }
    }

    private func ask(_ address: ServiceAddress, _ token: BearerToken?) async throws -> RunOutcome {
        let client = APIClient(address, token: token)
        guard token != nil else {
            let status = try await Blocking.run { () throws in
                try client.call(ClientRequest(.get, "/status"), as: ServiceStatus.self)
            }
            say("service \(place(address.description)): answers, process \(status.pid)")
            return .done
        }
        let caller = try await Blocking.run { () throws in
            try client.call(ClientRequest(.get, "/session"), as: SessionEntry.self)
        }
        say("service \(place(address.description)): answers")
        let end = caller.expires.map { "expires \($0.local)" } ?? "does not expire"
        say("token \(VisibleText.line(caller.name)): accepted, scope \(caller.scope.rawValue), \(end)")
        return .done
    }

    private func place(_ address: String) -> String { "\(VisibleText.line(address)) of \(server.origin.description)" }

    /// What to do if the token's file does not exist.
    private var missingFile: String {
        guard let file = tokenFile.value, access(file, F_OK) != 0 else { return "" }
        return
            "\n   = write a token into this file, with mode 600: an administrator makes one with 'penumbra token add NAME'"
    }

    private func words(about error: ServiceError, _ address: ServiceAddress?) -> String {
        guard error.problem == .noService, let address else {
            return "\(server.origin.description): \(error.message)"
        }
        return Self.noService(at: address, of: server.origin)
    }

    /// The problem of a service that the user or the settings name. Other users may share it, so the advice is not to start
    /// another one.
    static func noService(at address: ServiceAddress, of origin: SettingOrigin) -> String {
        let option = if case .flag(let flag) = origin { flag } else { "'server'" }
        return "no service listens at \(VisibleText.line(address.description)) of \(origin.description)\n"
            + "   = start that service, or ask its administrator: 'systemctl start penumbra' starts the one of the package\n"
            + "   = if it is elsewhere, correct \(option)"
    }

    private func say(_ text: String) { Console.print("ok    \(text)") }

    private func fail(_ text: String, _ outcome: RunOutcome) -> RunOutcome {
        Console.print("FAIL  \(text)")
        return outcome
    }
}
