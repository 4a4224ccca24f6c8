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
        abstract: "Make, list and revoke the tokens of a service.",
        discussion: """
            Commands of the service's own user need no token. Everybody else does: programs on the service's port, and people behind \
            a proxy.
            """,
        subcommands: [TokenAddCommand.self, TokenListCommand.self, TokenRevokeCommand.self])
}

struct TokenAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Make a token, and print it. Nothing shows it again.")

    @Argument(help: ArgumentHelp("For whom it is. Lists show the name.", valueName: "name"))
    var name: String

    @Option(help: ArgumentHelp("read; submit: also own jobs; admin: everything.", valueName: "scope"))
    var scope: TokenScope

    @Option(
        name: .customLong("root"),
        help: ArgumentHelp(
            "A folder that its jobs may use. May be given again. Default: all folders.", valueName: "dir"))
    var roots: [String] = []

    @Option(help: ArgumentHelp("For how long it is valid: 12h, 90d. Default: for ever.", valueName: "time"))
    var expires: String?

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Print JSON.")
    var json = false

    private static let units: [Character: Int] = ["h": 3600, "d": 86_400]

    /// Nil for ever.
    private func end() throws -> WallTime? {
        guard let expires else { return nil }
        guard let factor = expires.last.flatMap({ Self.units[$0] }), let count = Int(expires.dropLast()),
            (1...36_500).contains(count)
        else { throw ValidationError("--expires takes a number of hours or days: 12h, 90d.") }
        return WallTime(seconds: Int(Date().timeIntervalSince1970)) + .seconds(count * factor)
    }

    func validate() throws { _ = try end() }

    func run() async throws {
        let folder = currentFolder()
        let body = try StrictJSON.encode(
            TokenRequest(
                name: name, scope: scope, roots: roots.map { PathText.normalized($0, in: folder) }, expires: try end()))
        let json = json
        try await service.talking { client in
            let answer = try client.send(ClientRequest(.post, "/tokens", body: body))
            if json {
                Console.printJSON(String(decoding: answer.body, as: UTF8.self))
            } else {
                Console.print(try client.decode(TokenCreated.self, from: answer).token)
            }
            if let warning = try client.decode(TokenCreated.self, from: answer).warning {
                Console.complain("warning: \(warning)")
            }
            return .done
        }
    }
}

struct TokenListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List tokens, without their secrets.")

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Print JSON lines, one for each token.")
    var json = false

    private struct List: Decodable { let tokens: [TokenEntry] }

    func run() async throws {
        let json = json
        try await service.talking { client in
            let tokens = try client.call(ClientRequest(.get, "/tokens"), as: List.self).tokens
            if json {
                for token in tokens {
                    Console.printJSON(String(decoding: try StrictJSON.encode(token), as: UTF8.self))
                }
                return .done
            }
            guard !tokens.isEmpty else {
                Console.print("no tokens; 'penumbra token add' makes one")
                return .done
            }
            var table = Table(["token", "name", "scope", "folders", "created", "expires", "state"])
            for token in tokens {
                table.add(
                    token.id, VisibleText.line(token.name), token.scope.rawValue,
                    token.roots.isEmpty ? "all" : token.roots.map(VisibleText.line).joined(separator: " "),
                    token.created.text, token.expires?.text ?? "never",
                    token.revoked.map { "revoked \($0)" } ?? token.used.map { "used \($0)" } ?? "unused")
            }
            for line in table.lines { Console.print(line) }
            return .done
        }
    }
}

struct TokenRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Make tokens invalid at once. Their streams end.")

    @Argument(help: ArgumentHelp("Tokens, as 'penumbra token list' names them.", valueName: "token"))
    var tokens: [String]

    @OptionGroup var service: ServiceOptions

    func run() async throws {
        let tokens = tokens
        try await service.talking { client in
            for token in tokens {
                _ = try client.send(ClientRequest(.delete, "/tokens/\(APIPath.escaped(token))"))
                Console.print("\(VisibleText.line(token)): revoked")
            }
            return .done
        }
    }
}

extension TokenScope: ExpressibleByArgument {}
