import Catalogs
import Foundation
import Manifests
import Yams

/// What a public validator says of documents, as a YAML editor would hand them to it.
enum SchemaChecker {
    struct Trouble: Error { let words: String }

    /// For each text, whether the schema of the catalog takes it.
    static func accepts(_ texts: [String], catalog: Catalog = .example) throws -> [Bool] {
        let documents = try texts.map { text in
            guard let node = try Yams.compose(yaml: text) else { throw Trouble(words: "no YAML: \(text)") }
            return node.json
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "schema-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(ManifestSchema(catalog).json.utf8).write(to: folder.appending(path: "schema"))
        try Data("[\(documents.joined(separator: ",\n"))]".utf8).write(to: folder.appending(path: "documents"))
        let answer = try run(folder)
        return answer.split(separator: "\n").map { $0 == "yes" }
    }

    /// By Debian's `python3-jsonschema`.
    private static func run(_ folder: URL) throws -> String {
        let script = """
            import json, jsonschema
            schema = json.load(open("schema"))
            jsonschema.Draft202012Validator.check_schema(schema)
            validator = jsonschema.Draft202012Validator(schema)
            for document in json.load(open("documents")): print("yes" if validator.is_valid(document) else "no")
            """
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = ["-c", script]
        process.currentDirectoryURL = folder
        let (output, errors) = (Pipe(), Pipe())
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let answer = output.fileHandleForReading.readDataToEndOfFile()
        let complaint = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Trouble(words: String(decoding: complaint, as: UTF8.self)) }
        return String(decoding: answer, as: UTF8.self)
    }
}

extension Yams.Node {
    /// The document as JSON, by the core schema of YAML 1.2.
    fileprivate var json: String {
        switch self {
        case .scalar(let scalar): scalar.style == .plain ? Self.meaning(scalar.string) : Self.quoted(scalar.string)
        case .sequence(let items): "[\(items.map(\.json).joined(separator: ", "))]"
        case .mapping(let entries):
            "{\(entries.map { "\(Self.quoted($0.key.string ?? "")): \($0.value.json)" }.joined(separator: ", "))}"
        case .alias: "null"
        }
    }

    private static func meaning(_ text: String) -> String {
        if ["null", "Null", "NULL", "~", ""].contains(text) { return "null" }
        if ["true", "True", "TRUE"].contains(text) { return "true" }
        if ["false", "False", "FALSE"].contains(text) { return "false" }
        if text.wholeMatch(of: /[-+]?[0-9]+/) != nil, let integer = Int(text) { return String(integer) }
        if text.wholeMatch(of: /0x[0-9a-fA-F]+/) != nil, let integer = Int(text.dropFirst(2), radix: 16) {
            return String(integer)
        }
        if text.wholeMatch(of: /[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?/) != nil, let number = Double(text)
        {
            return String(number)
        }
        return quoted(text)
    }

    private static func quoted(_ text: String) -> String {
        let data = try? JSONEncoder().encode(text)
        return data.map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }
}
