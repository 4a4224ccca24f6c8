import Endpoints
import Foundation
import HTTPService
import Testing
import Yams

/// `openapi.yaml` is written by hand. It describes exactly the routes that there are.
@Suite struct DescriptionTests {
    private let document: [String: Any]
    private let routes: RouteTable

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/openapi.yaml")
        let text = try String(contentsOf: file, encoding: .utf8)
        document = try #require(try Yams.load(yaml: text) as? [String: Any])
        routes = try IdleFarm().service.routes
    }

    private var operations: [(name: String, values: [String: Any])] {
        let paths = document["paths"] as? [String: [String: Any]] ?? [:]
        return paths.flatMap { path, item in
            item.compactMap { method, values in
                guard RequestMethod(rawValue: method.uppercased()) != nil, let values = values as? [String: Any] else {
                    return nil
                }
                return ("\(method.uppercased()) \(path)", values)
            }
        }
    }

    @Test func `every route is described with what a caller needs, and nothing else is`() {
        let described = operations.map { "\($0.name) \($0.values["x-access"] as? String ?? "–")" }.sorted()
        let existing = routes.routes.map { "\($0.method.rawValue) \($0.pattern) \($0.access.rawValue)" }.sorted()
        #expect(described.filter { !existing.contains($0) } == [], "described, and not there")
        #expect(existing.filter { !described.contains($0) } == [], "there, and not described")
    }

    @Test func `open routes need no token, and only they`() {
        for (name, values) in operations {
            let isOpen = (values["security"] as? [Any])?.isEmpty ?? false
            #expect(isOpen == (values["x-access"] as? String == "open"), "\(name)")
        }
    }

    @Test func `every operation has a name of its own, a summary and problems`() {
        let names = operations.compactMap { $0.values["operationId"] as? String }
        #expect(Set(names).count == operations.count)
        for (name, values) in operations {
            #expect((values["summary"] as? String)?.hasSuffix(".") == true, "\(name)")
            #expect((values["responses"] as? [String: Any])?["default"] != nil, "\(name)")
        }
    }

    @Test func `every parameter of a path is declared`() {
        let paths = document["paths"] as? [String: [String: Any]] ?? [:]
        let shared = (document["components"] as? [String: Any])?["parameters"] as? [String: [String: Any]] ?? [:]
        for (path, item) in paths {
            let wanted = path.split(separator: "/").filter { $0.hasPrefix("{") }.map {
                String($0.dropFirst().dropLast())
            }
            let declared = (item["parameters"] as? [[String: Any]] ?? []).compactMap { parameter -> String? in
                let reference = (parameter["$ref"] as? String)?.split(separator: "/").last.map(String.init)
                let values = reference.flatMap { shared[$0] } ?? parameter
                return values["in"] as? String == "path" ? values["name"] as? String : nil
            }
            #expect(declared.sorted() == wanted.sorted(), "\(path)")
        }
    }

    @Test func `every reference leads somewhere, and everything is referred to`() throws {
        let text = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/openapi.yaml"),
            encoding: .utf8)
        let references = Set(text.matches(of: /#\/components\/([A-Za-z]+)\/([A-Za-z]+)/).map { "\($0.1)/\($0.2)" })
        let components = document["components"] as? [String: [String: Any]] ?? [:]
        let existing = Set(components.flatMap { kind, values in values.keys.map { "\(kind)/\($0)" } })
        #expect(references.subtracting(existing) == [])
        #expect(existing.subtracting(references) == ["securitySchemes/token"])
    }
}
