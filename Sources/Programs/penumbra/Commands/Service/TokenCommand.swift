import ArgumentParser
import Coordination
import Foundation
import JobModel
import Planning
import Queueing
import RenderFarm
import ServiceAPI
import ServiceClient

struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Make, list, change, renew and revoke the tokens of a service.",
        discussion: """
            Commands of the service's own user need no token. Everybody else does: programs on the service's port, and people behind \
            a proxy.
            """,
        subcommands: [
            TokenAddCommand.self, TokenListCommand.self, TokenChangeCommand.self, TokenRenewCommand.self,
            TokenRevokeCommand.self,
        ])
}

struct TokenAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Make a token, and print it. Nothing shows it again.")

    @Argument(help: ArgumentHelp("For whom it is. Lists show the name.", valueName: "name"))
    var name: String

    @Option(
        help: ArgumentHelp(
            "What the token allows: to read, to submit and change own jobs too, or everything (admin).",
            valueName: "scope"))
    var scope: TokenScope

    @Option(
        name: .customLong("root"),
        help: ArgumentHelp(
            "A folder that its jobs may use. May be given again. Default: all folders.", valueName: "dir"),
        completion: .directory)
    var roots: [String] = []

    @Option(help: ArgumentHelp("The highest priority of its jobs, 0 to 100. Default: no limit.", valueName: "number"))
    var maxPriority: Int?

    @OptionGroup var lifetime: TokenLifetime
    @OptionGroup var service: ServiceOptions

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws { if let maxPriority { _ = try PriorityOption.priority("\(maxPriority)") } }

    func run() async throws {
        let folder = currentFolder()
        let body = try StrictJSON.encode(
            TokenRequest(
                name: name, scope: scope, roots: roots.map { PathText.normalized($0, in: folder) },
                maxPriority: try maxPriority.map { try Priority($0) },
                expires: try lifetime.end()))
        let json = json
        try await service.talking { client in
            let answer = try client.send(ClientRequest(.post, "/tokens", body: body))
            return try TokenText.show(answer, json: json, client)
        }
    }
}

/// How long a token is valid.
struct TokenLifetime: ParsableArguments {
    @Option(help: ArgumentHelp("For how long it is valid: 12h, 90d. Default: for ever.", valueName: "time"))
    var expires: String?

    private static let units: [Character: Int] = ["h": 3600, "d": 86_400]

    /// Nil for ever.
    func end() throws -> WallTime? {
        guard let expires else { return nil }
        guard let factor = expires.last.flatMap({ Self.units[$0] }), let count = Int(expires.dropLast()),
            (1...36_500).contains(count)
        else { throw ValidationError("--expires takes a number of hours or days: 12h, 90d.") }
        return WallTime(seconds: Int(Date().timeIntervalSince1970)) + .seconds(count * factor)
    }

    func validate() throws { _ = try end() }
}

/// New tokens, and tokens that a user names.
private enum TokenText {
    struct List: Decodable { let tokens: [TokenEntry] }

    static func show(_ answer: ClientAnswer, json: Bool, _ client: APIClient) throws -> RunOutcome {
        let created = try client.decode(TokenCreated.self, from: answer)
        json ? Console.printJSON(String(decoding: answer.body, as: UTF8.self)) : Console.print(created.token)
        if let warning = created.warning { Console.complain("warning: \(warning)") }
        return .done
    }

    /// The token with an identifier, or the only one with a name. Of several with one name, revoked ones do not count.
    static func find(_ text: String, in tokens: [TokenEntry]) throws -> TokenEntry {
        if let token = tokens.first(where: { $0.id == text }) { return token }
        let named = tokens.filter { $0.name == text }
        let valid = named.filter { $0.revoked == nil }
        let found = valid.isEmpty ? named : valid
        guard let first = found.first else {
            throw FarmError(
                .missingInput,
                "'\(VisibleText.line(text))' is no token, and no name of one\n   = 'penumbra token list' lists them")
        }
        guard found.count == 1 else {
            throw FarmError(
                .usage,
                "\(found.count) tokens are called '\(VisibleText.line(text))'\n   = name one of them: "
                    + found.map(\.id).joined(separator: ", "))
        }
        return first
    }

    /// `anna (mbkyquno)`
    static func title(_ token: TokenEntry) -> String {
        "\(VisibleText.line(token.name)) (\(VisibleText.line(token.id)))"
    }
}

/// The values of `--max-priority`.
private enum PriorityOption {
    static func priority(_ text: String) throws -> Priority {
        guard let priority = try? Priority(text: text) else {  // the words name the option instead
            throw ValidationError("--max-priority: '\(VisibleText.line(text))' is not a whole number from 0 to 100")
        }
        return priority
    }
}

struct TokenChangeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "change",
        abstract: "Change the highest priority that a token allows.",
        discussion: """
            The limit counts from the next request on. Jobs in the queue keep their priorities. The token, its scope and its folders stay.
            """)

    @Argument(
        help: ArgumentHelp("The token or its name, as 'penumbra token list' shows them.", valueName: "token"),
        completion: ServiceCompletions.tokens)
    var token: String

    @Option(
        help: ArgumentHelp("The highest priority of its jobs, 0 to 100, or none for no limit.", valueName: "number"))
    var maxPriority: String

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Print JSON.")
    var json = false

    private func limit() throws -> Priority? {
        maxPriority == "none" ? nil : try PriorityOption.priority(maxPriority)
    }

    func validate() throws { _ = try limit() }

    func run() async throws {
        let (name, json) = (token, json)
        let body = try StrictJSON.encode(TokenChange(maxPriority: try limit()))
        try await service.talking { client in
            let tokens = try client.call(ClientRequest(.get, "/tokens"), as: TokenText.List.self).tokens
            let token = try TokenText.find(name, in: tokens)
            let changed = try client.call(
                ClientRequest(.patch, "/tokens/\(APIPath.escaped(token.id))", body: body), as: TokenEntry.self)
            if json {
                try Console.printJSONLine(of: changed)
            } else {
                let limit = changed.maxPriority.map { "a priority of at most \($0.value)" } ?? "any priority"
                Console.print("\(TokenText.title(changed)): its jobs may have \(limit)")
            }
            return .done
        }
    }
}

struct TokenRenewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "renew",
        abstract: "Make a new token for the same person and the same jobs, and print it.",
        discussion: """
            The old token is invalid at once, and its streams end. The new one has the same name, scope, folders and highest \
            priority, and may change the jobs of the old one. A token that has expired or was revoked can be renewed, too.
            """)

    @Argument(
        help: ArgumentHelp("The token or its name, as 'penumbra token list' shows them.", valueName: "token"),
        completion: ServiceCompletions.tokens)
    var token: String

    @OptionGroup var lifetime: TokenLifetime
    @OptionGroup var service: ServiceOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let (name, json) = (token, json)
        let body = try StrictJSON.encode(TokenRenewal(expires: try lifetime.end()))
        try await service.talking { client in
            let tokens = try client.call(ClientRequest(.get, "/tokens"), as: TokenText.List.self).tokens
            let token = try TokenText.find(name, in: tokens)
            let answer = try client.send(
                ClientRequest(.post, "/tokens/\(APIPath.escaped(token.id))/renew", body: body))
            return try TokenText.show(answer, json: json, client)
        }
    }
}

struct TokenListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List tokens, without their secrets.")

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Print JSON lines, one for each token.")
    var json = false

    func run() async throws {
        let json = json
        try await service.talking { client in
            let tokens = try client.call(ClientRequest(.get, "/tokens"), as: TokenText.List.self).tokens
            if json {
                for token in tokens {
                    try Console.printJSONLine(of: token)
                }
                return .done
            }
            guard !tokens.isEmpty else {
                Console.print("no tokens; 'penumbra token add' makes one")
                return .done
            }
            let now = WallTime(seconds: Int(Date().timeIntervalSince1970))
            var table = Table(["token", "name", "scope", "folders", "priority", "created", "expires", "state"])
            for token in tokens {
                table.add(
                    token.id, VisibleText.line(token.name), token.scope.rawValue,
                    token.roots.isEmpty ? "all" : token.roots.map(VisibleText.line).joined(separator: " "),
                    token.maxPriority.map { "to \($0.value)" } ?? "all", token.created.local,
                    token.expires?.local ?? "never",
                    token.revoked.map { "revoked \($0.local)" }
                        ?? (token.expires.map { $0 <= now } == true ? "expired" : nil)
                        ?? token.used.map { "used \($0.local)" } ?? "unused")
            }
            for line in table.lines { Console.print(line) }
            return .done
        }
    }
}

struct TokenRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Make tokens invalid at once. Their streams end.")

    @Argument(
        help: ArgumentHelp("Tokens or their names, as 'penumbra token list' shows them.", valueName: "token"),
        completion: ServiceCompletions.tokens)
    var tokens: [String]

    @OptionGroup var service: ServiceOptions

    func run() async throws {
        let names = tokens
        try await service.talking { client in
            let known = try client.call(ClientRequest(.get, "/tokens"), as: TokenText.List.self).tokens
            // A wrong name must not leave the others half done.
            for token in try names.map({ try TokenText.find($0, in: known) }) {
                _ = try client.send(ClientRequest(.delete, "/tokens/\(APIPath.escaped(token.id))"))
                Console.print("\(TokenText.title(token)): revoked")
            }
            return .done
        }
    }
}

extension TokenScope: ExpressibleByArgument {}
