import Engines
import Scheduling
import Subprocess
import Testing

@Suite struct WorkerExitTests {
    private func manner(
        _ status: TerminationStatus, ready: Bool = true, byOrder: Bool = false, nonsense: String? = nil,
        memoryRanOut: Bool = false
    ) -> Death.Manner {
        WorkerExit(
            executable: "/bin/worker", status: status, becameReady: ready, endsByOrder: byOrder,
            brokeProtocol: nonsense, memoryRanOut: memoryRanOut
        ).manner
    }

    @Test func `a fault signal is a crash`() { #expect(manner(.signaled(11)) == .signal(11)) }

    @Test func `a worker that exits is reported by its exit code`() { #expect(manner(.exited(0)) == .exited(0)) }

    @Test func `a bare SIGKILL is nobody's fault, before and after the worker is ready`() {
        #expect(manner(.signaled(9)) == .killed)
        #expect(manner(.signaled(9), ready: false) == .killed)
    }

    @Test func `only a kill that the kernel counted is for want of memory`() {
        #expect(manner(.signaled(9), memoryRanOut: true) == .outOfMemory)
        #expect(manner(.signaled(11), memoryRanOut: true) == .signal(11))
    }

    @Test func `what the scheduler ended died by order`() { #expect(manner(.signaled(9), byOrder: true) == .byOrder) }

    @Test func `a worker that had to be ended while it started counts as one that cannot start`() {
        #expect(
            manner(.signaled(9), ready: false, byOrder: true)
                == .failedToStart("/bin/worker was not ready within 60.0 seconds"))
    }

    @Test func `a worker that ends before it is ready cannot start`() {
        guard case .failedToStart = manner(.exited(1), ready: false) else {
            Issue.record("it counts as something else")
            return
        }
    }

    @Test func `nonsense on the pipe is reported before everything else`() {
        #expect(manner(.signaled(9), ready: false, nonsense: "too long") == .brokeProtocol("too long"))
    }
}
