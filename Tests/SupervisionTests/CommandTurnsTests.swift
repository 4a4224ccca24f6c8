import Queueing
import Supervision
import Synchronization
import Testing

/// Who may have the service run a command, and when.
@Suite struct CommandTurnsTests {
    private static let (anna, ben, cleo) = (Owner.token("anna"), Owner.user(1000), Owner.token("cleo"))

    /// The turns with the names of commands.
    private struct Turns {
        var turns = CommandTurns()
        var names: [CommandTurns.Ticket: String] = [:]

        mutating func add(_ names: String..., for owner: Owner, at second: Int) throws {
            for name in names { self.names[try turns.add(owner, at: .seconds(second))] = name }
        }

        /// The names of the commands that start, after one has ended.
        mutating func begin(after ended: String? = nil, at second: Int) -> [String] {
            if let ended { for ticket in names.keys where names[ticket] == ended { turns.remove(ticket) } }
            return turns.begin(at: .seconds(second)).compactMap { names[$0] }
        }
    }

    @Test func `an owner who is alone has both places`() throws {
        var turns = Turns()
        try turns.add("a1", "a2", "a3", for: Self.anna, at: 0)
        #expect(turns.begin(at: 0) == ["a1", "a2"])
        #expect(turns.begin(after: "a1", at: 3) == ["a3"])
    }

    @Test func `another owner gets the next free place, and keeps one while they ask again`() throws {
        var turns = Turns()
        try turns.add("a1", "a2", "a3", "a4", for: Self.anna, at: 0)
        #expect(turns.begin(at: 0) == ["a1", "a2"])
        try turns.add("b1", for: Self.ben, at: 1)
        #expect(turns.begin(at: 1).isEmpty)
        #expect(turns.begin(after: "a2", at: 2) == ["b1"])
        #expect(turns.begin(after: "b1", at: 3).isEmpty)
        try turns.add("b2", for: Self.ben, at: 20)
        #expect(turns.begin(at: 20) == ["b2"])
        #expect(turns.begin(after: "a1", at: 21) == ["a3"])
        #expect(turns.begin(after: "b2", at: 49).isEmpty)
        #expect(turns.begin(at: 50) == ["a4"])
    }

    @Test func `three owners take turns`() throws {
        var turns = Turns()
        try turns.add("a1", "a2", "a3", for: Self.anna, at: 0)
        try turns.add("b1", "b2", for: Self.ben, at: 0)
        try turns.add("c1", "c2", for: Self.cleo, at: 0)
        #expect(turns.begin(at: 0) == ["a1", "b1"])
        #expect(turns.begin(after: "a1", at: 1) == ["c1"])
        #expect(turns.begin(after: "b1", at: 2) == ["a2"])
        #expect(turns.begin(after: "c1", at: 3) == ["b2"])
        #expect(turns.begin(after: "a2", at: 4) == ["c2"])
        #expect(turns.begin(after: "b2", at: 5) == ["a3"])
    }

    @Test func `commands of one owner start in their order, and a client that has gone has none`() throws {
        var turns = Turns()
        try turns.add("a1", "a2", "a3", "a4", for: Self.anna, at: 0)
        #expect(turns.begin(at: 0) == ["a1", "a2"])
        #expect(turns.begin(after: "a3", at: 0).isEmpty)
        #expect(turns.begin(after: "a1", at: 0) == ["a4"])
    }

    @Test func `eight commands of one owner wait, and thirty-two of all`() throws {
        var turns = CommandTurns()
        for owner in 0..<4 {
            for _ in 0..<8 { _ = try turns.add(.user(UInt32(owner)), at: .zero) }
            #expect(throws: FarmQueryError.busy) { try turns.add(.user(UInt32(owner)), at: .zero) }
        }
        #expect(throws: FarmQueryError.busy) { try turns.add(Self.anna, at: .zero) }
        #expect(turns.begin(at: .zero).count == 2)
        _ = try turns.add(Self.anna, at: .zero)
    }
}

/// How clients wait for a place.
@Suite struct CommandPlacesTests {
    private static let (anna, ben) = (Owner.token("anna"), Owner.token("ben"))

    /// A gate that the test opens. Each can pass once.
    private struct Gate: Sendable {
        private let stream: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation

        init() { (stream, continuation) = AsyncStream.makeStream() }

        func open() { continuation.finish() }
        func pass() async { for await _ in stream {} }
    }

    /// A limit of time that is never reached.
    @Sendable private static func sleepForever(_ duration: Duration) async throws {
        await Gate().pass()
        throw CancellationError()
    }

    /// Begins a command, and returns when it is at work. It ends when the gate is open.
    private func begin(_ places: CommandPlaces, for owner: Owner, until gate: Gate) async -> Task<Void, any Error> {
        let started = Gate()
        let task = Task {
            try await places.withPlace(for: owner) {
                started.open()
                await gate.pass()
            }
        }
        await started.pass()
        return task
    }

    @Test func `a client that waits gets the place of a command that ends`() async throws {
        let isWaiting = Gate()
        let places = CommandPlaces(now: { .zero }) { duration in
            #expect(duration == .seconds(5))
            isWaiting.open()
            try await Self.sleepForever(duration)
        }
        let (first, second) = (Gate(), Gate())
        let commands = [
            await begin(places, for: Self.anna, until: first), await begin(places, for: Self.anna, until: second),
        ]
        let answer = Task { try await places.withPlace(for: Self.ben) { "made" } }
        await isWaiting.pass()
        first.open()
        #expect(try await answer.value == "made")
        second.open()
        for command in commands { try await command.value }
    }

    @Test func `a client that has waited for five seconds is told that the service is busy`() async throws {
        let places = CommandPlaces(now: { .zero }) { _ in }
        let gates = [Gate(), Gate()]
        var commands: [Task<Void, any Error>] = []
        for gate in gates { commands.append(await begin(places, for: Self.anna, until: gate)) }
        await #expect(throws: FarmQueryError.busy) { try await places.withPlace(for: Self.ben) {} }
        for gate in gates { gate.open() }
        for command in commands { try await command.value }
        #expect(try await places.withPlace(for: Self.ben) { "made" } == "made")
    }

    @Test func `a client that goes away while it waits takes no place`() async throws {
        let isWaiting = Gate()
        let places = CommandPlaces(now: { .zero }) { duration in
            isWaiting.open()
            try await Self.sleepForever(duration)
        }
        let gates = [Gate(), Gate()]
        var commands: [Task<Void, any Error>] = []
        for gate in gates { commands.append(await begin(places, for: Self.anna, until: gate)) }
        let hasRun = Mutex(false)
        let gone = Task { try await places.withPlace(for: Self.ben) { hasRun.withLock { $0 = true } } }
        await isWaiting.pass()
        gone.cancel()
        await #expect(throws: CancellationError.self) { try await gone.value }
        for gate in gates { gate.open() }
        for command in commands { try await command.value }
        #expect(!hasRun.withLock { $0 })
    }

    @Test func `a command that fails gives its place back`() async throws {
        let places = CommandPlaces(now: { .zero }) { _ in }
        for _ in 0..<3 {
            await #expect(throws: FarmQueryError.refused("no")) {
                try await places.withPlace(for: Self.anna) { throw FarmQueryError.refused("no") }
            }
        }
    }
}
