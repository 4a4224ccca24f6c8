import Coordination
import Testing

@Suite struct FolderUnrestTests {
    private let start = ContinuousClock.now

    private func at(_ seconds: Double) -> FolderUnrest.Instant { start.advanced(by: .seconds(seconds)) }

    @Test func `a folder that has not changed is due at no time`() {
        var unrest = FolderUnrest(quiet: .seconds(1))
        #expect(unrest.due == nil)
        let ends = unrest.end(at: at(100))
        #expect(!ends)
    }

    @Test func `each change begins the quiet anew`() {
        var unrest = FolderUnrest(quiet: .seconds(2))
        let moves = [0, 1.5, 3].map { unrest.change(at: at($0)) }
        #expect(moves == [true, true, true])
        #expect(unrest.due == at(5))
        let ends = [4.9, 5].map { unrest.end(at: at($0)) }
        #expect(ends == [false, true])
        #expect(unrest.due == nil)
    }

    @Test func `a folder that never becomes quiet is due half a minute after its first change`() {
        var unrest = FolderUnrest(quiet: .seconds(2))
        for second in 0...31 { unrest.change(at: at(Double(second))) }
        #expect(unrest.due == at(32))
        let moves = unrest.change(at: at(31.5))
        #expect(!moves)
        let ends = unrest.end(at: at(32))
        #expect(ends)
        // The last change did not count, so it begins the next unrest.
        #expect(unrest.due == at(33.5))
        let endsAgain = unrest.end(at: at(33.5))
        #expect(endsAgain)
        #expect(unrest.due == nil)
    }

    @Test func `another time of quiet holds for changes of before`() {
        var unrest = FolderUnrest(quiet: .seconds(2))
        unrest.change(at: at(0))
        #expect(unrest.with(quiet: .seconds(5)).due == at(5))
    }
}
