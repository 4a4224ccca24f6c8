import Foundation
import Testing

/// How the help texts and the reference read. Lists and examples, whose lines begin with blanks, do not count.
@Suite struct HelpReadabilityTests {
    private static let longest = 25
    private static let mean = 14.0

    /// A sentence, and where it is.
    private struct Sentence {
        let place: String
        let text: String

        var words: Int { text.split(separator: " ").count }
    }

    private static func sentences(of text: String, at place: String) -> [Sentence] {
        text.components(separatedBy: "\n\n").flatMap { paragraph in
            paragraph.split(separator: "\n").filter { !$0.hasPrefix("  ") }.joined(separator: " ")
                .components(separatedBy: ". ").filter { !$0.isEmpty }.map { Sentence(place: place, text: $0) }
        }
    }

    /// The texts of a command, of its options and of its own commands.
    private static func help(_ command: [String: Any], behind path: String) -> [Sentence] {
        let name = path + (command["commandName"] as? String ?? "")
        var found = ["abstract", "discussion"].flatMap { sentences(of: command[$0] as? String ?? "", at: name) }
        for option in command["arguments"] as? [[String: Any]] ?? [] {
            let place = "\(name) \(option["valueName"] as? String ?? "")"
            found += sentences(of: option["abstract"] as? String ?? "", at: place)
        }
        return found
            + (command["subcommands"] as? [[String: Any]] ?? []).flatMap { help($0, behind: "\(name) ") }
    }

    /// The members `sentence` and `remedy` of a document, at any depth.
    private static func reference(_ value: Any, at place: String) -> [Sentence] {
        if let list = value as? [Any] { return list.flatMap { reference($0, at: place) } }
        guard let members = value as? [String: Any] else { return [] }
        return members.flatMap { name, member in
            if let text = member as? String {
                return ["sentence", "remedy"].contains(name) ? sentences(of: text, at: place) : []
            }
            return reference(member, at: "\(place) \(name)")
        }
    }

    private static func document(_ arguments: [String], in workspace: Workspace) async throws -> [String: Any] {
        let result = try await Program.run(Program.penumbra, arguments, in: workspace)
        return try #require(
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any], "\(result.errors)")
    }

    private static func everything(in workspace: Workspace) async throws -> [Sentence] {
        let dump = try await document(["--experimental-dump-help"], in: workspace)
        let command = try #require(dump["command"] as? [String: Any])
        return help(command, behind: "")
            + reference(try await document(["reference", "--json"], in: workspace), at: "reference")
    }

    @Test func `no sentence of the help and of the reference is long, and none has a semicolon`() async throws {
        let sentences = try await Self.everything(in: Workspace())
        #expect(sentences.count > 500)
        for sentence in sentences where sentence.words > Self.longest || sentence.text.contains(";") {
            Issue.record("\(sentence.place): \(sentence.words) words: \(sentence.text)")
        }
        let words = sentences.reduce(0) { $0 + $1.words }
        #expect(Double(words) / Double(sentences.count) <= Self.mean)
    }
}
