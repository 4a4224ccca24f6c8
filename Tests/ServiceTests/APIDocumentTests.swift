import Foundation
import Queueing
import ServiceAPI
import TestSupport
import Testing

/// The pages of the HTTP interface: their calls work as they stand, one after the other, and answer what is shown below them.
@Suite(.serialized) struct APIDocumentTests {
    private static let project = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Of all pages, in the order of the pages.
    private let commands: [(page: String, command: ShownCommand)]

    init() throws {
        commands = try ServicePages.interface.flatMap { page in
            let text = try String(contentsOf: Self.project.appending(path: page), encoding: .utf8)
            return ShownCommand.all(in: text).map { (page, $0) }
        }
    }

    @Test func `the pages of the HTTP interface show what its calls answer`() async throws {
        let farm = try Farm()
        try farm.draw(2)
        try await farm.start("--web-socket")
        for (page, command) in commands {
            let result = try await Self.run(command.text, in: farm)
            let context: Comment = "\(page):\(command.line): \(command.text)\n\(result.output)\n\(farm.log)"
            try #require(result.code == command.code, context)
            try #require(command.firstMissing(in: result.output) == nil, context)
        }
        try await farm.end()
    }

    /// Both standard streams are the output.
    private static func run(_ text: String, in farm: Farm) async throws -> Farm.Result {
        try await farm.run(
            "/bin/bash", ["-e", "-c", "exec 2>&1\n\(text)"],
            environment: [
                "PATH": "\(Farm.programs):/usr/bin:/bin", "SOCKET": farm.serviceFolder.controlSocket,
                "WEB": farm.serviceFolder.webSocket,
                "PENUMBRA_SERVER": farm.serviceFolder.controlSocket,
                "EXAMPLES": project.appending(path: "Examples/api").path,
            ])
    }

    // MARK: What is shown

    /// `POST /api/v1/jobs/{id}/cancel`, as `openapi.yaml` has it.
    private static func described() throws -> Set<String> {
        let text = try String(contentsOf: project.appending(path: "docs/openapi.yaml"), encoding: .utf8)
        var (operations, path) = (Set<String>(), "")
        for line in text.split(separator: "\n") {
            if let match = line.wholeMatch(of: /\ \ (\/[^ ]*):/) { path = String(match.1) }
            if let match = line.wholeMatch(of: /\ \ \ \ (get|post|patch|put|delete):/) {
                operations.insert("\(match.1.uppercased()) \(path)")
            }
        }
        return operations
    }

    private static func operation(_ command: String) -> String? {
        // Names that other commands have found.
        let call = command.replacing(/\$\(cat [a-z]+\)/, with: "{name}").replacing(/\$\(grep[^)]*\)/, with: "{id}")
        guard call.hasPrefix("curl "), let address = call.firstMatch(of: /http:\/\/localhost(\/[^ '"?]*)/) else {
            return nil
        }
        let method = call.firstMatch(of: /\ -X ([A-Z]+)/).map { String($0.1) } ?? "GET"
        let path = address.1.replacing(/\/jobs\/[0-9]+/, with: "/jobs/{id}")
            .replacing(/\/frames\/[0-9]+/, with: "/frames/{number}")
            .replacing("/errors/{name}", with: "/errors/{group}")
            .replacing(/\/schedules\/.*/, with: "/schedules/{name}").replacing(/\/page\/.*/, with: "/page/{name}")
        return "\(method) \(path)"
    }

    @Test func `every call of the API is shown`() throws {
        let described = try Self.described()
        #expect(described.count >= 40)
        let shown = Set(commands.compactMap { Self.operation($0.command.text) })
        #expect(described.subtracting(shown) == [], "described, and not shown")
        #expect(shown.subtracting(described) == [], "shown, and not described")
    }

    // MARK: The example

    @Test func `the example in Python exits as the job does`() async throws {
        let farm = try Farm()
        try farm.draw(2)
        try farm.writeManifest()
        try await farm.start()
        let follow = "python3 $EXAMPLES/follow.py $SOCKET"
        let done = try await Self.run("\(follow) night.yaml once", in: farm)
        #expect(done.code == 0, "\(done.output)")
        #expect(done.lines.first?.hasPrefix("job 1: ") == true && done.lines.last == "job 1: done")
        #expect(try await Self.run("\(follow) night.yaml once", in: farm).lines == ["job 1: done"])
        try farm.write("not a picture", to: "photos/broken.png")
        let failed = try await Self.run("\(follow) night.yaml", in: farm)
        #expect(failed.code == 1)
        #expect(failed.lines.last?.hasPrefix("job 2: failed") == true)
        try farm.write("job: x\ninput: y\n", to: "wrong.yaml")
        let wrong = try await Self.run("\(follow) wrong.yaml", in: farm)
        #expect(wrong.code == 65)
        #expect(wrong.output.contains("line 2: the job has no key 'input'"))
        try await farm.end()
        // No exit code of a run.
        let away = try await Self.run("\(follow) night.yaml", in: farm)
        #expect(away.code == 69)
        #expect(away.lines.last?.hasPrefix("the service does not answer: ") == true, "\(away.output)")
    }

    @Test func `the example in Python goes on after each way in which a service can be away`() async throws {
        let farm = try Farm()
        let service = Self.project.appending(path: "Tests/ServiceTests/Support/flaky.py").path
        let followed = try await Self.run(
            """
            python3 '\(service)' port > log 2>&1 &
            trap "kill $!" EXIT
            until [ -f port ]; do sleep 0.05; done
            python3 $EXAMPLES/follow.py http://127.0.0.1:$(cat port) night.yaml once
            """, in: farm)
        #expect(followed.code == 0, "\(followed.output)")
        #expect(followed.lines.last == "job 7: done")
        #expect(followed.output.contains("lost the service (429 Too Many Requests); trying again"))
        #expect(followed.output.contains("lost the service (503 Service Unavailable); trying again"))
    }

    @Test func `the example in Python goes on where it was when the service is started again`() async throws {
        let farm = try Farm()
        let gate = try await Gate(in: farm)
        try farm.draw(2)
        try farm.writeManifest(filters: "[\(Gate.filter)]", more: "timeout: 1h\n")
        try await farm.start()
        _ = try await Self.run(
            "(python3 $EXAMPLES/follow.py $SOCKET night.yaml once > told 2>&1; echo $? > code.new; mv code.new code) > log 2>&1 &",
            in: farm)
        try await farm.wait(for: 1) { $0.state == .running }
        try await farm.end(SIGKILL)
        try await farm.start()
        try gate.open(for: 2)
        try await farm.wait { farm.exists("code") }
        #expect(try farm.read("code") == "0\n")
        #expect(try farm.read("told").hasSuffix("job 1: done\n"))
        try await farm.end()
    }
}
