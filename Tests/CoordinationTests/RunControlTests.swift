import Coordination
import Scheduling
import Testing

/// What is asked of runs while they go on, for several readers, one after the other and at once.
@Suite struct RunControlTests {
    private let control = RunControl()

    private static let hangUp = StopReason.interrupted(signal: 1)
    private static let terminate = StopReason.interrupted(signal: 15)

    @Test func `whoever listens hears what came before and what comes`() async {
        #expect(control.stop(Self.hangUp) == 1)
        let stream = control.stops()
        #expect(control.stop(Self.terminate) == 2)
        var heard: [StopReason] = []
        for await reason in stream {
            heard.append(reason)
            if heard.count == 2 { break }
        }
        #expect(heard == [Self.hangUp, Self.terminate])
        #expect(control.stop == Self.hangUp)
    }

    /// A watch of weeks has a reader for each of its runs.
    @Test func `a reader that stops is forgotten`() async {
        #expect(control.stop(Self.terminate) == 1)
        for _ in 0..<1000 {
            // It leaves the loop, and the stream goes with it.
            for await _ in control.stops() { break }
        }
        let cancelled = Task { [control] in for await _ in control.stops() {} }
        cancelled.cancel()
        await cancelled.value
        #expect(control.listeners == 0)
    }

    @Test func `one reader that stops takes nothing from another`() async {
        let stays = control.stops()
        let leaves = Task { [control] in for await _ in control.stops() {} }
        leaves.cancel()
        await leaves.value
        #expect(control.stop(Self.terminate) == 1)
        #expect(await stays.first { _ in true } == Self.terminate)
    }

    @Test func `a stop that no signal asked for counts as SIGINT`() async {
        control.cancel()
        control.stop(Self.terminate)
        var numbers: [Int32] = []
        for await number in control.signals() {
            numbers.append(number)
            if numbers.count == 2 { break }
        }
        #expect(numbers == [2, 15])
    }

    @Test func `two requests have nothing to do with each other`() {
        let other = RunControl()
        control.pause()
        control.cancel()
        #expect(control.isPaused && control.stop == .cancelled)
        #expect(!other.isPaused && other.stop == nil)
        control.resume()
        #expect(!control.isPaused)
    }
}

/// What `timeout` sends.
@Suite struct SignalRepeatsTests {
    private let start = ContinuousClock.now

    @Test func `a signal that comes twice at once counts once, and later again`() {
        var repeats = SignalRepeats()
        let answers = [0, 1, 299, 301, 302, 900].map { repeats.isRepeat(15, at: start + .milliseconds($0)) }
        #expect(answers == [false, true, true, false, true, false])
    }

    @Test func `another signal counts at once`() {
        var repeats = SignalRepeats()
        let answers = [(15, 0), (2, 0), (2, 1)].map { repeats.isRepeat($0.0, at: start + .milliseconds($0.1)) }
        #expect(answers == [false, false, true])
    }
}
