import Foundation
import Testing

/// `penumbra schema`: what a YAML editor knows of manifests.
@Suite(.serialized) struct SchemaTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
    }

    /// What Debian's `python3-jsonschema` has to say of manifests that its `python3-yaml` has read: the paths of what is
    /// wrong, `-` for the whole.
    private func mistakes(_ manifests: [String]) async throws -> [String] {
        let script = """
            import json, sys, jsonschema, yaml
            schema = json.load(open("schema.json"))
            jsonschema.Draft202012Validator.check_schema(schema)
            for name in sys.argv[1:]:
                for error in jsonschema.Draft202012Validator(schema).iter_errors(yaml.safe_load(open(name))):
                    print(".".join(str(part) for part in error.path) or "-")
            """
        let result = try await Program.run("/usr/bin/python3", ["-c", script] + manifests, in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        return result.output.split(separator: "\n").map(String.init).sorted()
    }

    private func writeSchema(_ environment: [String: String] = [:]) async throws {
        let result = try await Program.run("schema", in: workspace, environment: environment)
        #expect(result.code == 0, "\(result.errors)")
        try workspace.write(result.output, to: "schema.json")
    }

    private static let jobs = ExampleTests.project.appending(path: "jobs").path

    @Test func `every example is valid, but the wrong one`() async throws {
        try await writeSchema()
        let right = ExampleTests.manifests.filter { $0 != "wrong.yaml" }.map { "\(Self.jobs)/\($0)" }
        #expect(try await mistakes(right) == [])
        #expect(
            try await mistakes(["\(Self.jobs)/wrong.yaml"])
                == ["-", "-", "filters.0", "filters.1", "filters.2", "output", "save.quality", "verify"])
    }

    @Test func `filters, built in or not, are known with their parameters and their defaults`() async throws {
        try await writeSchema()
        let schema = try #require(
            try JSONSerialization.jsonObject(with: workspace.read("schema.json")) as? [String: Any])
        let definitions = try #require(schema["$defs"] as? [String: [String: Any]])
        let filters = try await Program.run("filters", "--json", in: workspace)
        let listed = try #require(
            try JSONSerialization.jsonObject(with: Data(filters.output.utf8)) as? [[String: Any]])
        for filter in listed {
            let name = try #require(filter["name"] as? String)
            let definition = try #require(definitions["filter.\(name)"])
            // A filter may have a short form, too.
            let forms = definition["anyOf"] as? [[String: Any]] ?? [definition]
            let properties = forms[0]["properties"] as? [String: Any]
            let parameters = try #require(filter["parameters"] as? [[String: Any]]).compactMap { $0["name"] as? String }
            #expect(Set(parameters).isSubset(of: Set(properties?.keys.map { $0 } ?? [])), "\(name)")
        }
        let gaussian = definitions["filter.gaussian"]?["properties"] as? [String: [String: Any]]
        #expect(gaussian?["radius"]?["default"] as? Int == 10)
        #expect(gaussian?["edge"]?["enum"] as? [String] == ["clamp", "mirror", "wrap", "transparent"])
        #expect(definitions["filter.invert"] != nil)
    }
}
